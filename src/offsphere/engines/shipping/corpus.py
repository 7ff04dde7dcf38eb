"""The documents that are to be served, with their ids, and queries to try the engine with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.errors import DataError, VectorError
from offsphere.base.local_paths import local_path
from offsphere.data.store import Store
from offsphere.data.vector_files import find_file, is_vectors, read_vectors
from offsphere.vectors.as_vectors import as_vectors


class Corpus(NamedTuple):
    """Document vectors as the model gave them, their ids, and query vectors where there are some."""

    vectors: Vectors
    ids: Sequence[str]
    queries: Vectors | None = None

    @property
    def asking(self) -> Vectors:
        """What a collection is asked with to try it: the queries, or documents where there are none."""
        return self.queries if self.queries is not None and len(self.queries) else self.vectors

    @classmethod
    def of(
        cls,
        vectors: object,
        ids: Sequence[str] | None = None,
        queries: Vectors | None = None,
        *,
        verify: bool = True,
    ) -> Corpus:
        """Take documents from wherever they are.

        Args:
            vectors: An array; a store; a file of vectors; a folder with ``documents`` and perhaps ``queries``; or
                anything that has these two, as ``offsphere.load_vectors`` gives it.
            ids: Of the documents; without them those of the source, else their numbers.
            queries: Query vectors; without them those of the source.
            verify: Whether stores are compared with their digests.

        Raises:
            DataError: There is no such folder or file, or no documents in it, or an id repeats or is no text.
            VectorError: There are not as many ids as vectors, or queries are no rows.

        Example:
            >>> import numpy as np
            >>> from offsphere.engines.shipping.corpus import Corpus
            >>> Corpus.of(np.eye(2, dtype=np.float32)).ids
            ['0', '1']
        """
        if isinstance(vectors, Corpus):
            return vectors
        documents: Vectors
        known = None
        if isinstance(vectors, str | Path):
            documents, known, beside = _read_folder(local_path(vectors), verify=verify)
            queries = beside if queries is None else queries
        elif isinstance(vectors, Store):
            documents, known = vectors.vectors, vectors.ids
        elif hasattr(vectors, "documents"):
            documents = vectors.documents
            queries = getattr(vectors, "queries", None) if queries is None else queries
        else:
            documents = as_vectors(vectors, "documents")
        return cls._checked(documents, ids if ids is not None else known, queries)

    @classmethod
    def _checked(cls, documents: Vectors, ids: Sequence[str] | None, queries: Vectors | None) -> Corpus:
        if documents.ndim != 2 or not documents.size:  # noqa: PLR2004
            raise VectorError(f"documents of shape {documents.shape}: give a row for each, and at least one")
        names = list(ids) if ids is not None else [str(row) for row in range(len(documents))]
        if len(names) != len(documents):
            raise VectorError(f"there are {len(documents):,} documents and {len(names):,} ids: they must be as many")
        if len(set(names)) < len(names):
            raise DataError("an id of the documents stands there twice: engines know documents by their ids")
        _check_letters(names)
        if queries is not None and np.ndim(queries) != 2:  # noqa: PLR2004
            raise VectorError(f"queries of shape {np.shape(queries)}: give a row a query, (queries, dimensions)")
        return cls(documents, names, queries)


def _check_letters(ids: Sequence[str]) -> None:
    """Refuse an id with half a character, which no engine can write."""
    try:
        "".join(ids).encode()
    except UnicodeEncodeError as error:
        name = next(name for name in ids if any("\ud800" <= letter <= "\udfff" for letter in name))
        raise DataError(
            f"the id {name!r} has a lone surrogate, half a character: give that document another"
        ) from error


def _read_folder(folder: Path, *, verify: bool) -> tuple[Vectors, Sequence[str] | None, Vectors | None]:
    """The documents, their ids, and the queries of a folder; a file of vectors, or a store, is documents alone."""
    if not folder.exists():
        raise DataError(f"{folder} does not exist: give a folder with documents, or a file of vectors")
    path = folder if is_vectors(folder) else find_file(folder, "documents")
    if path is None:
        raise DataError(f"{folder} has no documents: expected documents.npy, .parquet, ... or a store of that name")
    documents = read_vectors(path, verify=verify)
    asked = None if path == folder else find_file(folder, "queries")
    queries = read_vectors(asked, verify=verify).vectors if asked is not None else None
    return documents.vectors, documents.ids, queries
