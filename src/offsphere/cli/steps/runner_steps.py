"""``--on``: who works on the shards of a command, and what each does with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from offsphere.base.errors import OffsphereError
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.shard_steps import check_names
from offsphere.cli.steps.writable import check_writable
from offsphere.runners.local_runner import LocalRunner
from offsphere.runners.ray_runner import RayRunner
from offsphere.runners.runner import Runner

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.geometry import Geometry
    from offsphere.shards.compare_question import CompareOptions


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """Who works on the shards of the documents, and how many there are."""

    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            help="Work shard by shard, and go on where a killed run stopped: local (here), ray (a Ray that is started "
            "here), or ray://HOST:PORT.",
            show_default=False,
        ),
    ] = None
    workers: Annotated[
        int | None, typer.Option(min=1, help="With --on ray: how many workers. [as many as there is room for]")
    ] = None
    cpus: Annotated[int | None, typer.Option(min=1, help="With --on ray: CPUs of each worker. [1]")] = None
    gpus: Annotated[float | None, typer.Option(min=0, help="With --on ray: GPUs of each worker. [0]")] = None
    object_store: Annotated[
        int | None,
        typer.Option(
            "--object-store", min=1, help="With --on ray: megabytes of the object store of a Ray started here."
        ),
    ] = None
    shards: Annotated[
        int | None, typer.Option(min=1, help="With --on: how many shards the documents are cut into. [by their number]")
    ] = None

    @property
    def state_folder(self) -> Path | None:
        """Where the states of finished shards are kept; nothing where there are none."""
        return None

    def request(self, others: Mapping[str, object]) -> RunnerRequest | None:
        """What was typed, checked; nothing where nobody is to work on shards.

        Args:
            others: Options that need all documents at once, with what was typed.

        Raises:
            OffsphereError: An option does not go with it.
        """
        of_ray = {
            "--workers": self.workers,
            "--cpus": self.cpus,
            "--gpus": self.gpus,
            "--object-store": self.object_store,
        }
        every = of_ray | {"--shards": self.shards, "--states": self.state_folder}
        typed = [name for name, value in every.items() if value]
        if self.on is None:
            if typed:
                raise OffsphereError(f"{typed[0]} goes with --on: say who works, with --on local or --on ray")
            return None
        needing = [name for name, value in others.items() if value]
        if needing:
            raise OffsphereError(f"{needing[0]} needs all documents at once: leave it out, or leave out --on")
        if self.state_folder is not None:
            check_writable(self.state_folder / "state.json")
        if self.on == "local":
            if any(of_ray.values()):
                raise OffsphereError(f"{typed[0]} is for workers of Ray: add --on ray, or leave it out")
            return RunnerRequest(LocalRunner(), self.shards, self.state_folder)
        return RunnerRequest(self._on_ray(self.on), self.shards, self.state_folder)

    def _on_ray(self, on: str) -> Runner:
        """The workers of a Ray cluster: one that is started here, or one that has an address."""
        if on != "ray" and not on.startswith("ray://"):
            raise OffsphereError(f"--on {on}: choose local, ray, or the address of a Ray cluster as ray://HOST:10001")
        store = self.object_store * 10**6 if self.object_store is not None else None
        return RayRunner(None if on == "ray" else on, self.workers, self.cpus or 1, self.gpus or 0.0, store)


@dataclass(frozen=True, slots=True)
class ShardStateOptions(RunnerOptions):
    """Who works on the shards, how many there are, and where their states are kept."""

    states: Annotated[
        Path | None,
        typer.Option(
            help="With --on: folder that keeps the states of finished shards. [in the cache, until all is done]"
        ),
    ] = None

    @property
    def state_folder(self) -> Path | None:
        """Where the states of finished shards are kept."""
        return self.states


class RunnerRequest(NamedTuple):
    """What was typed of a runner."""

    runner: Runner
    shards: int | None
    states: Path | None

    def embed(
        self, source: EmbeddedSource, out: Path | None, split: str | None, dtype: str, *, keep_normalize: bool
    ) -> list[Path]:
        """Embed a task in parts; the stores."""
        from offsphere.runners.embed_shards import embed_shards

        with progress_bar("embedding, shards") as progress:
            return embed_shards(
                source,
                out,
                split=split,
                keep_normalize=keep_normalize,
                dtype=dtype,
                shards=self.shards,
                runner=self.runner,
                progress=progress,
            )

    def embedded(self, source: EmbeddedSource, split: str | None) -> EmbeddedSource:
        """A source whose vectors are files: the same, or one whose task was embedded in parts, with a bar."""
        from offsphere.runners.embed_shards import embedded_source

        with progress_bar("embedding, shards") as progress:
            return embedded_source(source, split=split, shards=self.shards, runner=self.runner, progress=progress)

    def compare(self, source: EmbeddedSource, split: str | None, options: CompareOptions) -> Comparison:
        """Compare scorers over shards of the documents, with a bar."""
        from offsphere.runners.compare_shards import compare_shards

        check_names(options)
        with progress_bar("shards") as progress:
            return compare_shards(
                source,
                options,
                split=split,
                shards=self.shards,
                runner=self.runner,
                folder=self.states,
                progress=progress,
            )

    def measure(
        self, data: Path | EmbeddedSource, split: str | None, sections: list[str] | None, seed: int, *, verify: bool
    ) -> Geometry:
        """Measure vectors, or a task, over shards, with a bar."""
        from offsphere.runners.measure_shards import measure_shards

        with progress_bar("measuring, shards") as progress:
            return measure_shards(
                data,
                split=split,
                sections=sections,
                seed=seed,
                verify=verify,
                shards=self.shards,
                runner=self.runner,
                folder=self.states,
                progress=progress,
            )
