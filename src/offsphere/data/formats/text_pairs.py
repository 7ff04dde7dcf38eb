"""Files of text pairs to learn from: a query and its document a line, with hard negatives where there are any.

JSON lines, CSV or TSV with named columns. A pair is a ranking: the query's document is relevant, its negatives are
judged not to be, and the documents of all other lines are the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError
from offsphere.base.tables import file_of_split, json_lines, table_rows
from offsphere.data.ranking_task import ItemList, Judgment, RankingTask

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


def find_pairs(folder: Path, split: str | None) -> Path | None:
    """The file of a split: test, else dev, else the only one."""
    files = (path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES)
    return file_of_split(folder, {path.stem: path for path in files if is_pairs(path)}, split)


def is_pairs(path: Path) -> bool:
    """Whether a file names a query and a document in its first line."""
    try:
        _, first = next(_entries(path), (0, {}))
    except DataError:
        return False
    graded = any(name in first for name in GRADES)  # then it is a file of judgments with a header
    return not graded and _column(first, QUERIES) is not None and _column(first, DOCUMENTS) is not None


def load_pairs(path: Path, split: str | None = None) -> RankingTask:
    """Read a file. The same text is the same query, or document, however often it stands there."""
    queries: dict[str, str] = {}
    documents: dict[str, str] = {}
    judged: dict[tuple[str, str], Judgment] = {}
    for line, entry in _entries(path):
        query, document, negatives = _texts(entry, f"{path}:{line}")
        asked = queries.setdefault(query, f"q{len(queries)}")
        for text, grade in ((document, 1.0), *((text, 0.0) for text in negatives)):
            name = documents.setdefault(text, f"d{len(documents)}")
            before = judged.get((asked, name))
            if before is None or before.grade < grade:
                judged[asked, name] = Judgment(asked, name, grade, f"{path}:{line}")
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
    return _shown(first)


def columns_of(path: Path) -> int:
    """How many a table has; none where it is empty."""
    try:
        return len(table_rows(path)[0])
    except DataError:
        return 0


def _entries(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Lines as mappings of lower-case names."""
    if path.suffix.lower() == ".jsonl":
        for line, entry in json_lines(path):
            yield line, {name.lower(): value for name, value in entry.items()}
        return
    header, rows = table_rows(path)
    names = [name.lower() for name in header]
    for line, row in rows:
        if len(row) != len(names):
            raise DataError(f"{path}:{line}: {len(row)} fields, the header has {len(names)}")
        yield line, dict(zip(names, row, strict=True))


def _texts(entry: Mapping[str, Any], place: str) -> tuple[str, str, list[str]]:
    asked, found = _column(entry, QUERIES), _column(entry, DOCUMENTS)
    if asked is None or found is None:
        raise DataError(f"{place}: expected {EXPECTED}; the row is {_shown(entry)}")
    negatives: list[Any] = []
    for name, value in entry.items():
        if name.startswith(NEGATIVES) and value:
            negatives += value if isinstance(value, list) else [value]
    texts = [entry[asked], entry[found], *negatives]
    for text in texts:
        if not isinstance(text, str):
            raise DataError(f"{place}: a text is of type {type(text).__name__}, expected a string: {_shown(entry)}")
    return texts[0], texts[1], texts[2:]


def _column(entry: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in entry), None)


def _shown(entry: Mapping[str, Any]) -> str:
    text = str(dict(entry))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
