"""``--plan``: what a run over shards will take, told before anything runs; also for a corpus that is only described."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from offsphere.base.cores import available_cores
from offsphere.base.errors import OffsphereError
from offsphere.base.remote_path import given_path
from offsphere.cli.steps.runner_steps import RunnerOptions
from offsphere.cli.steps.shard_steps import check_names
from offsphere.runners.shard_plan import ShardPlan, Workload

if TYPE_CHECKING:
    from pathlib import Path

    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.shards.compare_question import CompareOptions


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Whether a plan is wanted, and of how many documents."""

    plan: Annotated[
        bool,
        typer.Option(
            "--plan",
            help="Only tell what a run over shards takes: bytes, multiplications, memory, time. What --documents, "
            "--dimension and --queries do not say is that of DATA.",
        ),
    ] = False
    documents: Annotated[float | None, typer.Option(min=1, help="With --plan: of so many documents, such as 1e9.")] = (
        None
    )

    @property
    def described(self) -> dict[str, float | None]:
        """What was typed of a corpus, by the names of the options."""
        return {"--documents": self.documents}

    def request(self, runners: RunnerOptions, *, as_json: bool = False) -> PlanRequest | None:
        """What was typed; nothing where no plan is wanted.

        Args:
            runners: Who is to work on the shards.
            as_json: Whether the plan is printed as JSON.

        Raises:
            OffsphereError: A corpus is described, and no plan wanted.
        """
        if not self.plan:
            typed = [name for name, value in self.described.items() if value is not None]
            if typed:
                raise OffsphereError(f"{typed[0]} describes a corpus that is not there: add --plan")
            return None
        counts = {name: int(value) for name, value in self.described.items() if value is not None}
        workers = runners.workers
        return PlanRequest(
            documents=counts.get("--documents"),
            dimension=counts.get("--dimension"),
            queries=counts.get("--queries"),
            workers=workers or 1,
            cores=runners.cpus or (1 if workers is not None else available_cores()),
            shards=runners.shards,
            as_json=as_json,
        )


@dataclass(frozen=True, slots=True)
class VectorPlanOptions(PlanOptions):
    """Whether a plan is wanted, and of which vectors."""

    dimension: Annotated[int | None, typer.Option(min=1, help="With --plan: of vectors with so many numbers.")] = None

    @property
    def described(self) -> dict[str, float | None]:
        """What was typed of vectors, by the names of the options."""
        return {"--documents": self.documents, "--dimension": self.dimension}


@dataclass(frozen=True, slots=True)
class SearchPlanOptions(VectorPlanOptions):
    """Whether a plan is wanted, and of which search."""

    queries: Annotated[float | None, typer.Option(min=1, help="With --plan: of so many queries.")] = None

    @property
    def described(self) -> dict[str, float | None]:
        """What was typed of a search, by the names of the options."""
        return {"--documents": self.documents, "--dimension": self.dimension, "--queries": self.queries}


class PlanRequest(NamedTuple):
    """What was typed of a plan."""

    documents: int | None
    dimension: int | None
    queries: int | None
    workers: int
    cores: int  # of each worker
    shards: int | None
    as_json: bool

    def compare(self, source: EmbeddedSource | None, split: str | None, options: CompareOptions) -> None:
        """Print the plan of a comparison."""
        from offsphere.runners.planning import plan_compare

        check_names(options)
        texts = 0
        if source is not None:
            items = source.task(split).sides[-1].items
            texts = sum(len(str(item)) for item in items) if items is not None else 0
        self._print(plan_compare(self._workload(source, split), options, self.workers, self.cores, self.shards, texts))

    def measure(self, path: str | None, vectors: Path | None, split: str | None) -> None:
        """Print the plan of a measurement: of vectors alone, or of the documents of a task whose vectors are named."""
        from offsphere.data.vector_files import read_vectors
        from offsphere.encode.embedded_task import EmbeddedSource
        from offsphere.runners.planning import plan_measure

        if vectors is not None:
            load = replace(self._workload(EmbeddedSource(named(path), vectors=vectors), split), queries=0)
            self._print(plan_measure(load, self.workers, self.cores, self.shards))
            return
        documents, dimension, number = self.documents, self.dimension, 4
        if path is not None:
            rows = read_vectors(given_path(path), verify=False, lazy=True).vectors
            documents, dimension = documents or len(rows), dimension or int(rows.shape[1])
            number = rows.dtype.itemsize
        load = Workload(
            documents=_said(documents, "--documents"), dimension=_said(dimension, "--dimension"), number=number
        )
        self._print(plan_measure(load, self.workers, self.cores, self.shards))

    def embed(self, source: EmbeddedSource, split: str | None, dtype: str) -> None:
        """Print the plan of an embedding; the model encodes for about two seconds."""
        import numpy as np

        from offsphere.encode.embedding import items_by_store
        from offsphere.encode.served_name import is_served
        from offsphere.encode.sources import load_encoder
        from offsphere.runners.planning import plan_embed

        assert source.model is not None
        if is_served(source.model):
            raise OffsphereError(f"{source.model} takes money or time of others: --price tells what it takes")
        task = source.task(split)
        items = items_by_store(task)[task.sides[-1].stored_as].items
        encoder, number = load_encoder(source.model, runtime=source.runtime), np.dtype(dtype).itemsize
        self._print(plan_embed(self.documents or len(items), encoder, items, number, self.workers, self.shards))

    def _workload(self, source: EmbeddedSource | None, split: str | None) -> Workload:
        """The corpus: what is there, but for what was described."""
        from offsphere.data.task_vectors import open_side

        documents, queries, dimension, number = self.documents, self.queries, self.dimension, 4
        if source is not None:
            task = source.task(split)
            asking, asked = task.sides
            documents, queries = documents or len(asked.ids or ()), queries or len(asking.ids or ())
            if source.encoder is not None:
                dimension = dimension or source.encoder.description.dimension
            else:
                rows = open_side(source.folder_of(task), asked, verify=False, lazy=True, with_ids=False).vectors
                dimension, number = dimension or int(rows.shape[1]), rows.dtype.itemsize
        return Workload(
            documents=_said(documents, "--documents"),
            dimension=_said(dimension, "--dimension"),
            queries=_said(queries, "--queries"),
            number=number,
        )

    def _print(self, plan: ShardPlan) -> None:
        if self.as_json:
            typer.echo(json.dumps(plan.to_json(), indent=2))
            return
        for sentence in plan.sentences:
            typer.echo(sentence)


def named(data: str | None) -> str:
    """The data that was named.

    Raises:
        OffsphereError: None was.
    """
    if data is None:
        raise OffsphereError("name the DATA: a task, as a folder, a file or a name on the hub; --plan alone needs none")
    return data


def _said(number: int | None, option: str) -> int:
    if number is None:
        raise OffsphereError(f"--plan of a corpus that is only described needs {option}: add it, or name the DATA")
    return number
