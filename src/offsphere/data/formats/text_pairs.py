"""Files of text pairs to learn from: a query and its document a line, with hard negatives where there are any.

JSON lines, CSV or TSV with named columns. A pair is a ranking: the query's document is relevant, its negatives are
judged not to be, and the documents of all other lines are the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError
from offsphere.base.reading.tables import json_lines, refuse_repeated, table_rows
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.split_files import choose_split
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.ranking_task import RankingTask

QUERIES = ("anchor", "query", "question", "premise")
DOCUMENTS = ("positive", "document", "passage", "answer", "response", "entailment")
NEGATIVES = ("negative", "contradiction")
GRADES = ("grade", "score", "relevance", "rel")
SUFFIXES = (".jsonl", ".csv", ".tsv")
EXPECTED = (
    f"a query ({', '.join(QUERIES)}), its document ({', '.join(DOCUMENTS)}), and hard negatives where there are any "
    "(negative, negative_1, negatives, contradiction)"
)
SHOWN = 200  # characters of a first row


def is_text_pairs(path: Path) -> bool:
    """Whether a folder has files of pairs, or a file is one; JSON lines that are given by name are taken for one."""
    if path.is_dir():
        return bool(_files(path))
    suffix = path.suffix.lower()
    return suffix in SUFFIXES and (suffix == ".jsonl" or _has_columns(path))


def load_text_pairs(source: Source) -> RankingTask:
    """Read a file, of a folder that of the split.

    The same text is the same query, or document, however often it stands there.
    """
    path, split = source.path, None
    if path.is_dir():
        files = _files(path)
        split = choose_split(path, files, source.split)
        path = files[split]
    queries: dict[str, str] = {}
    documents: dict[str, str] = {}
    judged: dict[tuple[str, str], Judgment] = {}
    for line_number, entry in _entries(path):
        where = f"{path}:{line_number}"
        query, document, negatives = _texts(entry, where)
        asked = queries.setdefault(query, f"q{len(queries)}")
        for text, grade in ((document, 1.0), *((text, 0.0) for text in negatives)):
            name = documents.setdefault(text, f"d{len(documents)}")
            before = judged.get((asked, name))
            if before is None or before.grade < grade:
                judged[asked, name] = Judgment(asked, name, grade, where)
    if not queries:
        raise DataError(f"{path} is empty: expected {EXPECTED}")
    name = path.resolve().parent.name if split is not None else path.stem
    return RankingTask.build(
        name,
        ItemList(list(queries.values()), list(queries), str(path)),
        ItemList(list(documents.values()), list(documents), str(path)),
        judged.values(),
        split=split,
    )


def first_row(path: Path) -> str:
    """How a file begins, for somebody who wonders why it was not understood."""
    try:
        _, first = next(_entries(path), (0, {}))
    except DataError as error:
        return str(error)
    return _shortened(first)


def _files(folder: Path) -> dict[str, Path]:
    """The files of pairs in a folder by their split."""
    paths = (path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES)
    return {path.stem: path for path in paths if _has_columns(path)}


def _has_columns(path: Path) -> bool:
    """Whether a file names a query and a document in its first line, and no grade: that would be judgments."""
    try:
        _, first = next(_entries(path), (0, {}))
    except DataError:
        return False
    graded = any(name in first for name in GRADES)
    return not graded and _column(first, QUERIES) is not None and _column(first, DOCUMENTS) is not None


def _entries(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The lines of a file with their numbers, each by its columns in lower case."""
    if path.suffix.lower() == ".jsonl":
        for line_number, entry in json_lines(path):
            yield line_number, {name.lower(): value for name, value in entry.items()}
        return
    header, rows = table_rows(path)
    refuse_repeated(path, header, (*QUERIES, *DOCUMENTS, *NEGATIVES))
    for line_number, row in rows:
        yield line_number, dict(zip(header, row, strict=True))


def _texts(entry: Mapping[str, Any], where: str) -> tuple[str, str, list[str]]:
    """The query, its document and its negatives."""
    query, document = _column(entry, QUERIES), _column(entry, DOCUMENTS)
    if query is None or document is None:
        raise DataError(f"{where}: expected {EXPECTED}; the row is {_shortened(entry)}")
    negatives: list[Any] = []
    for name, value in entry.items():
        if name.startswith(NEGATIVES) and value:
            negatives += value if isinstance(value, list) else [value]
    texts = [entry[query], entry[document], *negatives]
    for text in texts:
        if not isinstance(text, str):
            raise DataError(f"{where}: a text is of type {type(text).__name__}, expected a string: {_shortened(entry)}")
    return texts[0], texts[1], texts[2:]


def _column(entry: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in entry), None)


def _shortened(entry: Mapping[str, Any]) -> str:
    text = str(dict(entry))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


FORMAT = Format(
    "text pairs (anchor, positive, as .jsonl, .csv or .tsv)",
    is_text_pairs,
    load_text_pairs,
    lambda path: list(_files(path)),
)
