"""A comparison over shards by a runner: every shard is fitted, then every shard is searched, then the table is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.progress import Progress, in_phase
from offsphere.comparison.table import Comparison
from offsphere.data.located_side import LocatedSide
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.runners.gathering import ShardPiece, StateFolder, state_folder
from offsphere.runners.local_runner import LocalRunner
from offsphere.runners.runner import Runner, kept_workers
from offsphere.runners.shared_source import question_key, shared_source
from offsphere.shards.compare_question import CompareOptions, CompareQuestion
from offsphere.shards.compare_state import CompareState, ShardSearch
from offsphere.shards.divided_task import DividedTask
from offsphere.shards.fit_state import FitState, fit_origin
from offsphere.shards.merged_evaluator import compared
from offsphere.shards.origin import Origin
from offsphere.shards.shard import usual_shards
from offsphere.shards.shard_vectors import LocatedTask, fit_shard, load_shard

LEAST = 65_536  # documents of a shard, where nobody says how many shards there are
EVERYTHING = CompareOptions()


def compare_shards(
    source: EmbeddedSource,
    options: CompareOptions = EVERYTHING,
    *,
    split: str | None = None,
    shards: int | None = None,
    runner: Runner | None = None,
    folder: Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare scorers over shards of the documents, wherever they are worked on: the very table of one run.

    Args:
        source: Where the task and its vectors are; workers read them where they lie.
        options: Of the comparison.
        split: Which judgments: test, dev, train, ...
        shards: Into how many the documents are cut; the result does not depend on it.
        runner: Who works on them: this process, unless said.
        folder: Where the states of finished shards are kept, so that a killed run goes on; in the user's cache until
            the table is made, unless said.
        progress: Is told how many shards are done.

    Returns:
        The comparison. Its scorers with a bias know no document by its id: each gets its bias from the query bank.

    Raises:
        ParameterError: The task or an option does not work over shards.
        DataError: Vectors are missing, damaged, or were changed since an earlier run.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import offsphere as osp
        >>> folder = tempfile.mkdtemp()
        >>> rng = np.random.default_rng(0)
        >>> np.save(f"{folder}/documents.npy", rng.normal(size=(5_000, 8)).astype(np.float32))
        >>> np.save(f"{folder}/queries.npy", rng.normal(size=(20, 8)).astype(np.float32))
        >>> for side, count in (("documents", 5_000), ("queries", 20)):
        ...     with open(f"{folder}/{side}.ids", "w") as ids:
        ...         print(*range(count), sep=chr(10), file=ids)
        >>> with open(f"{folder}/qrels.tsv", "w") as judgments:
        ...     for query in range(20):
        ...         print(query, 0, query, 1, sep=chr(9), file=judgments)
        >>> source = osp.EmbeddedSource(f"{folder}/qrels.tsv", vectors=folder)
        >>> options = osp.CompareOptions(scorers=["dot"])
        >>> table = osp.compare_shards(source, options, shards=3, runner=osp.LocalRunner())
        >>> table.to_json() == osp.compare(*source.load(), ["dot"]).to_json()
        True
    """
    source = shared_source(source)
    located = LocatedTask.find(source, source.task(split), options.metric)  # the ids are forgotten before work begins
    options = replace(options, declared=options.declared or located.declared)
    count = shards or usual_shards(located.task.documents, LEAST)
    key = question_key("compare", source, split=split, shards=count, **asdict(options))
    with state_folder(folder, key, count) as states, kept_workers(runner or LocalRunner()) as workers:
        return compare_located(located, options, states, workers, progress)


def compare_located(
    located: LocatedTask,
    options: CompareOptions,
    states: StateFolder,
    runner: Runner,
    progress: Progress | None = None,
) -> Comparison:
    """Compare scorers on a task whose vectors were found.

    Args:
        located: The task, and where its vectors are.
        options: Of the comparison.
        states: Where the states of finished shards are kept.
        runner: Who works on them.
        progress: Is told how many shards are done.

    Raises:
        DataError: Vectors are damaged, or were changed since an earlier run.
        ParameterError: An option is out of range.
    """
    fit = FitJob(located.task, located.documents)
    fitted = states.gather(runner, fit, "fit", progress=in_phase(progress, "fitting"))
    question = CompareQuestion.of(located.task, options, located.queries, fitted.whole()).digest()

    def check(state: CompareState, name: str) -> None:
        state.origin.check_unchanged(fitted.origin)
        if state.question.digest() != question:
            raise DataError(f"{name} answers another question: remove it, or choose another --states")

    job = SearchJob(located, options, fitted)
    state = states.gather(runner, job, "search", checked=check, progress=in_phase(progress, "searching"))
    return compared(state, in_phase(progress, "comparing"))


@dataclass(frozen=True, slots=True, eq=False)
class FitJob:
    """What workers do in the first pass: fit one shard after the other."""

    task: DividedTask
    documents: LocatedSide

    def prepare(self) -> Callable[[ShardPiece], FitState | None]:
        """Open the vectors, once for all shards."""
        task, opened = self.task, self.documents.opened()

        def work(piece: ShardPiece) -> FitState | None:
            def origin_now() -> Origin:
                return fit_origin(task, piece.shard, load_shard(opened, piece.shard.rows(task.documents)))

            return None if piece.is_kept(origin_now) else fit_shard(task, opened, piece.shard)

        return work


@dataclass(frozen=True, slots=True, eq=False)
class SearchJob:
    """What workers do in the second pass: search one shard after the other, for all scorers."""

    located: LocatedTask
    options: CompareOptions
    fitted: FitState

    def prepare(self) -> Callable[[ShardPiece], CompareState | None]:
        """Open the vectors, once for all shards."""
        (task, queries, *_), opened = self.located, self.located.documents.opened()
        searching = ShardSearch(task, queries, self.fitted, self.options)

        def work(piece: ShardPiece) -> CompareState:
            return searching.search(piece.shard, load_shard(opened, piece.shard.rows(task.documents)))

        return work
