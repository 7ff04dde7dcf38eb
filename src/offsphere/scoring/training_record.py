"""How a training went: the recipe, held-out values, learning dynamics. Reading one needs no torch."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import DataError
from offsphere.base.plain import plain
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.npy_files import read_npy
from offsphere.base.reading.parquet_files import read_rows
from offsphere.base.reading.records import record_of
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.base.short_repr import short_repr
from offsphere.base.written_tables import csv_of, latex_of, pandas_of

if TYPE_CHECKING:
    import pandas as pd

RECORD, DYNAMICS, LEARNED = "training.json", "dynamics.parquet", "learned.npy"
DynamicsRow = dict[str, Any]  # one measurement of a probe: the step, and values by name


@dataclass(frozen=True, slots=True)
class Run:
    """The training with one seed: held-out values as they came, the best of them, and why it ended."""

    seed: int
    start: float  # held-out value of the original vectors under this similarity
    best: float
    _: KW_ONLY
    best_step: int
    steps: int
    seconds: float
    history: Sequence[tuple[int, float, float]]  # (step, mean loss since the last one, held-out value)
    stopped: str  # why
    broke: bool = False  # whether the loss was no number any more
    cosine: Sequence[float] = ()  # of an encoder: the same held-out values by cosine

    __repr__ = short_repr


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Training:
    """How a training went: what was trained and by what, the run of each seed, and which of them was kept.

    Args:
        recipe: the options of the training.
        objective: the loss with its parameters.
        metric: by which held-out values are measured.
        counts: training pairs, queries, held-out queries, masked negatives, ...
        runs: one for each seed.
        chosen: the number of the run that was kept.
        dynamics: what was measured while it learned, a row a step.
        notes: what one must know to read the values.
        said: of an encoder, where it is from and what it came to.
        learned: content keys of the queries or pairs that were seen.

    Example:
        >>> from offsphere.scoring.training_record import Run, Training
        >>> seen = [(20, 0.9, 0.58), (40, 0.7, 0.62)]
        >>> run = Run(0, 0.50, 0.62, best_step=40, steps=60, seconds=1.5, history=seen, stopped="all steps done")
        >>> Training({}, {}, "ndcg@10", {"pairs": 800}, runs=[run], chosen=0)
        held-out ndcg@10 0.5000 -> 0.6200 in 60 steps
    """

    recipe: Mapping[str, Any]
    objective: Mapping[str, Any]
    metric: str
    counts: Mapping[str, int]  # training pairs, queries, held-out queries, masked negatives, ...
    _: KW_ONLY
    runs: Sequence[Run]
    chosen: int  # number of the run whose adapter this is
    dynamics: Sequence[DynamicsRow] = field(default=())
    notes: Sequence[str] = field(default=())
    said: Sequence[str] = field(default=())  # of an encoder: where it is from, and what it came to
    learned: Index = field(default_factory=lambda: np.zeros(0, np.int64))  # contents that were seen

    @property
    def run(self) -> Run:
        """The run that was kept."""
        return self.runs[self.chosen]

    def __repr__(self) -> str:
        """What it gained on queries it was not trained on."""
        return f"held-out {self.metric} {self.run.start:.4f} -> {self.run.best:.4f} in {self.run.steps} steps"

    def to_pandas(self) -> pd.DataFrame:
        """Give the dynamics as a pandas table, a row a measurement."""
        return pandas_of(self.dynamics)

    def to_csv(self) -> str:
        """Give the dynamics as CSV."""
        return csv_of(self.dynamics)

    def to_latex(self, columns: Sequence[str] | None = None) -> str:
        """Give the dynamics as a LaTeX table.

        Args:
            columns: Which quantities, besides the step; all that were measured without.

        Returns:
            The lines of the table, for a document that uses booktabs.
        """
        return latex_of(self.dynamics, ["step", *columns] if columns is not None else None)

    def to_json(self) -> dict[str, Any]:
        """Give everything but the dynamics as plain values, for JSON."""
        names = ("recipe", "objective", "metric", "counts", "runs", "chosen", "notes", "said")
        return {name: plain(getattr(self, name)) for name in names}

    def save(self, folder: str | Path) -> None:
        """Write ``training.json``, ``dynamics.parquet``, and in ``learned.npy`` by what to know again what was seen.

        Args:
            folder: where to; it is made where it does not exist.
        """
        buffer = io.BytesIO()
        np.save(buffer, self.learned)
        files = {LEARNED: buffer.getvalue(), DYNAMICS: parquet_of(self.dynamics)}
        write_sealed(Path(folder) / RECORD, self.to_json(), files)

    @classmethod
    def load(cls, folder: str | Path) -> Training | None:
        """Read what was saved; nothing where there is no record.

        Args:
            folder: where it was saved.

        Returns:
            The record, or nothing where the folder has none.

        Raises:
            DataError: where the files are damaged or do not fit each other.
        """
        folder = Path(folder)
        path = folder / RECORD
        if not is_there(path):
            return None
        where = f"{path} is not the record of a training"
        record = record_of(SavedTraining, read_sealed(path), where, null_is_nan=True)
        if not 0 <= record.chosen < len(record.runs):
            raise DataError(f"{path}: run {record.chosen} was kept, and it has {len(record.runs)}: train again")
        learned = read_npy(folder / LEARNED)
        if learned.ndim != 1 or learned.dtype != np.int64:
            raise DataError(f"{folder / LEARNED} holds {learned.dtype} of shape {learned.shape}: train again")
        values = {field.name: getattr(record, field.name) for field in fields(record)}
        return cls(**values, dynamics=read_rows(folder / DYNAMICS), learned=learned)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTraining:
    """What ``training.json`` says of a training: all but what stands in the files beside it."""

    recipe: Mapping[str, Any]
    objective: Mapping[str, Any]
    metric: str
    counts: Mapping[str, int]
    runs: Sequence[Run]
    chosen: int
    notes: Sequence[str] = ()
    said: Sequence[str] = ()


def parquet_of(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Write rows as a parquet file in memory."""
    import pyarrow as pa
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([dict(row) for row in rows]), buffer)
    return buffer.getvalue()
