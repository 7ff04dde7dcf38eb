"""Tables of texts with their vectors, as embedding pipelines leave them: a corpus and its vectors in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

from offsphere.base.errors import DataError
from offsphere.base.reading.parquet_files import parquet_schema, row_blocks
from offsphere.data.list_columns import is_float_list
from offsphere.data.numbered_parts import in_part_order, missing_part
from offsphere.data.vector_files import VectorFile, read_vectors
from offsphere.data.vector_names import ID_NAMES, VECTORS_NAME, VectorNames
from offsphere.data.vector_parts import SIDE_NAMES

TITLE = "title"
TEXTS = ("text", "content", "contents", "chunk", "passage", "document", "body", "page_content")
OF_TEXTS = (VECTORS_NAME, "vector", "embedding", "embeddings")
OF_TITLES = ("title_vector", "title_embedding", "title_embeddings")
BLOCK = 4_096  # rows that are read at a time

TableEntry = tuple[str, dict[str, Any]]  # where it stands, and what it says


class TableColumns(NamedTuple):
    """Which columns of a table hold what."""

    ids: str | None  # nothing where rows are called by their numbers
    title: str | None
    text: str
    vectors: str
    title_vectors: str | None


class EmbeddedTable(NamedTuple):
    """A parquet file with texts and their vectors, or a folder of such files, one below the other."""

    path: Path
    files: Sequence[Path]
    columns: TableColumns

    @classmethod
    def of(cls, path: Path) -> Self | None:
        """Recognise a file with a column of texts and one of their vectors, or a folder with nothing else in it.

        Args:
            path: A file or folder.

        Returns:
            The table; nothing where the path holds something else.

        Raises:
            DataError: A file with the name of such a table cannot be read, or a part of it is missing.

        Example:
            >>> import tempfile
            >>> from pathlib import Path
            >>> import pyarrow as pa
            >>> import pyarrow.parquet as pq
            >>> from offsphere.data.embedded_table import EmbeddedTable
            >>> path = Path(tempfile.mkdtemp()) / "articles.parquet"
            >>> pq.write_table(pa.table({"id": ["a"], "content": ["A text."], "content_vector": [[0.5, 2.0]]}), path)
            >>> EmbeddedTable.of(path).columns.vectors
            'content_vector'
        """
        files = _files(path)
        columns = [_columns(file) for file in files]
        if not columns or columns[0] is None or any(others != columns[0] for others in columns):
            return None
        missing = missing_part(files)
        if missing is not None and path.is_dir():
            raise DataError(f"{path} lacks the part {missing}: add it, or rename the others")
        return cls(path, files, columns[0])

    def entries(self) -> Iterator[TableEntry]:
        """The documents as a corpus has them (``_id``, ``title``, ``text``), each with where it stands."""
        names, number = self.columns, 0
        for file in self.files:
            row = 0
            for block in row_blocks(file, [name for name in (names.ids, names.title, names.text) if name], BLOCK):
                for entry in block:
                    known = {"_id": number if names.ids is None else entry[names.ids], "text": entry[names.text]}
                    yield f"{file}, row {row}", known | {"title": entry[names.title] if names.title else None}
                    number, row = number + 1, row + 1

    def vectors(self, side: str, *, with_ids: bool = True) -> VectorFile:
        """The vectors of the texts, for documents, or of the titles, for queries that titles ask; with their ids.

        Raises:
            DataError: It has no vectors of what asks.
            VectorError: A row has no vector, or one of another width.
        """
        column = self.columns.vectors if side == "document" else self.columns.title_vectors
        if column is None:
            raise DataError(
                f"{self.path} has texts and their vectors ({self.columns.vectors!r}), and none of what asks: name the "
                "model that made them with --model (it embeds the queries alone), or look at the vectors by themselves "
                f"with offsphere measure {self.path}"
            )
        names = VectorNames(self.columns.ids, column)
        file = read_vectors(self.files[0] if len(self.files) == 1 else self.path, names=names, with_ids=with_ids)
        if not with_ids:
            return file
        numbered = [str(row) for row in range(len(file.vectors))] if self.columns.ids is None else file.ids
        return file._replace(ids=numbered)


def _files(path: Path) -> list[Path]:
    """A parquet file, or those of a folder that holds nothing else; none where it is anything else."""
    if path.is_file():
        return [path] if path.suffix == ".parquet" else []
    files = [file for file in path.iterdir() if file.name[0] != "."] if path.is_dir() else []
    if any(file.suffix != ".parquet" or not file.is_file() for file in files):
        return []
    sides = [file for file in files if file.name.split(".")[0].split("-")[0] in SIDE_NAMES]
    return [] if sides and len(files) > 1 else in_part_order(files)  # the sides of a task are no parts of a corpus


def _columns(path: Path) -> TableColumns | None:
    """The columns of a file; nothing where it has no texts, or does not say which vectors are theirs."""
    schema, _ = parquet_schema(path)
    lists = [field.name for field in schema if is_float_list(field.type)]
    texts = [name for name in TEXTS if name in schema.names and _is_text(schema.field(name).type)]
    titles = TITLE in schema.names and _is_text(schema.field(TITLE).type)
    of_titles = next((name for name in OF_TITLES if name in lists), None) if titles else None
    others = [name for name in lists if name not in OF_TITLES]
    if not texts or not others:
        return None
    usual = [*OF_TEXTS, f"{texts[0]}_vector", f"{texts[0]}_embedding", f"{texts[0]}_embeddings"]
    of_texts = others[0] if len(others) == 1 else next((name for name in usual if name in others), None)
    if of_texts is None:
        return None
    ids = next((name for name in ID_NAMES if name in schema.names and name not in lists), None)
    return TableColumns(ids, TITLE if titles else None, texts[0], of_texts, of_titles)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
