"""A task measured over shards of its documents: all that moments, positive pairs and merged lists can tell.

The queries are few and are scanned here; so are the documents that are relevant to some query, which are read by their
rows. Of all other documents only what their shards left is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.cores import one_blas_thread
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.base.progress import Progress, in_phase
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_kinds import as_ranking_task
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.geometry.dual import dual_of
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.fisher import measure_fisher
from offsphere.geometry.gradients import measure_gradients
from offsphere.geometry.measurement import check_sections
from offsphere.geometry.negatives import negatives
from offsphere.geometry.scanning import scan
from offsphere.geometry.shape import SECTIONS, Geometry
from offsphere.geometry.sides import sides_of
from offsphere.geometry.spread import spread_of
from offsphere.runners.compare_shards import compare_located
from offsphere.runners.gathering import StateFolder
from offsphere.runners.measure_job import MeasureJob
from offsphere.runners.runner import Runner
from offsphere.shards.compare_question import CompareOptions
from offsphere.shards.measure_state import SECTIONS as OF_A_SIDE
from offsphere.shards.measure_state import ScanSummary, VectorFacts, how_exact, section_of_side, whole_scan
from offsphere.shards.shard_vectors import LocatedTask

NEED_ALL: Mapping[str, str] = MappingProxyType(
    {
        "relevance": "it sets the length of every document against the judgments",
        "hubness": "it counts for every document whose neighbour it is",
        "modalities": "it counts for every item whose neighbour it is",
        "ceiling": "it learns a number for every document",
        "frequency": "it reads the texts of all documents",
    }
)


@dataclass(frozen=True, eq=False)
class DividedEvidence:
    """What is known of a task before its shards are measured: where its vectors are, and its relevant documents."""

    located: LocatedTask
    relevant: Index  # rows of the documents that are relevant to some query
    part: RankingTask  # the task among these alone
    seed: int

    @classmethod
    def find(cls, source: EmbeddedSource, split: str | None, seed: int) -> DividedEvidence:
        """Read a task, and keep of it what does not grow with its documents.

        Raises:
            DataError: There are no vectors, or damaged ones.
            ParameterError: The task has no documents to divide.
            VectorError: A file cannot be read, or a vector is missing.
        """
        whole = source.task(split)
        located = LocatedTask.find(source, whole)
        ranking = as_ranking_task(whole)
        assert ranking is not None  # or it would have been refused
        relevant = np.unique(ranking.positives()[1])
        return cls(located, relevant, ranking.among_documents(relevant), seed)

    @cached_property
    def evidence(self) -> Evidence:
        """The queries and the relevant documents, from which all that needs positive pairs is measured."""
        vectors = self.part.vectors(self.located.queries, self.located.documents.opened().pick(self.relevant))
        return Evidence(sides=sides_of(vectors, self.part), embedded=(self.part, vectors), seed=self.seed)

    @property
    def facts(self) -> VectorFacts:
        """What every shard knows of the documents."""
        task = self.located.task
        return VectorFacts(f"documents of {task.facts.name}", task.documents, self.located.documents.width, task.ids)


def check_task_sections(sections: Sequence[str] | None) -> list[str]:
    """The sections that are told of a task over shards; all of them where none is named.

    Raises:
        ParameterError: One needs every document; the message says what for.
    """
    wanted = check_sections(sections) or [name for name in SECTIONS if name not in NEED_ALL]
    for name in wanted:
        if name in NEED_ALL:
            raise ParameterError(f"section {name} needs all vectors at once: {NEED_ALL[name]}; measure it in one run")
    return [name for name in SECTIONS if name in wanted]


def measure_divided(
    known: DividedEvidence,
    sections: Sequence[str] | None,
    states: StateFolder,
    runner: Runner,
    progress: Progress | None = None,
) -> Geometry:
    """Measure a task over shards.

    Args:
        known: The task.
        sections: Which; all that can be measured unless said, and of the others it says why not.
        states: Where the states of finished shards are kept.
        runner: Who works on them.
        progress: Is told how many shards are done.

    Raises:
        OffsphereError: A section was asked for by name and cannot be measured, or vectors were changed.
    """
    wanted = check_task_sections(sections)
    job = MeasureJob(known.facts, known.located.documents, known.seed)
    documents = whole_scan(states.gather(runner, job, "measure", progress=in_phase(progress, "measuring")))
    asking = ScanSummary.of(scan(known.located.queries, seed=known.seed))
    sides = {"query": asking, "document": documents}

    def measure_section(name: str) -> Any:
        if name in OF_A_SIDE:
            return [section_of_side(name, side, scanned) for side, scanned in sides.items()]
        if name == "spread":
            judged = known.located.task
            wanted_by = judged.judgments.documents[judged.judgments.grades > 0]
            return spread_of(np.bincount(wanted_by, minlength=judged.documents))
        if name == "dual":
            options = CompareOptions(scorers=["dot"], seed=known.seed)
            return dual_of(compare_located(known.located, options, states, runner, progress))
        if name == "negatives":
            positives = known.evidence.positives
            numbered = replace(positives, right=known.relevant[positives.right])
            return negatives(asking.scan, documents.scan, numbered)
        return measure_fisher(known.evidence) if name == "fisher" else measure_gradients(known.evidence)

    parts: dict[str, Any] = {}
    skipped = (
        {} if sections is not None else {name: f"over shards it is not told: {why}" for name, why in NEED_ALL.items()}
    )
    for name in wanted:
        try:
            with one_blas_thread():
                parts[name] = measure_section(name)
        except OffsphereError as error:
            if sections is not None:
                raise
            skipped[name] = str(error)
    shapes = {"query": [*known.located.queries.shape], "document": [known.facts.rows, known.facts.width]}
    told = known.located.task.facts.summary() | {"vectors": shapes} | how_exact(documents, wanted)
    return Geometry(told, **parts, skipped=skipped)
