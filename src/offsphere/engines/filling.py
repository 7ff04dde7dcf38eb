"""Filling a collection with the vectors of a scorer, block by block; one that was killed is taken up where it was.

What was done is kept beside the export, not in the engine: a digest of all that was asked for, the rows that are there,
and a digest of their numbers, so that an export goes on only with what it began with.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.digests import digest_of_texts, hashing_beside
from offsphere.base.errors import DataError
from offsphere.base.interruption import told_when_interrupted
from offsphere.base.progress import Progress
from offsphere.base.reading.records import record_of
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.engines.collection import Collection, CollectionFacts, Layout
from offsphere.engines.corpus import Corpus
from offsphere.engines.half_precision import check_half
from offsphere.engines.serving import Serving, StoredBlock, stored_blocks

RECORD = "progress.json"


class FillRecord(NamedTuple):
    """How far an export is."""

    asked: str  # a digest of what was asked for
    done: int  # rows of the corpus that were dealt with
    added: int  # of them those that are in the collection
    content: str  # a digest of their numbers
    finished: bool


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
        digest = self._resumed_digest(record)
        done, added = record.done, record.added
        again = done > 0  # a kill may have come between a block and its record

        def kept() -> str:
            return f"{added:,} vectors are in {self.target}: the same command goes on from there"

        with told_when_interrupted(kept):
            for block in stored_blocks(self.corpus, self.serving, done):
                if self.layout.stored == "float16":
                    check_half(block.rows, block.ids)
                if again:
                    self.collection.discard(block.ids)
                again = False
                with hashing_beside(digest, _bytes_of(block) if self.collection.resumable else b""):
                    if block.ids:
                        self.collection.add(block.ids, block.rows)
                done, added = block.end, added + len(block.ids)
                self._keep(FillRecord(record.asked, done, added, digest.hexdigest(), finished=False))
                if progress is not None:
                    progress(done, len(self.corpus.ids), "storing")
            if progress is not None:
                progress(0, 0, "building the index")
            self.collection.finish()
        record = FillRecord(record.asked, done, added, digest.hexdigest(), finished=True)
        self._keep(record)
        return record

    def _begin(self, *, replace: bool) -> FillRecord:
        """Look at what is there, and say where to begin."""
        fresh = FillRecord(self._asked(), 0, 0, "", finished=False)
        facts, record = self.collection.facts(), self._read()
        if facts is not None and record is not None and record.asked == fresh.asked and self.collection.resumable:
            if record.finished and facts.rows == record.added and self._holds(record):
                return record
            if not record.finished and record.done and self._holds(record):
                return record
        if facts is not None:
            if not (replace or facts.unfinished or self._is_ours(record, fresh, facts)):
                metric = f" for {facts.metric}" if facts.metric is not None else ""
                raise DataError(
                    f"{self.target} holds {facts.rows:,} vectors of {facts.dimension} dimensions{metric} already: "
                    "choose another name, or replace them with --replace"
                )
            if self.collection.resumable:  # a file is replaced as a whole, when the new one is there
                self.collection.remove()
        self._keep(fresh)
        self.collection.create(self.layout)
        return fresh

    def _is_ours(self, record: FillRecord | None, fresh: FillRecord, facts: CollectionFacts) -> bool:
        """Whether a collection is what this very export began, or a file that it wrote and nobody touched since."""
        if record is None or record.asked != fresh.asked:
            return False
        return not record.finished or (not self.collection.resumable and facts.rows == record.added)

    def _asked(self) -> str:
        corpus = self.corpus
        parts = [self.serving.scorer.key, self.serving.metric, str(self.serving.lowered), str(self.serving.radius)]
        parts += [repr(self.layout), self.target, str(corpus.vectors.shape), digest_of_texts(corpus.ids)]
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
        if path is None or not path.is_file():
            return None
        return record_of(FillRecord, read_sealed(path), str(path))

    def _keep(self, record: FillRecord) -> None:
        if self.folder is not None and (self.collection.resumable or record.finished):
            write_sealed(self.folder / RECORD, record._asdict(), {})


def _bytes_of(block: StoredBlock) -> memoryview:
    """The numbers of a block as they lie in memory."""
    return np.ascontiguousarray(block.rows).reshape(-1).view(np.uint8).data
