"""A task embedded over shards by a runner: one encoder a worker, and a part of the corpus a shard."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.base.remote_path import given_path
from offsphere.data.numbered_parts import part_name
from offsphere.data.store import is_store
from offsphere.data.task import Task
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.encode.embedding import SideItems, default_folder, items_by_store
from offsphere.encode.shard_embedding import embed_parts, items_of_shard
from offsphere.encode.sources import DEFAULT_MODEL, load_encoder
from offsphere.runners.local_runner import LocalRunner
from offsphere.runners.runner import Runner
from offsphere.runners.shared_source import shared_source
from offsphere.shards.shard import usual_shards

LEAST = 4_096  # documents of a shard, where nobody says how many shards there are
PATIENCE = 60.0  # seconds that a worker which was given up has to end, before its shard is somebody else's


def embed_shards(
    source: EmbeddedSource,
    out: Path | None = None,
    *,
    split: str | None = None,
    keep_normalize: bool = False,
    dtype: str = "float32",
    shards: int | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Encode a task's documents in parts, and its queries, wherever they are worked on.

    A killed run loses at most a block of each shard that was being made, and the next one goes on from there.

    Args:
        source: The data and the model.
        out: The folder of the vectors, which all workers share; one in the user's cache unless said.
        split: Which judgments, and so which queries.
        keep_normalize: Leave the stages of the model in that throw lengths away.
        dtype: ``"float32"`` or ``"float16"``: how vectors are stored.
        shards: Into how many parts the documents are cut: by their number, unless said.
        runner: Who works on them: this process, unless said.
        progress: Is told how many shards are done.

    Returns:
        The stores: of the queries, where they have one of their own, then of the documents in their order.

    Raises:
        OffsphereError: The model cannot be loaded, a shard cannot be embedded, or a part is not in the folder.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import offsphere as osp
        >>> folder = Path(tempfile.mkdtemp())
        >>> (folder / "qrels").mkdir()
        >>> lines = [f'{{"_id": "d{number}", "text": "text {number}"}}' for number in range(5)]
        >>> _ = (folder / "corpus.jsonl").write_text(chr(10).join(lines))
        >>> _ = (folder / "queries.jsonl").write_text('{"_id": "q", "text": "a question"}')
        >>> judged = chr(10).join([chr(9).join(["query-id", "corpus-id", "score"]), chr(9).join(["q", "d1", "1"])])
        >>> _ = (folder / "qrels" / "test.tsv").write_text(judged)
        >>> stores = osp.embed_shards(osp.EmbeddedSource(str(folder), "wordllama"), folder / "vectors", shards=2)
        >>> [store.name for store in stores]
        ['queries', '00001-of-00002', '00002-of-00002']
    """
    source = shared_source(source)
    task = source.task(split)
    home = (out or parts_folder(source, task)).absolute()
    rows = len(items_by_store(task)[task.sides[-1].stored_as].items)
    count = shards or usual_shards(rows, LEAST)
    names = stores_of(task, count)
    if is_store(home / task.sides[-1].stored_as):
        raise DataError(f"{home} holds the vectors of all documents already: choose another --out for its parts")
    job = EmbedJob(source, home, keep_normalize, dtype)
    pieces = [items_of_shard(task, number, count) for number in range(1, count + 1)]
    for done, _ in enumerate((runner or LocalRunner()).run(job, pieces), start=1):
        if progress is not None:
            progress(done, count)
    missing = [name for name in names if not is_store(home / name)]
    if missing:
        raise DataError(
            f"{home / missing[0]} was made by a worker and is not here: choose an --out that all machines share"
        )
    return [home / name for name in names]


def embedded_source(
    source: EmbeddedSource,
    *,
    split: str | None = None,
    shards: int | None = None,
    runner: Runner | None = None,
    progress: Progress | None = None,
) -> EmbeddedSource:
    """A source whose vectors are files, as work over shards needs it: its task is embedded in parts where they are not.

    Args:
        source: The data, with vectors or a model.
        split: Which judgments, and so which queries.
        shards: Into how many parts the documents are cut: by their number, unless said.
        runner: Who works on them: this process, unless said.
        progress: Is told how many shards are done.

    Returns:
        The same source, where it names no model; else one that reads what was embedded.
    """
    if source.model is None:
        return source
    out = given_path(source.vectors) if source.vectors is not None else None
    *_, part = embed_shards(source, out, split=split, shards=shards, runner=runner, progress=progress)
    return replace(source, model=None, query_model=None, vectors=part.parents[1])


def parts_folder(source: EmbeddedSource, task: Task) -> Path:
    """Where the parts of a task are kept in the user's cache."""
    named = [name for name in (source.query_model, source.model or DEFAULT_MODEL) if name is not None]
    return default_folder(task.name, *named, "parts")


def stores_of(task: Task, count: int) -> Sequence[str]:
    """The names of all stores that so many shards leave; the queries' first.

    Raises:
        ParameterError: There are more shards than documents.
    """
    asked = task.sides[-1].stored_as
    parts = [f"{asked}/{part_name(number, count)}" for number in range(1, count + 1)]
    return [name for name in items_of_shard(task, 1, count) if name not in parts] + parts


@dataclass(frozen=True, slots=True)
class EmbedJob:
    """What workers do: embed one shard after the other, each into a part of one folder."""

    source: EmbeddedSource
    folder: Path
    keep_normalize: bool
    dtype: str

    def prepare(self) -> Callable[[Mapping[str, SideItems]], None]:
        """Load the encoders, once for all shards; each shard comes with its own texts."""
        run: dict[str, Any] = {"keep_normalize": self.keep_normalize, "runtime": self.source.runtime}
        encoder = load_encoder(self.source.model or DEFAULT_MODEL, **run)
        name = self.source.query_model
        asking = load_encoder(name, **run) if name is not None else None

        def work(parts: Mapping[str, SideItems]) -> None:
            embed_parts(parts, encoder, self.folder, query_encoder=asking, dtype=self.dtype, wait=PATIENCE)

        return work
