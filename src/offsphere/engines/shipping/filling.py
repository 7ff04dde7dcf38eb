"""Filling a collection with the vectors of a scorer, block by block; one that was killed is taken up where it was.

What was done is kept beside the export, not in the engine: a digest of all that was asked for, the rows that are there,
and a digest of their numbers, so that an export goes on only with what it began with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.digests import digest_of_ids, digest_of_texts, hashing_along
from offsphere.base.errors import DataError
from offsphere.base.interruption import told_when_interrupted
from offsphere.base.progress import Progress
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.records import record_of
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.engines.collection import Collection, CollectionFacts, Layout, NewRows
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.half_precision import check_half
from offsphere.engines.shipping.serving import BLOCK, Serving, StoredBlock, stored_blocks

RECORD = "progress.json"


class FillRecord(NamedTuple):
    """How far an export is."""

    asked: str  # a digest of what was asked for
    done: int  # rows of the corpus that were dealt with
    added: int  # of them those that are in the collection
    content: str  # a digest of their numbers
    finished: bool
    checksum: str = ""  # of the file that was written, where the collection is one


@dataclass(slots=True)
class _FillState:
    """What went into the collection so far."""

    done: int
    added: int
    digest: hashlib._Hash

    def record(self, asked: str, *, finished: bool) -> FillRecord:
        return FillRecord(asked, self.done, self.added, self.digest.hexdigest(), finished)


@dataclass(slots=True)
class Filling:
    """One collection that is filled: with what, and where it is written how far it is."""

    collection: Collection
    serving: Serving
    corpus: Corpus
    layout: Layout
    target: str
    folder: Path | None = None  # where the record is kept; none for a scratch collection

    def run(self, *, replace: bool = False, progress: Progress | None = None) -> FillRecord:
        """Make the collection and fill it, or go on with one that was begun; one that is whole is left as it is.

        Args:
            replace: Whether a collection of other content may be removed.
            progress: Is told how many documents are done.

        Raises:
            DataError: There is a collection of that name with other content.
        """
        record = self._begin(replace=replace)
        if record.finished:
            return record
        poured = _FillState(record.done, record.added, self._resumed_digest(record))
        if record.done and (unrecorded := self.corpus.ids[record.done : record.done + self._portion]):
            self.collection.discard(unrecorded)  # a kill may have come between what was added last and its record

        recorded = record

        with told_when_interrupted(lambda: self._what_is_kept(recorded)):
            blocks = stored_blocks(self.corpus, self.serving, record.done)
            while poured.done < len(self.corpus.ids):
                portion = islice(blocks, self.collection.blocks_at_once)
                with hashing_along(poured.digest) as hash_bytes:
                    self.collection.add_blocks(self._passing(portion, poured, hash_bytes))
                recorded = poured.record(record.asked, finished=False)
                if self.collection.resumable:
                    self._keep(recorded)
                if progress is not None:
                    progress(poured.done, len(self.corpus.ids), "storing")
            if progress is not None:
                progress(0, 0, "building the index")
            self.collection.finish()
        record = poured.record(record.asked, finished=True)._replace(checksum=self.collection.checksum())
        self._keep(record)
        return record

    def _what_is_kept(self, recorded: FillRecord) -> str:
        """What an interruption leaves: what was recorded, where an engine can be gone on with."""
        if self.folder is not None and self.collection.resumable and recorded.done:
            return f"{recorded.added:,} vectors are in {self.target}: the same command goes on from there"
        what = f"{self.target} is unfinished" if self.collection.resumable else f"nothing was written to {self.target}"
        return f"{what}: the same command begins it anew"

    @property
    def _portion(self) -> int:
        """How many documents are added between two records."""
        return self.collection.blocks_at_once * BLOCK

    def _passing(
        self, blocks: Iterable[StoredBlock], poured: _FillState, hash_bytes: Callable[[memoryview], None]
    ) -> Iterator[NewRows]:
        """Hand blocks over to the engine, and have them hashed while the engine goes on."""
        for block in blocks:
            if self.layout.stored == "float16":
                check_half(block.rows, block.ids)
            if self.collection.resumable:
                hash_bytes(_bytes_of(block))
            end, count = block.end, len(block.ids)
            if count:
                yield NewRows(block.ids, block.rows)
            poured.done, poured.added = end, poured.added + count
            del block  # while the next is made

    def _begin(self, *, replace: bool) -> FillRecord:
        """Look at what is there, and say where to begin."""
        fresh = FillRecord(self._asked(), 0, 0, "", finished=False)
        facts, record = self.collection.facts(), self._read()
        if facts is not None and record is not None and record.asked == fresh.asked and self.collection.resumable:
            if record.finished and facts.rows == record.added and self._holds(record):
                return record
            if not record.finished and record.done and self._holds(record):
                return record
        ours = facts is not None and not replace and self._is_ours(record, fresh, facts)
        if facts is not None and not (replace or facts.unfinished or ours):
            metric = f" for {facts.metric}" if facts.metric is not None else ""
            raise DataError(
                f"{self.target} holds {facts.rows:,} vectors of {facts.dimension} dimensions{metric} already: "
                "choose another name, or replace them with --replace"
            )
        self.collection.check(self.layout, self.corpus.ids)  # what cannot be held is told while the old one is there
        if facts is not None and self.collection.resumable:  # a file is replaced as a whole, when the new one is there
            self.collection.remove()
        if facts is None or ours or self.collection.resumable:  # else the record is that of the file that stands there
            self._keep(fresh)
        self.collection.create(self.layout)
        return fresh

    def _is_ours(self, record: FillRecord | None, fresh: FillRecord, facts: CollectionFacts) -> bool:
        """Whether a collection is what this very export began, or a file that it wrote and nobody touched since."""
        if record is None or record.asked != fresh.asked:
            return False
        if self.collection.resumable:
            return not record.finished
        if record.finished:
            return facts.rows == record.added and self.collection.checksum() == record.checksum
        there, layout = (facts.rows, facts.dimension, facts.metric), self.layout
        return there == (layout.rows, layout.dimension, layout.metric)  # a kill came when it had appeared

    def _asked(self) -> str:
        corpus = self.corpus
        parts = [self.serving.scorer.key, self.serving.metric, str(self.serving.lowered), str(self.serving.radius)]
        parts += [repr(self.layout), self.target, str(corpus.vectors.shape), digest_of_ids(corpus.ids)]
        return digest_of_texts(parts)

    def _holds(self, record: FillRecord) -> bool:
        """Whether the corpus still is what the record's rows were made of."""
        return self._resumed_digest(record).hexdigest() == record.content

    def _resumed_digest(self, record: FillRecord) -> hashlib._Hash:
        """The digest of the rows that are done."""
        digest = hashlib.sha256()
        if record.done:
            for block in stored_blocks(self.corpus, self.serving):
                digest.update(_bytes_of(block))
                if block.end >= record.done:
                    break
        return digest

    def _read(self) -> FillRecord | None:
        path = self.folder / RECORD if self.folder is not None else None
        if path is None or not is_there(path):
            return None
        return record_of(FillRecord, read_sealed(path), str(path))

    def _keep(self, record: FillRecord) -> None:
        if self.folder is not None:
            write_sealed(self.folder / RECORD, record._asdict(), {})


def _bytes_of(block: StoredBlock) -> memoryview:
    """The numbers of a block as they lie in memory."""
    return np.ascontiguousarray(block.rows).reshape(-1).view(np.uint8).data
