"""Judgment files: TREC's four columns, or three columns (query, document, grade) with or without a header."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from offsphere.base.errors import DataError, NoSuchSplitError
from offsphere.base.tables import number, text_lines
from offsphere.data.ranking_task import Judgment


def read_qrels(path: Path) -> Iterator[Judgment]:
    """The judgments of one file."""
    for line_number, line in text_lines(path):
        fields = line.split("\t") if "\t" in line else line.split()
        fields = [field.strip() for field in fields]
        place = f"{path}:{line_number}"
        if len(fields) == 4:  # noqa: PLR2004
            query, _, document, grade = fields
        elif len(fields) == 3:  # noqa: PLR2004
            query, document, grade = fields
        else:
            raise DataError(
                f"{place}: {len(fields)} fields, expected 3 (query, document, grade) or 4 (query, 0, document, grade)"
            )
        if line_number == 1 and _is_header(query, grade):
            continue
        yield Judgment(query, document, number(grade, place, "grade"), place)


def find_qrels(folder: Path, split: str | None) -> tuple[Path, str | None]:
    """The judgment file of a split; without one, test, else dev, else the only one there is."""
    found = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    alone = sorted(path for path in folder.glob("qrels*") if path.is_file())
    if not found and len(alone) == 1 and split is None:
        return alone[0], None
    found |= {path.name.removeprefix("qrels").strip("._-").split(".")[0] or "test": path for path in alone}
    if not found:
        raise DataError(f"{folder} has no judgments: expected qrels/test.tsv or a file named qrels")
    if split is not None:
        if split not in found:
            raise NoSuchSplitError(f"{folder} has no split {split!r}: there are {', '.join(sorted(found))}")
        return found[split], split
    preferred = [name for name in ("test", "dev") if name in found]
    if not preferred and len(found) > 1:
        raise DataError(f"{folder} has the splits {', '.join(sorted(found))}: choose one with --split")
    chosen = [*preferred, *found][0]
    return found[chosen], chosen


def _is_header(query: str, grade: str) -> bool:
    """Whether a first line names its columns; a mistyped grade alone does not make it a header."""
    try:
        float(grade)
    except ValueError:
        return any(word in query.lower() for word in ("query", "qid", "topic"))
    return False
