"""STS tables: TSV or CSV with a header that names score, sentence1 and sentence2."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from offsphere.base.errors import DataError
from offsphere.base.tables import file_of_split, number, table_rows
from offsphere.data.pair_task import PairTask

COLUMNS = ("score", "sentence1", "sentence2")


def find_table(folder: Path, split: str | None) -> Path | None:
    """The table of a split: test, else dev, else the only one."""
    tables = (path for path in sorted(folder.iterdir()) if path.suffix.lower() in (".tsv", ".csv"))
    return file_of_split(folder, {path.stem: path for path in tables if is_sts(path)}, split)


def is_sts(path: Path) -> bool:
    """Whether a table's header has the three columns."""
    try:
        header, _ = table_rows(path)
    except DataError:
        return False
    return set(COLUMNS) <= {name.lower() for name in header}


def load_sts(path: Path) -> PairTask:
    """Read one table."""
    header, rows = table_rows(path)
    header = [name.lower() for name in header]
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise DataError(f"{path}: the header has no column {missing[0]!r}; expected {', '.join(COLUMNS)}")
    places = [header.index(column) for column in COLUMNS]
    gold, left, right = [], [], []
    for line, row in rows:
        if len(row) != len(header):
            raise DataError(f"{path}:{line}: {len(row)} fields, the header has {len(header)}")
        score, one, other = (row[place] for place in places)
        gold.append(number(score, f"{path}:{line}", "score"))
        left.append(one)
        right.append(other)
    name = f"{path.resolve().parent.name}/{path.stem}"
    return PairTask(name, np.array(gold), left, right, path.stem)
