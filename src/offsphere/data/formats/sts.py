"""STS tables: TSV or CSV with a header that names score, sentence1 and sentence2."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from offsphere.base.errors import DataError
from offsphere.base.reading.tables import number, refuse_repeated, table_rows
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.split_files import choose_split
from offsphere.data.pair_task import PairTask

COLUMNS = ("score", "sentence1", "sentence2")


def is_sts(path: Path) -> bool:
    """Whether a table has the three columns, or a folder such a table."""
    return bool(_tables(path)) if path.is_dir() else _has_columns(path)


def load_sts(source: Source) -> PairTask:
    """Read a table, of a folder that of the split."""
    path = source.path
    if path.is_dir():
        tables = _tables(path)
        path = tables[choose_split(path, tables, source.split)]
    header, rows = table_rows(path)
    refuse_repeated(path, header, COLUMNS)
    positions = [header.index(column) for column in COLUMNS]
    gold, left, right = [], [], []
    for line_number, row in rows:
        score, first, second = (row[position] for position in positions)
        gold.append(number(score, f"{path}:{line_number}", "score"))
        left.append(first)
        right.append(second)
    name = f"{path.resolve().parent.name}/{path.stem}"
    return PairTask(name, np.array(gold), left, right, path.stem)


def _tables(folder: Path) -> dict[str, Path]:
    """The STS tables of a folder by their split."""
    paths = (path for path in sorted(folder.iterdir()) if path.suffix.lower() in (".tsv", ".csv"))
    return {path.stem: path for path in paths if _has_columns(path)}


def _has_columns(path: Path) -> bool:
    try:
        header, _ = table_rows(path)
    except DataError:
        return False
    return set(COLUMNS) <= set(header)


FORMAT = Format("an STS table (score, sentence1, sentence2)", is_sts, load_sts, lambda path: list(_tables(path)))
