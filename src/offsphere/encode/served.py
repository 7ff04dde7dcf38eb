"""A model behind an embedding API as an encoder: batches, several at a time, again where it was busy, paid once."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, cast

import numpy as np

from offsphere.base.arrays import Counts, Rows
from offsphere.base.cache import Memo
from offsphere.base.cache_home import cache_home
from offsphere.base.digests import digest_of_texts
from offsphere.base.endpoint import EndpointFailedError, asked_again, post_json
from offsphere.base.errors import OffsphereError
from offsphere.base.reading.json_files import parse_json
from offsphere.data.items import Item, ItemKind, ItemSide, texts_alone
from offsphere.encode.encoder import Description, Tokens
from offsphere.encode.served_name import ServedName
from offsphere.vectors.lengths import lengths

BATCH = 64  # texts in a request
BATCH_CHARACTERS = 200_000  # in a request, where texts are long
WORKERS = 8  # requests at a time
RETRIES, PAUSE = 6, 1.0
FOLDER = "served"  # of the cache: responses whose block is not in its store yet
UNIT = 1e-3  # a length that differs less from one was made one
SAMPLE = "offsphere"


class ServedEncoder:
    """An encoder that asks an API which speaks as OpenAI's does: OpenAI, vLLM, TEI, Ollama, llama.cpp, infinity.

    The API is asked once at the start, with one word, to learn the dimension. What it answers to a batch is kept on
    disk until the next block begins, so that a run that fails or is killed pays for no text twice.

    Args:
        named: Which model, and how it is asked.
        workers: How many requests are made at a time.
        retries: How often a request is made again where the API was busy or silent.
        pause: Seconds before the second try; each further pause is twice as long, or as long as the API asks for.

    Raises:
        OffsphereError: Nobody answers there, or not with vectors, or a key is needed and not set.
    """

    pads = True  # long texts go together, so that no request is much larger than others
    kinds: Sequence[ItemKind] = ("text",)

    def __init__(
        self, named: ServedName, *, workers: int = WORKERS, retries: int = RETRIES, pause: float = PAUSE
    ) -> None:
        if named.lacks_key:
            raise OffsphereError(f"{named.name} needs a key: set it in {' or '.join(named.keys)}")
        self.named, self.workers, self.retries, self.pause = named, workers, retries, pause
        self._memo = Memo(cache_home() / FOLDER)
        self._answered: list[str] = []  # batches of the last block
        self._shortest, self._longest = np.inf, 0.0
        first, called = self._try(lambda: self._ask([SAMPLE], "document", named.dimensions), "the first request")
        self.description = Description(named.name, f"served as {called}", first.shape[1])
        self._cut = self._cut_length(first)

    def prompt(self, side: ItemSide) -> str:
        """The type that is sent along, which changes vectors as a prompt does."""
        kind = self._type(side)
        return f"input_type={kind}" if kind is not None else ""

    def encode(self, items: Sequence[Item], side: ItemSide) -> Rows:
        """Ask for the vectors of texts; what was answered before a failure is not asked again."""
        texts = texts_alone(items, self.named.name)
        self._forget()
        names: list[str] = []
        stop = threading.Event()
        with ThreadPoolExecutor(self.workers) as pool:
            futures = [pool.submit(self._rows, batch, side, stop, names) for batch in _batches(texts)]
            try:
                rows = np.concatenate([future.result() for future in futures])
            except BaseException:  # an interruption too; requests under way end, and what they bring is kept
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise
        self._answered = names
        if len(rows):
            row_lengths = lengths(rows)
            self._shortest = min(self._shortest, float(row_lengths.min()))
            self._longest = max(self._longest, float(row_lengths.max()))
        return rows

    def count_tokens(self, items: Sequence[Item]) -> Counts:
        """Minus one for every item: an API counts tokens of whole requests."""
        return np.full(len(items), -1, np.int32)

    def tokens(self, items: Sequence[Item]) -> Tokens | None:  # noqa: ARG002
        """Nothing: an API does not say which tokens it sees."""
        return None

    @property
    def notes(self) -> list[str]:
        """What one must know of the vectors that came: normalised, shortened, asked for without their types."""
        notes = []
        if 1 - UNIT < self._shortest <= self._longest < 1 + UNIT:
            notes.append(
                "the API has normalised: every length is one, so that nothing can be found out about length. llama.cpp "
                "keeps lengths with --embd-normalize -1, vLLM with --pooler-config '{\"use_activation\": false}'; TEI "
                "and Ollama give them at addresses that are not OpenAI's alone, infinity and OpenAI nowhere"
            )
        if self._cut is not None:
            notes.append(
                f"dimensions={self.named.dimensions} cut vectors of length one to others, about {self._cut:.3f}: these "
                "lengths are what was cut off, and say nothing about the text; normalise before you compare"
            )
        types = self.named.missing_types
        if types is not None:
            notes.append(
                f"{self.named.model} wants to know queries from documents: add "
                f"?query_type={types[0]}&document_type={types[1]} to its name"
            )
        return notes

    def _type(self, side: ItemSide) -> str | None:
        """What the API is told about a text of a side; both sides of pairs are documents."""
        return self.named.query_type if side == "query" else self.named.document_type

    def _rows(self, texts: list[str], side: ItemSide, stop: threading.Event, names: list[str]) -> Rows:
        """The vectors of one batch, from the disk where they were answered before; its name joins ``names``."""
        dimension = self.description.dimension
        asked = [
            self.named.address,
            self.named.model,
            str(self.named.dimensions),
            str(self._type(side)),
            str(dimension),
        ]
        name = f"batch-{digest_of_texts([*asked, *texts])}"

        def ask() -> dict[str, Any]:
            rows, _ = self._try(lambda: self._ask(texts, side, self.named.dimensions), f"{len(texts)} texts", stop)
            if rows.shape[1] != dimension:
                raise OffsphereError(
                    f"{self.named.name} gave vectors of {rows.shape[1]} dimensions, and of {dimension} at first"
                )
            return {"rows": rows}

        rows = cast("Rows", self._memo.arrays(name, ask)["rows"])
        names.append(name)
        return rows

    def _try(self, ask: Any, what: str, stop: threading.Event | None = None) -> Any:
        """Ask, again where it may help; what does not is told in one line."""
        try:
            return asked_again(ask, self.retries, self.pause, stop or threading.Event())
        except EndpointFailedError as failure:
            hint = f"; set its key in {' or '.join(self.named.keys)}" if "HTTP 401" in str(failure) else ""
            raise OffsphereError(f"{self.named.name}, {what}: {failure}{hint}") from failure

    def _ask(self, texts: list[str], side: ItemSide, dimensions: int | None) -> tuple[Rows, str]:
        """One request: the vectors, and what the API calls its model."""
        asked: dict[str, Any] = {"model": self.named.model, "input": texts, "encoding_format": "float"}
        if dimensions is not None:
            asked["dimensions"] = dimensions
        if (kind := self._type(side)) is not None:
            asked["input_type"] = kind
        return _vectors_of(post_json(f"{self.named.address}/embeddings", asked, self.named.keys), len(texts))

    def _cut_length(self, shortened: Rows) -> float | None:
        """The length of the first vector, where shortening broke a length of one; nothing where it did not."""
        if self.named.dimensions is None:
            return None
        whole, _ = self._try(lambda: self._ask([SAMPLE], "document", None), "the second request")
        one, other = float(lengths(whole)[0]), float(lengths(shortened)[0])
        return other if abs(one - 1) < UNIT < abs(other - 1) else None

    def _forget(self) -> None:
        """Remove what the last block was made of: whoever asks for the next one has stored it."""
        answered, self._answered = self._answered, []
        for name in answered:
            with suppress(OSError):
                (cast("Any", self._memo.folder) / f"{name}.npz").unlink()


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Texts in their order, as many together as a request takes."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == BATCH or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _vectors_of(body: bytes, count: int) -> tuple[Rows, str]:
    """The vectors of a response in the order of the texts; nonsense is a failure, and may go better the next time."""
    try:
        content = parse_json(body, "the response")
        data = sorted(content["data"], key=lambda entry: int(entry["index"]))
        numbers = [int(entry["index"]) for entry in data]
        rows = np.array([entry["embedding"] for entry in data], np.float32)
        called = str(content.get("model") or "unnamed")
    except (OffsphereError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        shown = body[:200].decode("utf-8", "replace")
        raise EndpointFailedError("nonsense", f"the response holds no vectors: {shown!r}", again=True) from error
    if numbers != list(range(count)):
        raise EndpointFailedError("nonsense", f"{len(numbers)} vectors for {count} texts", again=True)
    if rows.ndim != 2 or not rows.shape[1]:  # noqa: PLR2004
        raise EndpointFailedError("nonsense", "the vectors of one response differ in their dimensions", again=True)
    if not np.isfinite(rows).all():
        raise EndpointFailedError("nonsense", "a vector with a number that is not finite", again=True)
    return rows, called
