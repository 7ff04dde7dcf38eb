"""Measure vectors: a pass a side, searches for what needs neighbours, and a section for each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from offsphere.base.arrays import Counts, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.errors import OffsphereError, ParameterError, UnknownNameError, VectorError
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.table import Comparison
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task, TaskVectors
from offsphere.encode.encoder import Encoder
from offsphere.geometry.dimensions import Dimensions, dimensions
from offsphere.geometry.dual import Dual, dual_of
from offsphere.geometry.fisher import Fisher, fisher
from offsphere.geometry.frequency import FrequencyBias, frequency_bias
from offsphere.geometry.gradients import Gradients, gradients
from offsphere.geometry.hubness import NEIGHBOURS, Hubness, hubness
from offsphere.geometry.isotropy import Isotropy, isotropy
from offsphere.geometry.length import LengthSummary, length_summary
from offsphere.geometry.negatives import Negatives, negatives
from offsphere.geometry.positives import Positives, positives_of
from offsphere.geometry.relevance import COMPETITORS, Relevance, refuse_few, relevance
from offsphere.geometry.sample import smallest
from offsphere.geometry.scanning import Scan, scan
from offsphere.geometry.shape import SECTIONS, Geometry
from offsphere.geometry.sides import Measurable, numbers_of, sides_of
from offsphere.geometry.text_numbers import TextNumbers
from offsphere.ranking.search import search_in_turns
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT
from offsphere.vectors.lengths import are_equal

ASKING = 2_048  # vectors that look for their neighbours where there are no queries
FEWEST_POSITIVES = 2
DEEPEST = 400  # relevant documents beyond which the search for competitors goes no deeper


def measure(
    vectors: Measurable,
    task: Task | None = None,
    sections: Sequence[str] | None = None,
    *,
    scorer: Scorer | str | None = None,
    encoder: Encoder | None = None,
    groups: Mapping[str, str] | None = None,
    training_size: int | None = None,
    table: Comparison | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    memo: Memo | None = None,
) -> Geometry:
    """What the vectors look like, and what their length has to do with relevance.

    ``vectors`` are those of a task, a store, or an array with a row a vector. Without ``sections`` everything is
    measured that can be, and what cannot is named with its reason; a section that is asked for by name and cannot be
    measured is an error. ``scorer`` is one more scorer for hubness; ``encoder`` gives the model's own tokens instead of
    words; ``groups`` maps query ids to the names of groups; ``training_size`` is n in the bounds for mini-batches;
    ``table`` is a comparison that exists already, and ``memo`` keeps what is searched.
    """
    check_sections(sections)
    asked = _Asked(SECTIONS if sections is None else sections, scorer, groups, training_size, table, seed)
    work = _Work(vectors, task, asked, encoder, progress, memo or Memo())
    found: dict[str, Any] = {}
    skipped = {}
    for name in SECTIONS:
        if name not in work.wanted:
            continue
        try:
            found[name] = getattr(work, name)()
        except VectorError:
            raise  # bad vectors are no reason to leave something out
        except OffsphereError as error:
            if sections is not None:
                raise
            skipped[name] = str(error)
    return Geometry(work.described(), **found, skipped=skipped)


def check_sections(sections: Sequence[str] | None) -> None:
    """Refuse a section that does not exist."""
    if isinstance(sections, str):
        raise ParameterError(f"sections = {sections!r}: give a list, [{sections!r}]")
    for name in sections or ():
        if name not in SECTIONS:
            raise UnknownNameError("section", name, list(SECTIONS))


class _Asked(NamedTuple):
    """What the user wants to know, and what is known already."""

    sections: Sequence[str]
    scorer: Scorer | str | None
    groups: Mapping[str, str] | None
    training_size: int | None
    table: Comparison | None
    seed: int


class _Work:
    """The sections, and what they share: computed when first needed."""

    def __init__(
        self,
        vectors: Measurable,
        task: Task | None,
        asked: _Asked,
        encoder: Encoder | None,
        progress: Progress | None,
        memo: Memo,
    ) -> None:
        self.sides = sides_of(vectors, task)
        self.vectors = vectors
        self.task = task
        self.asked = asked
        self.wanted = asked.sections
        self.scorer = parse_scorer(asked.scorer) if isinstance(asked.scorer, str) else asked.scorer
        self.seed = asked.seed
        self.encoder = encoder
        self.progress = progress
        self.memo = memo

    def described(self) -> dict[str, Any]:
        """What is measured."""
        shapes = {side.name: list(side.vectors.shape) for side in self.sides}
        return {**(self.task.summary() if self.task is not None else {}), "vectors": shapes}

    @cached_property
    def scans(self) -> list[Scan]:
        """The state of each side."""
        return [scan(side.vectors, seed=self.seed, progress=self.progress) for side in self.sides]

    @cached_property
    def texts(self) -> list[TextNumbers] | None:
        """Numbers of the texts of each side."""
        return numbers_of(self.sides, self.encoder)

    @cached_property
    def positives(self) -> Positives:
        """The task's positive pairs."""
        if self.task is None:
            raise OffsphereError("it needs positive pairs: give a task with judgments")
        assert isinstance(self.vectors, TaskVectors)
        found = positives_of(self.task, self.vectors)
        if len(found) < FEWEST_POSITIVES:
            raise OffsphereError(f"it needs at least two positive pairs, {self.task.name} has {len(found)}")
        return found

    @cached_property
    def table(self) -> Comparison:
        """Cosine and dot product on the task."""
        if self.task is None:
            raise OffsphereError("it needs a task with judgments")
        assert isinstance(self.vectors, TaskVectors)
        if self.asked.table is not None and self.asked.table.metric == self.task.usual_metric:
            return self.asked.table
        return compare(self.task, self.vectors, [Scorer(DOT)], seed=self.seed)

    @cached_property
    def scorers(self) -> dict[str, Scorer]:
        """Those whose neighbours are looked at."""
        found = {"cosine": Scorer(COSINE)}
        if not are_equal(self.scans[-1].lengths):  # else all of them rank alike
            found["dot"] = Scorer(DOT)
        if self.scorer is not None:
            fitted = self.scorer.map is not None or not self.scorer.transforms
            found[self.scorer.name] = self.scorer if fitted else self.scorer.fit(self.scans[-1].moments)
        return found

    @cached_property
    def neighbours(self) -> dict[str, Index]:
        """The numbers of each query's ten nearest documents under each scorer; a vector is no neighbour of itself."""
        documents = self.sides[-1].vectors
        if len(documents) < 2:  # noqa: PLR2004
            raise OffsphereError("neighbours need at least two vectors")
        if len(self.sides) > 1:
            return self._searched(self.sides[0].vectors, self.scorers, NEIGHBOURS)
        sample = self.scans[0].sample
        chosen = smallest(sample.keys, ASKING)
        found = self._searched(sample.vectors[chosen], self.scorers, min(NEIGHBOURS, len(documents) - 1) + 1)
        return {name: _without(ranked, sample.rows[chosen]) for name, ranked in found.items()}

    def competitors(self, task: RankingTask) -> Index:
        """Each query's nearest documents by cosine, deep enough to hold 100 that are not relevant."""
        k = COMPETITORS + min(int(task.judgments.relevant.max()), DEEPEST)
        return self._searched(self.sides[0].vectors, {"cosine": Scorer(COSINE)}, k)["cosine"]

    def _searched(self, queries: Vectors, scorers: Mapping[str, Scorer], k: int) -> dict[str, Index]:
        def lists() -> dict[str, Counts]:
            turns = search_in_turns(queries, self.sides[-1].vectors, list(scorers.values()), k, progress=self.progress)
            parts = [[top.documents.astype(np.int32) for top in tops] for _, tops in turns]
            return {"found": np.stack([np.concatenate(part) for part in zip(*parts, strict=True)])}

        names = digest_of(name.encode() for name in (*scorers, str(k)))
        kept = self.memo.arrays(f"neighbours-{names}", lists)
        return dict(zip(scorers, cast("Index", kept["found"]), strict=True))

    def lengths(self) -> list[LengthSummary]:
        """Each side's lengths."""
        texts: Sequence[TextNumbers | None] = self.texts or [None] * len(self.sides)
        return [
            length_summary(side.name, found.lengths, numbers)
            for side, found, numbers in zip(self.sides, self.scans, texts, strict=True)
        ]

    def relevance(self) -> Relevance:
        """Length against relevance."""
        if not isinstance(self.task, RankingTask):
            raise OffsphereError("length and relevance: it needs a ranking task, with queries, documents and judgments")
        refuse_few(self.task, self.scans[1].lengths)  # before anything is searched
        difficulty = self.table["cosine"].values
        assert difficulty is not None  # ndcg@10 has a value a query
        return relevance(
            self.task,
            self.scans[1].lengths,
            self.scans[0].lengths,
            self.competitors(self.task),
            difficulty,
            self.positives,
            self.texts[1].characters if self.texts is not None else None,
            self.asked.groups,
            self.seed,
        )

    def dual(self) -> Dual:
        """Dot product against cosine."""
        return dual_of(self.table)

    def isotropy(self) -> list[Isotropy]:
        """Each side's shape."""
        return [isotropy(side.name, found) for side, found in zip(self.sides, self.scans, strict=True)]

    def negatives(self) -> Negatives:
        """Positive and negative similarities."""
        positives = self.positives  # says what is missing before anything is scanned
        return negatives(self.scans[0], self.scans[1], positives, training_size=self.asked.training_size)

    def dimensions(self) -> list[Dimensions]:
        """Each side's dimensions."""
        if self.scans[0].dimension < 2:  # noqa: PLR2004
            raise OffsphereError("vectors of one dimension have no direction but a sign: there is nothing to drop")
        return [
            dimensions(side.name, found.directions, found.sample)
            for side, found in zip(self.sides, self.scans, strict=True)
        ]

    def hubness(self) -> list[Hubness]:
        """How places among the nearest are shared out, under each scorer."""
        last = self.sides[-1]
        return [
            hubness(name, ranked[:, :NEIGHBOURS], len(last.vectors), last.ids)
            for name, ranked in self.neighbours.items()
        ]

    def fisher(self) -> Fisher:
        """Spectra of the Fisher information."""
        one, other = self.sides[0], self.sides[-1]
        return fisher(one.vectors, other.vectors, self.positives, (one.name, other.name), seed=self.seed)

    def gradients(self) -> list[Gradients]:
        """How fast positive pairs would learn."""
        found = self.positives
        return [
            gradients(side.name, found, own)
            for side, own in zip(self.sides, (found.left_lengths, found.right_lengths), strict=False)
        ]

    def frequency(self) -> list[FrequencyBias]:
        """Similarity against token frequency, on the side that is searched."""
        if self.texts is None:
            raise OffsphereError("frequency bias: it needs the texts, and the task has none")
        side, numbers = self.sides[-1], self.texts[-1]
        try:
            positives = self.positives
        except OffsphereError:
            positives = None  # the bands need none
        return [frequency_bias(side.name, side.vectors, numbers.frequency, numbers.frequency_of, positives)]


def _without(ranked: Index, own: Index) -> Index:
    """Lists without the vector that asked; one that is not in its own list loses its last entry."""
    inside = ranked == own[:, None]
    inside[~inside.any(axis=1), -1] = True
    return np.asarray(ranked[~inside].reshape(len(ranked), -1))
