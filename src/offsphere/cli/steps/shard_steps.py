"""``--shard``: fit, search or measure one shard, and leave a state that ``offsphere merge`` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from offsphere.base.errors import OffsphereError
from offsphere.base.remote_path import given_path
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.writable import check_writable

if TYPE_CHECKING:
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.shards.compare_question import CompareOptions
    from offsphere.shards.shard import Shard


class ShardRequest(NamedTuple):
    """What was typed of a shard: which one, what was fitted, and where its state goes."""

    shard: Shard
    fitted: Sequence[Path]
    state: Path

    @classmethod
    def of(
        cls, shard: str | None, fitted: Sequence[Path] | None, state: Path | None, others: Mapping[str, object]
    ) -> ShardRequest | None:
        """Read what was typed; nothing where there is no shard.

        Args:
            shard: Such as 2/7.
            fitted: States of the first pass.
            state: Where to write.
            others: Options that need all documents at once, with what was typed.

        Raises:
            OffsphereError: An option is missing, or does not go with a shard.
        """
        if shard is None:
            if fitted or state is not None:
                raise OffsphereError("--fitted and --state go with a shard: say which with --shard 1/7")
            return None
        from offsphere.shards.shard import Shard
        from offsphere.shards.state_files import state_path

        asked = Shard.read(shard)
        if state is None:
            raise OffsphereError(f"--shard {asked} leaves a state: say where with --state FILE")
        typed = [name for name, value in others.items() if value]
        if typed:
            raise OffsphereError(f"{typed[0]} needs all documents at once: leave it out, or leave out --shard")
        check_writable(state_path(state))
        return cls(asked, fitted or (), state)

    def compare(self, source: EmbeddedSource, split: str | None, options: CompareOptions) -> None:
        """Fit the shard, or search it where all shards have been fitted, and write its state."""
        from dataclasses import replace

        from offsphere.data.task_vectors import RankingVectors
        from offsphere.shards.compare_state import search_shard
        from offsphere.shards.fit_state import FitState
        from offsphere.shards.shard_vectors import LocatedTask, fit_shard, load_shard
        from offsphere.shards.state_files import merge_files, write_state

        check_names(options)
        task, queries, documents, declared = LocatedTask.find(source, source.task(split), options.metric)
        rows, opened = self.shard.rows(task.documents), documents.opened()
        if self.fitted:
            fitted = merge_files(self.fitted)
            if not isinstance(fitted, FitState):
                raise OffsphereError(f"{self.fitted[0]} is no state of the first pass: make it without --fitted")
            vectors = RankingVectors(queries, load_shard(opened, rows))
            asked = replace(options, declared=declared)
            with progress_bar("searching") as progress:
                path = write_state(self.state, search_shard(task, self.shard, vectors, fitted, asked, progress))
            typer.echo(f"{path}: shard {self.shard} is searched, {len(rows):,} of {task.documents:,} documents")
            return
        path = write_state(self.state, fit_shard(task, opened, self.shard))
        typer.echo(f"{path}: shard {self.shard} is fitted, {len(rows):,} of {task.documents:,} documents")

    def measure(self, source: EmbeddedSource, seed: int) -> None:
        """Measure the shard of vectors alone, and write its state."""
        from offsphere.data.vector_files import is_vectors, read_vectors, take_rows
        from offsphere.shards.measure_state import VectorFacts, measure_shard, shard_rows
        from offsphere.shards.state_files import write_state

        path = given_path(source.data)
        if not is_vectors(path):
            raise OffsphereError(
                f"{source.data} is no file, store or folder of vectors: over shards these are measured alone, such as "
                "vectors/documents"
            )
        file = read_vectors(path, verify=False, lazy=True)
        facts = VectorFacts.of(file)
        mine = take_rows(file, shard_rows(facts, self.shard), verify=source.verify)
        with progress_bar("measuring") as progress:
            written = write_state(self.state, measure_shard(facts, self.shard, mine, seed, progress))
        typer.echo(f"{written}: shard {self.shard} is measured, {len(mine):,} of {len(file.vectors):,} vectors")


def check_names(options: CompareOptions) -> None:
    """Refuse scorers that are no names, before anything is read.

    Raises:
        OffsphereError: One is a folder, or a name that stands for nothing.
    """
    from offsphere.scoring.names import parse_scorer

    for name in options.scorers or ():
        if Path(name).is_dir():
            raise OffsphereError(f"--scorer {name} is a saved scorer: over shards give names, such as 'center + dot'")
        parse_scorer(name)
