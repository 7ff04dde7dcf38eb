"""Run files: what a search system found, as TREC's six columns or as the JSON of ranx."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.reading.tables import LARGEST, number, text_lines

COLUMNS = 6  # query, Q0, document, rank, score, tag


class FoundDocument(NamedTuple):
    """One document that a system found for a query, and where that stands in which file."""

    query: str
    document: str
    score: float
    rank: float | None  # ranx keeps none
    where: str


def read_run(path: Path) -> list[FoundDocument]:
    """Read what a system found, in the order of the file.

    Args:
        path: A TREC run (query, Q0, document, rank, score, tag), or the JSON that ``ranx.Run.save`` writes:
            ``{query: {document: score}}``.

    Returns:
        The documents of all queries.

    Raises:
        DataError: The file is neither, is empty, has a score that is no finite number, or names a document twice for
            one query.
    """
    entries = list(_of_json(path) if path.suffix.lower() == ".json" else _of_trec(path))
    if not entries:
        raise DataError(f"{path} is empty: expected a run, a line for each document that was found")
    seen: set[tuple[str, str]] = set()
    for entry in entries:
        if (entry.query, entry.document) in seen:
            raise DataError(f"{entry.where}: query {entry.query!r} finds document {entry.document!r} twice: keep one")
        seen.add((entry.query, entry.document))
    return entries


def _of_trec(path: Path) -> Iterator[FoundDocument]:
    for line_number, line in text_lines(path):
        where = f"{path}:{line_number}"
        fields = [field.strip() for field in line.split("\t")] if line.count("\t") == COLUMNS - 1 else line.split()
        if len(fields) != COLUMNS:
            raise DataError(
                f"{where}: {len(fields)} fields, expected 6 of a TREC run (query, Q0, document, rank, score, tag), "
                "or a ranx run in a file that ends in .json"
            )
        query, _, document, rank, score, _ = fields
        yield FoundDocument(query, document, number(score, where, "score"), number(rank, where, "rank"), where)


def _of_json(path: Path) -> Iterator[FoundDocument]:
    for query, scores in read_json_object(path).items():
        if not isinstance(scores, Mapping):
            raise DataError(f"{path}: query {query!r}: expected documents with their scores, as ranx saves a run")
        for document, score in scores.items():
            where = f"{path}: query {query!r}, document {document!r}"
            yield FoundDocument(query, document, _plain_score(score, where), None, where)


def _plain_score(score: Any, where: str) -> float:
    if isinstance(score, bool) or not isinstance(score, int | float) or not -LARGEST <= score <= LARGEST:
        raise DataError(f"{where}: score {score!r} is not a finite number")
    return float(score)
