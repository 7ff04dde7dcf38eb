"""Readers: an endpoint that speaks as OpenAI's does, or a function. What fails is told apart from what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

from offsphere.base.endpoint import EndpointFailedError, post_json
from offsphere.base.errors import OffsphereError, ParameterError, first_line
from offsphere.base.named_functions import CALLABLE, import_function
from offsphere.base.reading.json_files import parse_json
from offsphere.encode.function_digest import revision_of

KEYS = ("OFFSPHERE_READER_KEY", "OPENAI_API_KEY")  # where in the environment the key is looked for; it is never stored
LONGEST_ANSWER = 32  # tokens


class Reader(Protocol):
    """Answers a prompt, and has a name that tells it from others."""

    @property
    def name(self) -> str:
        """Which reader it is: all that its answers depend on besides the prompt."""
        ...

    def answer(self, prompt: str) -> str:
        """Answer a prompt; raises ``EndpointFailedError`` where there is no answer."""
        ...


@dataclass(frozen=True)
class EndpointReader:
    """A model behind an endpoint that speaks OpenAI's protocol.

    Args:
        url: Such as ``http://localhost:8080/v1``.
        model: What the endpoint calls the model.
    """

    url: str
    model: str

    @property
    def name(self) -> str:
        """The address and the model, and how it is asked."""
        return f"{self.url} {self.model} temperature 0, {LONGEST_ANSWER} tokens"

    def answer(self, prompt: str) -> str:
        """Ask for a completion of a chat, and take the text of its first choice."""
        asked = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": LONGEST_ANSWER,
        }
        return _text_of(post_json(f"{self.url.rstrip('/')}/chat/completions", asked, KEYS))


@dataclass(frozen=True)
class FunctionReader:
    """A function from a prompt to an answer.

    Args:
        function: Takes a prompt and gives a text.
        label: What messages call it.
    """

    function: Callable[[str], Any]
    label: str

    @cached_property
    def name(self) -> str:
        """The label, and the version or a digest of the source: what an older body answered is not its answer."""
        return f"{self.label} {revision_of(self.function)}"

    def answer(self, prompt: str) -> str:
        """Call the function; what it raises, or gives instead of a text, is a failure."""
        try:
            told = self.function(prompt)
        except Exception as error:
            raise EndpointFailedError(
                "refused", f"{self.label} raised {type(error).__name__}: {first_line(error)}"
            ) from error
        if not isinstance(told, str):
            raise EndpointFailedError("nonsense", f"{self.label} gave {type(told).__name__}, expected a text")
        return _spoken(told)


def load_reader(name: str, model: str | None = None) -> Reader:
    """Make a reader from what a user types.

    Args:
        name: The address of an endpoint, ``http://localhost:8080/v1``, or ``callable:module:function``.
        model: What the endpoint calls the model.

    Returns:
        The reader; nobody is asked yet.

    Raises:
        OffsphereError: It is neither, or an endpoint without a model.

    Example:
        >>> from offsphere.answering.reader import load_reader
        >>> load_reader("http://localhost:8080/v1", "smol").name
        'http://localhost:8080/v1 smol temperature 0, 32 tokens'
    """
    if name.startswith(CALLABLE):
        function = import_function(name)
        if not callable(function):
            raise OffsphereError(f"{name} is not a function")
        return FunctionReader(cast("Callable[[str], Any]", function), name)
    if not name.startswith(("http://", "https://")):
        raise ParameterError(f"reader {name!r}: give http://HOST:PORT/v1, or callable:module:function")
    if not model:
        raise ParameterError(f"the reader {name} needs the name of a model: say which with --reader-model")
    return EndpointReader(name, model)


def _text_of(body: bytes) -> str:
    """The text of the first choice; a failure where a response has none."""
    try:
        text = parse_json(body, "the response")["choices"][0]["message"]["content"]
    except (OffsphereError, LookupError, TypeError) as error:
        shown = body[:200].decode("utf-8", "replace")
        raise EndpointFailedError("nonsense", f"the endpoint's response is no completion: {shown!r}") from error
    return _spoken(text if isinstance(text, str) else "")


def _spoken(text: str) -> str:
    """The first line of an answer; a failure where there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise EndpointFailedError("silent", "the answer is empty")
    return lines[0]
