"""Measure vectors: gather the evidence once, and let each section that is asked for measure its part from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from offsphere.base.cache import Memo
from offsphere.base.cores import one_blas_thread
from offsphere.base.errors import DoesNotApplyError, OffsphereError, ParameterError, TwoWidthsError, VectorError
from offsphere.base.known_names import known_name
from offsphere.base.progress import Progress, say
from offsphere.comparison.table import Comparison
from offsphere.data.call_order import check_order, is_task
from offsphere.data.task import Task, TaskVectors
from offsphere.encode.encoder import Encoder
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.shape import MEASURES, SECTIONS, Geometry
from offsphere.geometry.sides import Measurable, sides_of
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer

# what others call these sections
ELSEWHERE = {
    **dict.fromkeys(("norm", "norms", "length"), "lengths"),
    **dict.fromkeys(("hub", "hubs"), "hubness"),
    **dict.fromkeys(("prior", "popularity"), "spread"),
    **dict.fromkeys(("isotropic", "anisotropy", "cone"), "isotropy"),
    **dict.fromkeys(("modality", "gap", "kinds"), "modalities"),
    **dict.fromkeys(("dims", "dimension", "outliers", "rogue"), "dimensions"),
}


def measure(
    task: Task | Measurable | None,
    vectors: Measurable | None = None,
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

    Args:
        task: The task that the vectors belong to. Vectors alone may stand here instead: a store, an array or a list
            with a row a vector; then what needs judgments is skipped.
        vectors: Those of the task.
        sections: What to measure. Without them everything is measured that can be, and what cannot is named with its
            reason; a section that is asked for by name and cannot be measured is an error.
        scorer: One more scorer whose hubs are looked at.
        encoder: Gives the model's own tokens instead of words.
        groups: Query ids and the names of their groups, to tell relevant lengths apart by group.
        training_size: n in the bounds for mini-batches; the number of positive pairs without it.
        table: A comparison that exists already and has cosine and dot.
        seed: Of samples and intervals.
        progress: Is told how many vectors are done.
        memo: Keeps what is searched.

    Returns:
        A ``Geometry`` with an attribute a section.

    Raises:
        OffsphereError: Vectors that are not finite or do not fit the task, a section that does not exist, or one that
            was asked for and cannot be measured.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> rows = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32)
        >>> shape = osp.measure(rows)
        >>> round(shape.lengths[0].variation, 3), round(shape.isotropy[0].mean_cosine, 3)
        (0.256, -0.002)
        >>> shape.skipped["fisher"]
        'it needs positive pairs: give a task with judgments'
    """
    sections = check_sections(sections)
    task, vectors = _task_and_vectors(task, vectors)
    sides = sides_of(vectors, task)
    evidence = Evidence(
        sides=sides,
        embedded=(task, vectors) if task is not None and isinstance(vectors, TaskVectors) else None,
        scorer=parse_scorer(scorer) if isinstance(scorer, str) else scorer,
        encoder=encoder,
        groups=groups,
        training_size=training_size,
        known_table=table,
        seed=seed,
        progress=progress,
        memo=memo or Memo(),
    )
    parts: dict[str, Any] = {}
    skipped = {}
    for name, measure_section in MEASURES.items():
        if sections is not None and name not in sections:
            continue
        say(progress, name)
        try:
            with one_blas_thread():
                parts[name] = measure_section(evidence)
        except OffsphereError as error:
            bad_vectors = isinstance(error, VectorError) and not isinstance(error, TwoWidthsError)
            if bad_vectors or sections is not None:  # bad vectors are no reason to leave something out
                raise
            if not isinstance(error, DoesNotApplyError):
                skipped[name] = str(error)
    return Geometry(evidence.describe(), **parts, skipped=skipped)


def _task_and_vectors(task: Task | Measurable | None, vectors: Measurable | None) -> tuple[Task | None, Measurable]:
    """Tell a task with its vectors from vectors alone."""
    if vectors is None:
        if task is None or is_task(task):
            raise ParameterError("measure: there are no vectors; write measure(task, vectors), or measure(vectors)")
        return None, cast("Measurable", task)
    if task is None:
        return None, vectors
    check_order("measure", task, vectors)
    return cast("Task", task), vectors


def check_sections(sections: Sequence[str] | None) -> list[str] | None:
    """Refuse a section that does not exist, before anything is read or measured.

    Args:
        sections: Names of sections; nothing stands for all of them.

    Returns:
        The names as they are known.

    Raises:
        ParameterError: A single name instead of a list of names.
        UnknownNameError: A section that does not exist; it names those that are spelt alike.

    Example:
        >>> from offsphere.geometry import SECTIONS, check_sections
        >>> SECTIONS[:3]
        ('lengths', 'relevance', 'dual')
        >>> check_sections(["lengths", "hubnes"])
        Traceback (most recent call last):
        offsphere.base.errors.UnknownNameError: unknown section 'hubnes': did you mean hubness?
    """
    if isinstance(sections, str):
        raise ParameterError(f"sections = {sections!r}: give a list, [{sections!r}]")
    return [known_name("section", name, SECTIONS, ELSEWHERE) for name in sections] if sections is not None else None
