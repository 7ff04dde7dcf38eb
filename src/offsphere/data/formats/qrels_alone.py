"""Judgments alone: the vectors that go with them, or lists of ids, name the queries and documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.tables import table_rows
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.qrels import find_qrels, loose_qrels, read_made, read_qrels
from offsphere.data.items import ItemList
from offsphere.data.ranking_task import RankingTask
from offsphere.data.vector_files import SUFFIXES, find_file, of_split, read_ids, read_vectors

FEWEST_COLUMNS = 3  # of judgments


def is_qrels(path: Path) -> bool:
    """Whether a folder has judgments, or a file may be one: anything but vectors, and tables of too few columns."""
    if path.is_dir():
        return (path / "qrels").is_dir() or bool(loose_qrels(path))
    suffix = path.suffix.lower()
    return suffix not in (".csv", *SUFFIXES) and not (suffix == ".tsv" and _column_count(path) < FEWEST_COLUMNS)


def load_qrels(source: Source) -> RankingTask:
    """Read judgments; queries that nothing names are taken from the judgments themselves."""
    path, split = find_qrels(source.path, source.split) if source.path.is_dir() else (source.path, None)
    folders = (source.path if source.path.is_dir() else source.path.parent, source.vectors)
    judged = list(read_qrels(path))
    documents = listed_ids("documents", *folders) or given_documents(source)
    if documents is None:
        raise DataError(
            f"nothing names the documents of {path}: add documents.ids (an id a line) beside the vectors, "
            "or vectors in a format that carries ids (.npz, .parquet)"
        )
    listed = listed_ids(of_split("queries", split), *folders) or listed_ids("queries", *folders)
    queries = listed or ItemList(list(dict.fromkeys(judgment.query for judgment in judged)))
    name = path.resolve().parent.name if path.stem.startswith("qrels") else path.stem
    return RankingTask.build(
        name,
        queries,
        documents,
        judged,
        split=split,
        ignore_missing=source.ignore_missing,
        made=read_made(path.parent),
    )


def given_documents(source: Source) -> ItemList | None:
    """The documents that whoever asks for the data names, where it names some."""
    return ItemList(list(source.documents), None, str(source.path)) if source.documents is not None else None


def listed_ids(side: str, *folders: Path | None) -> ItemList | None:
    """The ids of a side from the first folder that has ``SIDE.ids``, or vectors of that side that carry ids."""
    for folder in folders:
        if folder is None or not folder.is_dir():
            continue
        ids: Sequence[str] | None = read_ids(folder / f"{side}.ids")
        vectors = find_file(folder, side)
        if ids is None and vectors is not None:
            ids = read_vectors(vectors, verify=False, lazy=True).ids
        if ids is not None:
            return ItemList(ids, None, str(folder / side))
    return None


def _column_count(path: Path) -> int:
    """How many columns a table has; none where it is empty."""
    try:
        return len(table_rows(path)[0])
    except DataError:
        return 0


FORMAT = Format("judgments with vectors (qrels.tsv, queries.*, documents.*)", is_qrels, load_qrels)
