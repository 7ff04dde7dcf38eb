"""Judgment files: TREC's four columns, or three columns (query, document, grade) with or without a header."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.reading.tables import number, text_lines
from offsphere.data.formats.split_files import choose_split
from offsphere.data.judgments import Judgment

MADE = "made.json"  # says how judgments were made that no human gave


def read_qrels(path: Path) -> Iterator[Judgment]:
    """The judgments of one file, in its order."""
    for line_number, line in text_lines(path):
        fields = line.split("\t") if "\t" in line else line.split()
        fields = [field.strip() for field in fields]
        where = f"{path}:{line_number}"
        if len(fields) == 4:  # noqa: PLR2004
            query, _, document, grade = fields
        elif len(fields) == 3:  # noqa: PLR2004
            query, document, grade = fields
        else:
            raise DataError(
                f"{where}: {len(fields)} fields, expected 3 (query, document, grade) or 4 (query, 0, document, grade)"
            )
        if line_number == 1 and _is_header(query, grade):
            continue
        yield Judgment(query, document, number(grade, where, "grade"), where)


def qrels_table(pairs: Iterable[tuple[str, str]]) -> bytes:
    """The bytes of a judgment file in which each query is relevant to each document that it stands with."""
    rows = "".join(f"{query}\t{document}\t1\n" for query, document in pairs)
    return f"query-id\tcorpus-id\tscore\n{rows}".encode()


def made_file(made: str) -> bytes:
    """The bytes of the file that says how judgments were made."""
    return json.dumps({"made": made}, indent=2).encode()


def read_made(folder: Path) -> str | None:
    """How the judgments were made, where the folder says that no human gave them."""
    if not is_there(folder / MADE):
        return None
    made = read_json_object(folder / MADE).get("made")
    if not isinstance(made, str):
        raise DataError(f"{folder / MADE}: expected a text under the key 'made'")
    return made


def find_qrels(folder: Path, split: str | None) -> tuple[Path, str | None]:
    """The judgment file of a split, and the split's name where the file tells it."""
    alone = loose_qrels(folder)
    files = _qrels_by_split(folder)
    if len(alone) == 1 and split is None and not any((folder / "qrels").glob("*.tsv")):
        return alone[0], None
    if not files:
        raise DataError(f"{folder} has no judgments: expected qrels/test.tsv or a file named qrels")
    chosen = choose_split(folder, files, split)
    return files[chosen], chosen


def qrels_splits(folder: Path) -> list[str]:
    """The splits of which a folder has judgments."""
    return list(_qrels_by_split(folder))


def _qrels_by_split(folder: Path) -> dict[str, Path]:
    """The judgment files by their split, those in ``qrels`` and those that lie in the folder itself."""
    files = {path.stem: path for path in (folder / "qrels").glob("*.tsv")}
    loose = loose_qrels(folder)
    files |= {path.name.removeprefix("qrels").strip("._-").split(".")[0] or "test": path for path in loose}
    return dict(sorted(files.items()))


def loose_qrels(folder: Path) -> list[Path]:
    """The files named qrels, qrels.test.tsv and the like that lie in a folder itself."""
    return sorted(path for path in folder.glob("qrels*") if not path.is_dir())


def _is_header(query: str, grade: str) -> bool:
    """Whether a first line names its columns; a mistyped grade alone does not make it a header."""
    try:
        float(grade)
    except ValueError:
        return any(word in query.lower() for word in ("query", "qid", "topic"))
    return False
