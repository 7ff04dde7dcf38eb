"""Where the vectors of data come from: read from files, or made by a model where one is named."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError, ParameterError, VectorError
from offsphere.base.progress import Progress
from offsphere.base.remote_path import given_path, is_remote
from offsphere.data.embedded_table import EmbeddedTable
from offsphere.data.formats.corpus_files import has_corpus
from offsphere.data.formats.known_items import known_item_task
from offsphere.data.load import load_task
from offsphere.data.named_data import data_and_folder, named_data
from offsphere.data.task import EmbeddedTask, Task, TaskVectors
from offsphere.data.task_vectors import load_vectors, read_side
from offsphere.data.vector_parts import manifest_of
from offsphere.encode.embedding import SideItems, default_folder, embed, embed_items
from offsphere.encode.encoder import Encoder
from offsphere.encode.runtime import USUAL, Runtime
from offsphere.encode.sources import load_encoder

KNOWN_ITEMS = "known-items"  # the folder, beside a task's vectors, with those of its titles and texts


@dataclass(frozen=True, eq=False)
class EmbeddedSource:
    """Where tasks and their vectors come from: data, and a folder of vectors or the model that makes them.

    The model is loaded once, when first needed, however many parts of the data are embedded.

    Args:
        data: What ``load_task`` takes: a folder, a file, or a name on the hub.
        model: What ``load_encoder`` takes. Without one, the vectors are read from files. Where the data is a table of
            texts with their vectors, and no folder of others is named, it embeds the queries alone.
        vectors: The folder of the vectors. Without one: the user's cache where a model is named, else the data's own.
        ignore_missing: Whether to go on without judgments for unknown queries or documents.
        verify: Whether stores are compared with the digests they were written with.
        query_model: Another model for the side that asks, where one makes the vectors.
        ignore_broken: Whether to go on without pictures that cannot be read.
        reverse: Whether what is searched asks: images for their captions.
        runtime: Who computes, in which numbers and in how many processes, where sentence-transformers runs the model.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open(f"{folder}/pairs.csv", "w") as table:
        ...         print("score,sentence1,sentence2", "1,red,blue", "5,red,red", "2,a,b", sep=chr(10), file=table)
        ...     source = EmbeddedSource(f"{folder}/pairs.csv", "wordllama", f"{folder}/vectors")
        ...     source.task().units, source.folder_of(source.task()).name
        (3, 'vectors')
    """

    data: str
    model: str | None = None
    vectors: str | Path | None = None
    _: KW_ONLY
    ignore_missing: bool = False
    verify: bool = True
    query_model: str | None = None
    ignore_broken: bool = False
    reverse: bool = False
    runtime: Runtime = USUAL

    def __post_init__(self) -> None:
        """Refuse an address, a model of queries without one of documents, and a way to run a model that is none."""
        for typed in (self.data, self.vectors):
            if typed is not None:
                given_path(typed)
        if self.model is None and not self.runtime.is_usual:
            raise ParameterError("a backend, a model dtype and processes say how a model is run: name it with --model")
        if self.query_model is not None and self.model is None:
            raise ParameterError(f"--query-model {self.query_model} encodes queries alone: name the documents' --model")

    def beside(self, text: str) -> EmbeddedSource:
        """The source of other data, typed as ``DATA=DIR`` with its vectors, or as ``DATA``, treated as this data is.

        Args:
            text: The data, and after an equals sign the folder of its vectors.

        Returns:
            A source that reads the folder where one is given; else one with the models of this one. Nothing is read
            yet.

        Example:
            >>> source = EmbeddedSource("scifact", "wordllama", reverse=True)
            >>> source.beside("cisi=vectors/cisi").model is None, source.beside("cisi").model
            (True, 'wordllama')
            >>> source.beside("cisi").reverse
            True
        """
        data, folder = data_and_folder(text)
        if folder is None:
            return replace(self, data=data, vectors=None)
        return EmbeddedSource(
            data,
            vectors=given_path(folder),
            ignore_missing=self.ignore_missing,
            verify=self.verify,
            ignore_broken=self.ignore_broken,
            reverse=self.reverse,
        )

    @cached_property
    def encoder(self) -> Encoder | None:
        """The model, loaded; nothing where the vectors are read from files."""
        return load_encoder(self.model, runtime=self.runtime) if self.model is not None else None

    @cached_property
    def query_encoder(self) -> Encoder | None:
        """The model of the side that asks, loaded; nothing where one model encodes both sides."""
        return load_encoder(self.query_model, runtime=self.runtime) if self.query_model is not None else None

    def load(self, split: str | None = None, progress: Progress | None = None) -> EmbeddedTask:
        """Read the task of a split, and read or make its vectors.

        Args:
            split: Which judgments: test, dev, train, ...
            progress: Called now and then while texts are embedded.

        Returns:
            The task and its vectors.
        """
        task = self.task(split)
        return task, self.vectors_of(task, progress)

    def task(self, split: str | None = None) -> Task:
        """Read a task without its vectors; where no model is named, the vectors may name its documents.

        Args:
            split: Which judgments; the data's own choice unless said, which is test.

        Returns:
            The task.
        """
        folder = None if self.model is not None else self._read_from
        return load_task(
            self.data,
            split,
            ignore_missing=self.ignore_missing,
            ignore_broken=self.ignore_broken,
            reverse=self.reverse,
            vectors=folder,
        )

    def vectors_of(self, task: Task, progress: Progress | None = None) -> TaskVectors:
        """Read the vectors of a task, or embed it where a model is named.

        Args:
            task: A task of this source.
            progress: Called now and then while items are embedded.

        Returns:
            Its vectors.
        """
        if self.encoder is not None:
            return self._asked_of(task, self.encoder, progress) or self._embed(
                task, self.encoder, self.folder_of(task), progress
            )
        return load_vectors(self.folder_of(task), task, verify=self.verify, data=self.data)

    def folder_of(self, task: Task) -> Path:
        """The folder where the vectors of a task are, or will be.

        Args:
            task: A task of this source.

        Returns:
            The folder; in the user's cache where a model is named and no folder.
        """
        if self.model is not None:
            names = [self.runtime.named(name) for name in (self.query_model, self.model) if name is not None]
            return given_path(self.vectors or default_folder(task.name, *names))
        return self._read_from

    def made_by(self, task: Task) -> dict[str, Any]:
        """What is known of the model that made a task's vectors; empty where they are not in a store.

        Args:
            task: A task of this source.

        Returns:
            Model, revision and the similarity it declares, by name.
        """
        made = task.sides[0 if self._table is not None else -1]
        manifest = manifest_of(self.folder_of(task) / made.stored_as)
        if manifest is None:
            return {}
        known = {"model": manifest.model, "revision": manifest.revision, "similarity": manifest.similarity}
        return known | {"taken out so that lengths are kept": ", ".join(manifest.normalization_removed)}

    def known_items(self, progress: Progress | None = None) -> EmbeddedTask:
        """Titles and texts of the corpus as a task, embedded by the model or from ``known-items`` beside the vectors.

        Args:
            progress: Called now and then while titles are embedded.

        Returns:
            The task, in which each title asks for its text, and its vectors.

        Raises:
            DataError: Where the data has no corpus, or there are neither vectors nor a model.
        """
        if not has_corpus(given_path(self.data)):
            raise DataError(
                f"{self.data} has no corpus.jsonl, so no titles ask for their texts: leave out --known-items"
            )
        task = known_item_task(given_path(self.data))
        if self.encoder is not None:
            folder = self.folder_of(task) / KNOWN_ITEMS
            return task, self._embed(task, self.encoder, folder, progress)
        folder = given_path(self.vectors or self.data) / KNOWN_ITEMS
        if not folder.is_dir():
            raise DataError(f"{folder} is not there: name the model that made the vectors with --model, and it is made")
        return task, load_vectors(folder, task, verify=self.verify)

    def _asked_of(self, task: Task, encoder: Encoder, progress: Progress | None) -> TaskVectors | None:
        """Where the data is a table of texts with their vectors, these, and what asks embedded; else nothing."""
        queries, documents = task.sides
        table = self._table
        if table is None or queries.items is None:
            return None
        folder = self.folder_of(task)
        items = SideItems("query", queries.ids or (), queries.items)
        embed_items(items, self.query_encoder or encoder, folder / queries.stored_as, progress=progress)
        cure = f"offsphere embed {self.data} --model {self.model} --out DIR, and --vectors DIR"
        asking = read_side(folder, queries, cure, verify=self.verify)
        asked = read_side(table.path, documents, cure)
        widths = asking.vectors.shape[1], asked.vectors.shape[1]
        if widths[0] != widths[1]:
            raise VectorError(
                f"{table.path} has vectors of {widths[1]} dimensions, and {self.query_model or self.model} makes such "
                f"of {widths[0]}: name the model that made them, or embed all of them anew: {cure}"
            )
        return task.vectors(asking.vectors, asked.vectors, (asking.tokens, asked.tokens))

    @cached_property
    def _table(self) -> EmbeddedTable | None:
        """The data, where it is a table that has vectors, and no others are named."""
        return EmbeddedTable.of(named_data(self.data).path) if self.vectors is None else None

    def _embed(self, task: Task, encoder: Encoder, folder: Path, progress: Progress | None) -> TaskVectors:
        """Encode what the folder does not hold yet, queries by a model of their own where one is named."""
        if is_remote(folder):
            raise ParameterError(
                f"{folder} is read, not written: let the model write to a folder here, or leave out the model"
            )
        return embed(task, encoder, folder, query_model=self.query_encoder, verify=self.verify, progress=progress)

    @property
    def _read_from(self) -> Path:
        data = named_data(self.data).path
        if self._table is not None:
            return data
        return given_path(self.vectors or (data.parent if data.is_file() else data))
