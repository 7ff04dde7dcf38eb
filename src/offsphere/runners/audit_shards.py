"""An audit whose comparison is made over shards by a runner; what its report shows besides is gathered here."""

from __future__ import annotations

from pathlib import Path

from offsphere.auditing.run import Audit, audit
from offsphere.base.errors import ParameterError
from offsphere.base.progress import Progress, in_phase
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.runners.compare_shards import EVERYTHING, compare_shards
from offsphere.runners.embed_shards import embedded_source
from offsphere.runners.runner import Runner
from offsphere.shards.compare_question import CompareOptions


def audit_shards(
    source: EmbeddedSource,
    options: CompareOptions = EVERYTHING,
    *,
    split: str | None = None,
    shards: int | None = None,
    runner: Runner | None = None,
    folder: Path | None = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> Audit:
    """Audit a task whose comparison is made over shards of the documents: the very table of one run.

    Where a model is named, the documents are embedded in parts first. Measurements and examples of the report look at
    all vectors, in this process.

    Args:
        source: Where the task and its vectors, or its model, are.
        options: Of the comparison, of all scorers.
        split: Which judgments: test, dev, train, ...
        shards: Into how many the documents are cut; the result does not depend on it.
        runner: Who works on them: this process, unless said.
        folder: Where the states of finished shards are kept; in the user's cache until the table is made, unless said.
        cache: Whether to keep what is searched here.
        progress: Is told how far it is.

    Returns:
        What ``audit`` gives.

    Raises:
        OffsphereError: A shard cannot be worked on, or vectors are missing or damaged.
        ParameterError: The task does not work over shards, or the options name scorers.

    Example:
        >>> import offsphere as osp
        >>> source = osp.EmbeddedSource("DATA", vectors="DIR")
        >>> osp.audit_shards(source, osp.CompareOptions(scorers=["dot"]), runner=osp.LocalRunner())
        Traceback (most recent call last):
        offsphere.base.errors.ParameterError: an audit compares all scorers: leave out scorers, or call compare_shards
    """
    if options.scorers is not None:
        raise ParameterError("an audit compares all scorers: leave out scorers, or call compare_shards")
    embedding = in_phase(progress, "embedding")
    source = embedded_source(source, split=split, shards=shards, runner=runner, progress=embedding)
    table = compare_shards(source, options, split=split, shards=shards, runner=runner, folder=folder, progress=progress)
    task, vectors = source.load(split)
    made_by = source.made_by(task)
    return audit(
        task,
        vectors,
        metric=options.metric,
        by=options.by,
        declared=options.declared or made_by.get("similarity"),
        model=made_by,
        worth=options.worth,
        folds=options.folds,
        seed=options.seed,
        cache=cache,
        progress=in_phase(progress, "auditing"),
        table=table,
    )
