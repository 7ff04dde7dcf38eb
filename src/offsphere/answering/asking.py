"""Ask a reader many prompts: several at a time, again where it was busy, and never one that was answered before."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from offsphere.answering.reader import Reader
from offsphere.base.cache_home import cache_home
from offsphere.base.digests import digest_of_texts
from offsphere.base.endpoint import EndpointFailedError, asked_again
from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.base.progress import Progress
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.base.token_estimate import tokens_about

FOLDER = "answers"


class AskingPlan(NamedTuple):
    """What asking will cost, before it starts."""

    prompts: int  # different ones in all
    answered: int  # that were answered before
    tokens: int  # of the others, about

    @property
    def sentence(self) -> str:
        """The plan for people."""
        new = self.prompts - self.answered
        return f"{new:,} prompts to ask, about {self.tokens:,} tokens; {self.answered:,} were answered before"


class Failure(NamedTuple):
    """A prompt without an answer, and why: the reader was busy, silent, refused, or what it said was nonsense."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Answers:
    """What a reader said to each prompt, and where it failed."""

    told: Mapping[str, str]
    failed: Mapping[str, Failure]
    plan: AskingPlan


def ask_all(
    reader: Reader,
    prompts: Sequence[str],
    *,
    workers: int = 4,
    retries: int = 4,
    pause: float = 1.0,
    cache: bool = True,
    before: Callable[[AskingPlan], None] | None = None,
    progress: Progress | None = None,
) -> Answers:
    """Ask a reader prompts, each once; answers are kept by a digest of reader and prompt, failures are not.

    Args:
        reader: Whom to ask.
        prompts: What to ask; repeated ones are asked once.
        workers: How many are asked at a time.
        retries: How often one is asked again where the reader was busy or did not answer.
        pause: Seconds before the second try; each further pause is twice as long, or as long as the reader asks for.
        cache: Whether answers are kept in the user's cache, and looked for there.
        before: Told what it will cost, before anybody is asked.
        progress: Told how many are answered.

    Returns:
        The answers and the failures. Asked again, only the failures are asked.

    Raises:
        ParameterError: There is nobody to ask, or a negative number of retries.

    Example:
        >>> from offsphere.answering.asking import ask_all
        >>> from offsphere.answering.reader import FunctionReader
        >>> told = ask_all(FunctionReader(str.upper, "shout"), ["yes", "yes", "no"], cache=False)
        >>> dict(told.told), told.plan.prompts
        ({'yes': 'YES', 'no': 'NO'}, 2)
    """
    if workers < 1 or retries < 0:
        raise ParameterError(f"workers = {workers}, retries = {retries}: at least one worker, no negative retries")
    distinct = list(dict.fromkeys(prompts))
    files = {prompt: _file(reader, prompt) for prompt in distinct}
    kept = {prompt: _read(path) for prompt, path in files.items()} if cache else {}
    told = {prompt: answer for prompt, answer in kept.items() if answer is not None}
    waiting = [prompt for prompt in distinct if prompt not in told]
    plan = AskingPlan(len(distinct), len(told), tokens_about(waiting))
    if before is not None:
        before(plan)
    failed: dict[str, Failure] = {}
    stop = threading.Event()
    with ThreadPoolExecutor(workers) as pool:
        try:
            futures = {pool.submit(_ask, reader, prompt, retries, pause, stop): prompt for prompt in waiting}
            for done, future in enumerate(as_completed(futures), 1):
                prompt, outcome = futures[future], future.result()
                if isinstance(outcome, Failure):
                    failed[prompt] = outcome
                else:
                    told[prompt] = outcome
                    if cache:
                        _keep(files[prompt], outcome)
                if progress is not None:
                    progress(done, len(waiting))
        except BaseException:  # an interruption too: who waits for a second try waits no longer
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
    return Answers(told, failed, plan)


def _ask(reader: Reader, prompt: str, retries: int, pause: float, stop: threading.Event) -> str | Failure:
    """Ask once, and again where it may go better."""
    try:
        return asked_again(lambda: reader.answer(prompt), retries, pause, stop)
    except EndpointFailedError as failure:
        return Failure(failure.kind, str(failure))


def _file(reader: Reader, prompt: str) -> Path:
    """Where the answer of this reader to this prompt is kept: by a digest, so that the key is in no name."""
    digest = digest_of_texts([reader.name, prompt])
    return cache_home() / FOLDER / digest[:2] / f"{digest}.json"


def _read(path: Path) -> str | None:
    """An answer that was kept; nothing where there is none, or it is damaged."""
    if not path.is_file():
        return None
    try:
        answer = read_sealed(path).get("answer")
    except DataError:
        return None
    return answer if isinstance(answer, str) else None


def _keep(path: Path, answer: str) -> None:
    with suppress(OffsphereError):  # what cannot be kept is asked again next time
        write_sealed(path, {"answer": answer, "asked": time.strftime("%Y-%m-%d")}, {})
