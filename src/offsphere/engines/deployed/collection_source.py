"""Tasks whose documents are the vectors of a collection that exists: only the queries are read, or embedded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.base.progress import Progress
from offsphere.data.load import load_task
from offsphere.data.ranking_task import RankingTask
from offsphere.data.store import is_store, read_manifest
from offsphere.data.task import Task, TaskVectors
from offsphere.data.task_kinds import as_ranking_task
from offsphere.data.task_vectors import RankingVectors, pick_rows, read_side, rows_in_order
from offsphere.data.vector_files import VectorFile
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.encode.measure_input import MeasureInput, load_measure_input
from offsphere.engines.deployed.deployment import Deployment
from offsphere.engines.deployed.lengths_at_hand import lengths_at_hand
from offsphere.engines.deployed.live_collection import LiveCollection
from offsphere.engines.registry import engine_of
from offsphere.statistics.metrics import parse_metric


@dataclass(frozen=True, eq=False)
class CollectionSource(EmbeddedSource):
    r"""A source of tasks and vectors like ``EmbeddedSource``; its documents are a collection's, which is only read.

    Documents and vectors are matched by id. A collection without ids has the documents in the task's order. Vectors of
    documents that the task does not know have no judgments, and are left out.

    Args:
        data: What ``load_task`` takes.
        model: What ``load_encoder`` takes: the model that made the collection. It embeds the queries alone.
        vectors: The folder of the query vectors: to read where no model is named, else to keep them in.
        ignore_missing: Whether to go on without documents that the collection does not have, and their judgments.
        verify: Whether stores are compared with the digests they were written with.
        collection: The engine and where in it: ``faiss:FILE``, ``qdrant:FOLDER-OR-URL:NAME``, ...
        id_field: The field that has the ids, where it is not the engine's own.
        vector_name: The field, column or name of the vectors, where there are several.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import offsphere as osp
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n")
        >>> np.savez(folder / "queries.npz", vectors=np.ones((1, 3), np.float32), ids=np.array(["q1"]))
        >>> rows = np.diag([3.0, 4.0, 5.0]).astype(np.float32)
        >>> _ = osp.export("dot", rows, f"faiss:{folder}/d.faiss", ids=["c", "b", "a"])
        >>> source = osp.CollectionSource(str(folder), collection=f"faiss:{folder}/d.faiss")
        >>> task, vectors = source.load()
        >>> task.document_ids, str(source.deployment(task, vectors).metric)
        (['c', 'b', 'a'], 'inner product')
    """

    collection: str = field(default="", kw_only=True)
    id_field: str | None = field(default=None, kw_only=True)
    vector_name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Refuse what does not go with a collection, and a target that is none, before any file is read."""
        if self.query_model is not None or self.reverse:
            raise OffsphereError("a collection holds one model's documents: leave out --query-model and --reverse")
        engine_of(self.collection)
        super().__post_init__()

    @cached_property
    def live(self) -> LiveCollection:
        """The collection, read once."""
        return LiveCollection.read(self.collection, id_field=self.id_field, vector_name=self.vector_name)

    def task(self, split: str | None = None) -> RankingTask:
        """Read a task, among those of its documents that the collection has.

        Raises:
            DataError: It is a task of pairs; or documents are not in the collection, and nobody said to ignore that.
        """
        task = self._whole_task(split)
        known = set(self.live.ids) if self.live.ids is not None else None
        if known is None or not self.ignore_missing:
            return task
        rows = [row for row, name in enumerate(task.document_ids) if name in known]
        return task if len(rows) == len(task.document_ids) else task.only_documents(np.array(rows, np.int64))

    def vectors_of(self, task: Task, progress: Progress | None = None) -> TaskVectors:
        """Take the documents from the collection, and read or embed the queries."""
        queries, documents = task.sides
        if self.encoder is not None:
            if queries.items is None:
                raise DataError(f"{task.name} has no texts of queries to embed: give their vectors with --vectors DIR")
            items = SideItems("query", queries.ids or (), queries.items)
            embed_items(items, self.encoder, self.folder_of(task) / queries.stored_as, progress=progress)
        cure = f"offsphere embed {self.data} --out {self.folder_of(task)}, or name the model with --model"
        asked = read_side(self.folder_of(task), queries, cure, verify=self.verify)
        live, where = self.live, str(self.live.where)
        rows = rows_in_order(
            live.ids,
            len(live.vectors),
            documents,
            where,
            cure="store them there, or go on without them with --ignore-missing",
            naming="name the field that has the ids with --id-field, or store ids with the vectors",
        )
        if asked.vectors.shape[1] != live.vectors.shape[1] and live.made_for is not None:
            raise VectorError(
                f"{where} holds what an export made of the vectors, in {live.vectors.shape[1]} dimensions, and the "
                f"queries have {asked.vectors.shape[1]}: audit the vectors that were exported"
            )
        stored = live.vectors if rows is None else pick_rows(live.vectors, rows, where)
        return task.vectors(asked.vectors, np.require(stored, requirements="A"), (asked.tokens, None))

    def made_by(self, task: Task) -> dict[str, Any]:
        """What is known of the model that made the query vectors, and where the documents are."""
        store = self.folder_of(task) / task.sides[0].stored_as
        known: dict[str, Any] = {"collection": str(self.live.where)}
        if not is_store(store):
            return known
        manifest = read_manifest(store)
        return {"model": manifest.model, "revision": manifest.revision, "similarity": manifest.similarity} | known

    def deployment(self, task: RankingTask, vectors: RankingVectors, metric: str | None = None) -> Deployment:
        """Look at the collection itself, and ask it with the task's queries.

        Where its lengths are gone and the folder of the query vectors has the documents' too, these tell what lengths
        are worth.

        Args:
            task: As ``load`` gave it.
            vectors: Of it.
            metric: By which the task is judged: the collection is asked for as many documents as it looks at. The
                task's usual one without.

        Returns:
            The evidence that ``offsphere.audit`` takes as ``deployment``.
        """
        whole = self._whole_task(task.split)
        ids = self.live.ids
        known = set(whole.document_ids)
        seen = Deployment.of(
            self.live,
            queries=vectors.queries,
            documents=len(whole.document_ids),
            missing=len(whole.document_ids) - len(task.document_ids),
            unknown=sum(name not in known for name in ids) if ids is not None else 0,
            k=parse_metric(metric or task.usual_metric).depth,
        )
        if seen.lengths == "kept" or seen.made_for is not None:
            return seen
        return replace(seen, at_hand=lengths_at_hand(task, vectors, self.folder_of(task), metric, verify=self.verify))

    def _whole_task(self, split: str | None) -> RankingTask:
        """The task among all documents that it lists; the collection names them where nothing else does."""
        folder = None if self.model is not None else self._read_from
        task = load_task(self.data, split, ignore_missing=self.ignore_missing, vectors=folder, documents=self.live.ids)
        ranking = as_ranking_task(task)
        if ranking is None:
            raise DataError(f"{self.data} has {task.unit}, and a collection has documents: give queries with judgments")
        return ranking


def deployment_of(
    source: EmbeddedSource, task: Task, vectors: TaskVectors, metric: str | None = None
) -> Deployment | None:
    """What is known of the collection that vectors are from; nothing where they come from elsewhere."""
    if not isinstance(source, CollectionSource):
        return None
    return source.deployment(cast("RankingTask", task), cast("RankingVectors", vectors), metric)


class DeployedInput(NamedTuple):
    """What is to be measured, and what is known of the collection that it is from; nothing where it is from none."""

    read: MeasureInput
    deployment: Deployment | None


def load_deployed(source: EmbeddedSource, split: str | None = None, progress: Progress | None = None) -> DeployedInput:
    """Read what ``measure`` takes: as ``load_measure_input`` does, or a collection, alone where no data is named."""
    if not isinstance(source, CollectionSource):
        return DeployedInput(load_measure_input(source, split, progress), None)
    if not source.data:
        live = source.live
        if source.model is not None or source.vectors is not None:
            raise DataError(
                f"{live.where} has no queries: give the task that has some, or leave --model and --vectors out"
            )
        vectors = np.require(live.vectors, requirements="A")
        file = VectorFile(Path(live.where.location), vectors, live.ids)
        return DeployedInput(MeasureInput(file), Deployment.of(live))
    read = load_measure_input(source, split, progress)
    assert read.task is not None
    return DeployedInput(read, source.deployment(cast("RankingTask", read.task), cast("RankingVectors", read.vectors)))
