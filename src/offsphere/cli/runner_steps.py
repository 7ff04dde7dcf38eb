"""``--on``: who works on the shards of a command, and what each does with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from offsphere.base.errors import OffsphereError
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.shard_steps import check_names
from offsphere.cli.writable import check_writable
from offsphere.runners.local_runner import LocalRunner
from offsphere.runners.ray_runner import RayRunner
from offsphere.runners.runner import Runner

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.geometry import Geometry
    from offsphere.shards.compare_question import CompareOptions

On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Work shard by shard, and go on where a killed run stopped: local (here), ray (a Ray that is started "
        "here), or ray://HOST:PORT.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="With --on ray: how many workers. [as many as there is room for]")
]
Cpus = Annotated[int | None, typer.Option(min=1, help="With --on ray: CPUs of each worker. [1]")]
Gpus = Annotated[float | None, typer.Option(min=0, help="With --on ray: GPUs of each worker. [0]")]
ObjectStore = Annotated[
    int | None,
    typer.Option("--object-store", min=1, help="With --on ray: megabytes of the object store of a Ray started here."),
]
Shards = Annotated[
    int | None, typer.Option(min=1, help="With --on: how many shards the documents are cut into. [by their number]")
]
States = Annotated[
    Path | None,
    typer.Option(help="With --on: folder that keeps the states of finished shards. [in the cache, until all is done]"),
]


class RunnerRequest(NamedTuple):
    """What was typed of a runner."""

    runner: Runner
    shards: int | None
    states: Path | None

    @classmethod
    def of(
        cls,
        on: str | None,
        workers: int | None,
        cpus: int | None,
        gpus: float | None,
        object_store: int | None,
        shards: int | None,
        states: Path | None,
        others: Mapping[str, object],
    ) -> RunnerRequest | None:
        """Read what was typed; nothing where nobody is to work on shards.

        Args:
            on: local, ray, or an address of Ray.
            workers: How many.
            cpus: Of each.
            gpus: Of each.
            object_store: Megabytes of the object store.
            shards: How many.
            states: Where finished ones are kept.
            others: Options that need all documents at once, with what was typed.

        Raises:
            OffsphereError: An option does not go with it.
        """
        of_ray = {"--workers": workers, "--cpus": cpus, "--gpus": gpus, "--object-store": object_store}
        typed = [name for name, value in (of_ray | {"--shards": shards, "--states": states}).items() if value]
        if on is None:
            if typed:
                raise OffsphereError(f"{typed[0]} goes with --on: say who works, with --on local or --on ray")
            return None
        needing = [name for name, value in others.items() if value]
        if needing:
            raise OffsphereError(f"{needing[0]} needs all documents at once: leave it out, or leave out --on")
        if states is not None:
            check_writable(states / "state.json")
        if on == "local":
            if any(of_ray.values()):
                raise OffsphereError(f"{typed[0]} is for workers of Ray: add --on ray, or leave it out")
            return cls(LocalRunner(), shards, states)
        if on != "ray" and not on.startswith("ray://"):
            raise OffsphereError(f"--on {on}: choose local, ray, or the address of a Ray cluster as ray://HOST:10001")
        store = object_store * 10**6 if object_store is not None else None
        address = None if on == "ray" else on
        return cls(RayRunner(address, workers, cpus or 1, gpus or 0.0, store), shards, states)

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
        """A source whose vectors are files: the same, or one whose task was embedded in parts."""
        if source.model is None:
            return source
        out = Path(source.vectors) if source.vectors is not None else None
        *_, part = self.embed(source, out, split, "float32", keep_normalize=False)
        return replace(source, model=None, query_model=None, vectors=part.parents[1])

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

    def measure(self, path: Path, sections: list[str] | None, seed: int, *, verify: bool) -> Geometry:
        """Measure vectors over shards of them, with a bar."""
        from offsphere.runners.measure_shards import measure_shards

        with progress_bar("measuring, shards") as progress:
            return measure_shards(
                path,
                sections=sections,
                seed=seed,
                verify=verify,
                shards=self.shards,
                runner=self.runner,
                folder=self.states,
                progress=progress,
            )
