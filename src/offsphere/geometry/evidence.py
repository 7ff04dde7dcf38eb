"""What all sections of the geometry are measured from, each piece computed when a section first asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from offsphere.base.arrays import Counts, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.digests import array_pieces, digest_of
from offsphere.base.errors import OffsphereError
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.table import Comparison
from offsphere.data.task import EmbeddedTask, Task
from offsphere.encode.encoder import Encoder
from offsphere.geometry.positives import Positives, positives_of
from offsphere.geometry.sample import smallest
from offsphere.geometry.scanning import Scan, scan
from offsphere.geometry.sides import MeasuredSide, text_numbers_of
from offsphere.geometry.text_numbers import TextNumbers
from offsphere.ranking.pairs_by_query import Pairs
from offsphere.ranking.search import search_in_turns
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT
from offsphere.vectors.contents import keys_of
from offsphere.vectors.lengths import are_equal
from offsphere.vectors.widths import refuse_two_widths

NEIGHBOURS = 10
ASKING = 2_048  # vectors that look for their neighbours where there are no queries
FEWEST_POSITIVES = 2


@dataclass(frozen=True, eq=False, kw_only=True)  # without slots: what is computed is kept in the object
class Evidence:
    """One or two sides of vectors, the task they belong to, and what the user said about them."""

    sides: Sequence[MeasuredSide]
    embedded: EmbeddedTask | None = None
    scorer: Scorer | None = None  # one more whose neighbours are looked at
    encoder: Encoder | None = None
    groups: Mapping[str, str] | None = None  # query id: name of its group
    training_size: int | None = None
    known_table: Comparison | None = None
    seed: int = 0
    progress: Progress | None = None
    memo: Memo = field(default_factory=Memo)

    @property
    def task(self) -> Task | None:
        """The task, where there is one."""
        return self.embedded[0] if self.embedded is not None else None

    def describe(self) -> dict[str, Any]:
        """Names and counts of the task, and the shape of each side's vectors."""
        shapes = {side.name: list(side.vectors.shape) for side in self.sides}
        return {**(self.task.summary() if self.task is not None else {}), "vectors": shapes}

    @cached_property
    def scans(self) -> list[Scan]:
        """The state that one pass over the vectors of each side leaves."""
        return [scan(side.vectors, seed=self.seed, progress=self.progress) for side in self.sides]

    @cached_property
    def texts(self) -> list[TextNumbers] | None:
        """How long the texts of each side are and how frequent their tokens; nothing where there are no texts."""
        return text_numbers_of(self.sides, self.encoder)

    @cached_property
    def positives(self) -> Positives:
        """The task's positive pairs; an error where there are fewer than two."""
        if self.embedded is None:
            raise OffsphereError("it needs positive pairs: give a task with judgments")
        task, vectors = self.embedded
        refuse_two_widths(*vectors.widths)
        positives = positives_of(task, vectors)
        if len(positives) < FEWEST_POSITIVES:
            raise OffsphereError(f"it needs at least two positive pairs, {task.name} has {len(positives)}")
        return positives

    @cached_property
    def table(self) -> Comparison:
        """Cosine and dot product compared on the task, under its usual metric."""
        if self.embedded is None:
            raise OffsphereError("it needs a task with judgments")
        task, vectors = self.embedded
        if self.known_table is not None and self.known_table.metric == task.usual_metric:
            return self.known_table
        return compare(task, vectors, [Scorer(DOT)], seed=self.seed)

    @cached_property
    def scorers(self) -> dict[str, Scorer]:
        """The scorers under which neighbours are looked at, fitted, by name."""
        scorers = {"cosine": Scorer(COSINE)}
        if not are_equal(self.scans[-1].lengths):  # else all of them rank alike
            scorers["dot"] = Scorer(DOT)
        if self.scorer is not None:
            moments = self.scans[-1].moments
            scorers[self.scorer.name] = self.scorer.fit(moments) if self.scorer.needs_fit else self.scorer
        return scorers

    @cached_property
    def neighbours(self) -> dict[str, Index]:
        """The rows of each query's ten nearest documents under each scorer; a vector is no neighbour of itself."""
        documents = self.sides[-1].vectors
        if len(documents) < 2:  # noqa: PLR2004
            raise OffsphereError("neighbours need at least two vectors")
        if len(self.sides) > 1:
            return self.nearest(self.sides[0].vectors, self.scorers, NEIGHBOURS)
        sample = self.scans[0].sample
        chosen = smallest(sample.keys, ASKING)
        lists = self.nearest(sample.vectors[chosen], self.scorers, min(NEIGHBOURS, len(documents) - 1) + 1)
        return {name: _without_itself(ranked, sample.rows[chosen]) for name, ranked in lists.items()}

    def nearest(
        self, queries: Vectors, scorers: Mapping[str, Scorer], k: int, excluded: Pairs | None = None
    ) -> dict[str, Index]:
        """The rows of each query's k nearest vectors of the last side under each scorer: (queries, k).

        Args:
            queries: Vectors that ask.
            scorers: By their names.
            k: How many each gets.
            excluded: Rows of the queries, each with that of a vector which it must not get; -1 where too few are left.
        """

        def search() -> dict[str, Counts]:
            side = self.sides[-1]
            turns = search_in_turns(
                queries,
                side.vectors,
                list(scorers.values()),
                k,
                ids=side.ids,
                excluded=excluded,
                progress=self.progress,
            )
            blocks = [[top.documents.astype(np.int32) for top in tops] for _, tops in turns]
            return {"found": np.stack([np.concatenate(lists) for lists in zip(*blocks, strict=True)])}

        named = (text.encode() for text in (*(scorer.key for scorer in scorers.values()), str(k)))
        asked = digest_of([*named, *array_pieces({"queries": keys_of(queries), **_pairs_named(excluded)})])
        stored = self.memo.arrays(f"neighbours-{asked}", search)
        return dict(zip(scorers, cast("Index", stored["found"]), strict=True))


def _pairs_named(pairs: Pairs | None) -> dict[str, Index]:
    """Pairs as arrays by name, to be told from others; none where there are none."""
    return dict(zip(("asking", "withheld"), pairs, strict=True)) if pairs is not None else {}


def _without_itself(ranked: Index, rows: Index) -> Index:
    """Lists without the row that asked; one that is not in its own list loses its last entry."""
    itself = ranked == rows[:, None]
    itself[~itself.any(axis=1), -1] = True
    return np.asarray(ranked[~itself].reshape(len(ranked), -1))
