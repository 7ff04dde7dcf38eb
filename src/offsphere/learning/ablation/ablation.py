"""The result of an ablation: a row a variant on every task it was judged by, and what of the papers holds here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.files import write_whole
from offsphere.base.in_notebook import InNotebook, NotebookView
from offsphere.base.plain import plain
from offsphere.base.reading.parquet_files import read_rows
from offsphere.base.reading.records import record_of
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.base.short_repr import short_repr
from offsphere.base.written_tables import csv_of, latex_of
from offsphere.scoring.training_record import DYNAMICS, parquet_of
from offsphere.statistics.significance import ALPHA
from offsphere.wording.written_numbers import CHANCE, chance, chance_alone

RESULT = "ablation.json"
LATEX = ("variant", "task", "value", "low", "high", "spread", "difference", "p", "temperature", "rate")


class VariantResult(NamedTuple):
    """A variant on one task: mean over seeds, interval over queries, and how it differs from the baseline."""

    value: float
    low: float
    high: float
    spread: float  # standard deviation over seeds
    difference: float
    difference_low: float
    difference_high: float
    p: float | None  # corrected; nothing for the baseline

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)

    @property
    def verdict(self) -> str:
        """Whether the variant is certainly better or worse than the baseline, or as good as equal."""
        if self.p is None or not self.p < ALPHA:
            return "equal"
        return "better" if self.difference > 0 else "worse"


class VariantRow(NamedTuple):
    """One variant: what was chosen for it on held-out queries, and its results by task."""

    name: str
    temperature: float
    rate: float
    held_out: float  # mean over seeds
    results: Sequence[VariantResult]  # one a task
    seconds: float
    exponents: tuple[float, float]  # of the output, at the end
    negative_variance: float  # of the probe's cosines, at the end
    same: Sequence[str] = ()  # variants that train alike

    @property
    def learned(self) -> bool:
        """Whether its exponents were learned, by its name: in a grid that begins with the output; no file says more."""
        return self.name.startswith("learn")

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)


class PaperFinding(NamedTuple):
    """A claim of a paper, and what this data says to it."""

    claim: str
    paper: str
    verdict: str  # holds, does not hold, not decided, or not judged where runs were too short
    evidence: str
    quantity: str = ""  # of the probe that it is about; without one, the metric


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ablation(InNotebook):
    """All variants of a training, judged by several tasks.

    The first task is the one that was trained for; then come, where there are such, its queries whose relevant
    documents were not learned from, and tasks out of the domain.

    Args:
        tasks: Names and counts of the tasks.
        metric: By which everything is measured.
        rows: A row for each variant, in the order of the grid, the baseline first.
        untouched: What cosine is worth on each task without any training.
        seeds: How many trainings each variant had.
        trials: Among how many temperatures and rates each variant chose.
        findings: Claims of papers, and whether they hold here.
        counts: How much there was to learn from and to stop by.
        dynamics: What a probe looked like while each variant was trained with its first seed.
        notes: What one must know to read the values.
        trained: What was trained, adapter or encoder.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> documents = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
        >>> judged = {f"q{row}": {f"d{row}": 1.0} for row in range(60)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(60)])
        >>> vectors = osp.RankingVectors.of(task, documents[:, ::-1].copy(), documents)
        >>> recipe = osp.Recipe(batch=16, epochs=1, hard_negatives=0)
        >>> variants = [osp.Variant(name, recipe, [(0.05, 0.01)]) for name in ("first", "again")]
        >>> ablation = osp.ablate((task, vectors), variants=variants, seeds=1)
        >>> ablation.rows[1].name, ablation.rows[1].results[0].verdict
        ('again', 'equal')
        >>> ablation.notes[-1]
        'one seed shows no spread: train several before you believe a claim'
    """

    tasks: Sequence[Mapping[str, Any]]
    metric: str
    rows: Sequence[VariantRow]  # in the order of the grid; the baseline first
    _: KW_ONLY
    untouched: Sequence[float]  # cosine without any adapter, on each task
    seeds: int
    trials: int  # temperatures and rates that each variant could choose from
    findings: Sequence[PaperFinding]
    counts: Mapping[str, int]
    dynamics: Sequence[Mapping[str, Any]] = field(default=())  # of each variant's first seed
    notes: Sequence[str] = field(default=())
    trained: str = "adapter"  # or encoder

    def __repr__(self) -> str:
        """How many variants there are, and which comes first."""
        first = self.ranked[0]
        return f"Ablation({len(self.rows)} variants, first {first.name}: {self.metric} {first.results[0].value:.4f})"

    def notebook_view(self) -> NotebookView:
        """Which variant comes first, and all variants on the first task."""
        first = [(row.name, row.results[0]) for row in self.ranked]
        rows = [
            [
                name,
                f"{result.value:.4f}",
                f"{result.difference:+.4f}" if result.p is not None else "",
                chance_alone(result.p) if result.p is not None else "",
            ]
            for name, result in first
        ]
        return NotebookView([self.conclusion], ["variant", self.metric, f"- {self.rows[0].name}", "p"], rows)

    @property
    def ranked(self) -> list[VariantRow]:
        """The rows, best on the first task first."""
        return sorted(self.rows, key=lambda row: -row.results[0].value)

    @property
    def conclusion(self) -> str:
        """Which variant comes first and by how much, in one plain sentence."""
        first, base = self.ranked[0], self.rows[0]
        if first is base:
            return f"Nothing is above {base.name} ({self.metric} {base.results[0].value:.4f})."
        result = first.results[0]
        assert result.p is not None  # the first row alone, with which all are compared, has none
        gain = f"{result.difference:+.4f} [{result.difference_low:+.4f}, {result.difference_high:+.4f}]"
        lead = f"{first.name} comes first with {self.metric} {result.value:.4f}, {gain} against {base.name}"
        sure = "" if result.verdict == "better" else f", which {CHANCE}"
        return f"{lead} ({chance(result.p)}, corrected for {len(self.rows) - 1} variants{sure})."

    @property
    def footnotes(self) -> list[str]:
        """What the columns are, and what the rows cannot say."""
        values = zip(self.tasks, self.untouched, strict=True)
        without = "; ".join(f"{task['name']} {value:.4f}" for task, value in values)
        counted = [f"{task['name']}: {task['queries']:,} queries" for task in self.tasks if "queries" in task]
        spread = f"means of {self.seeds} seeds, whose deviation is the spread" if self.seeds > 1 else "of one seed"
        corrected = f"p is corrected for {len(self.rows) - 1} variants, task by task"
        return [
            f"cosine without {'an adapter' if self.trained == 'adapter' else 'this training'}: {without}",
            *(["; ".join(counted)] if counted else []),
            f"values are {spread}; temperature and learning rate were chosen among {self.trials}, on held-out queries",
            f"intervals are over queries, each for its row alone; {corrected}",
            *self._names,
            *(f"{row.name} trains as: {'; '.join(row.same)}" for row in self.rows if row.same),
            *(
                f"{row.name} learned the exponents {row.exponents[0]:.2f} (query) and {row.exponents[1]:.2f} (document)"
                for row in self.rows
                if row.learned
            ),
        ]

    @property
    def _names(self) -> list[str]:
        """How to read the names of a grid; a sweep's explain themselves."""
        if self.rows[0].name != "cosine":
            return []
        added = "; head is a learned length (--magnitude)" if self.trained == "adapter" else ""
        return [f"a variant is named by its output, its input and what is added{added}"]

    def records(self) -> list[dict[str, Any]]:
        """Give every variant on every task with its numbers, best on the first task first.

        Returns:
            A dictionary for each variant and task; the probes are in ``ablation.dynamics``.
        """
        return [
            {
                "variant": row.name,
                "task": str(task["name"]),
                "metric": self.metric,
                **result._asdict(),
                "verdict": result.verdict,
                "temperature": row.temperature,
                "rate": row.rate,
                "held_out": row.held_out,
                "query_exponent": row.exponents[0],
                "document_exponent": row.exponents[1],
                "negative_variance": row.negative_variance,
                "seconds": row.seconds,
            }
            for row in self.ranked
            for task, result in zip(self.tasks, row.results, strict=True)
        ]

    def to_csv(self) -> str:
        """Give every variant on every task as CSV."""
        return csv_of(self.records())

    def to_latex(self, columns: Sequence[str] = LATEX) -> str:
        """Give every variant on every task as a LaTeX table.

        Args:
            columns: Which of the columns that ``records`` has.

        Returns:
            The lines of the table, for a document that uses booktabs.
        """
        return latex_of(self.records(), columns)

    def to_json(self) -> dict[str, Any]:
        """Give everything but the dynamics as plain values, for JSON."""
        names = ("tasks", "metric", "rows", "untouched", "seeds", "trials", "findings", "counts", "notes", "trained")
        return {name: plain(getattr(self, name)) for name in names} | {"conclusion": self.conclusion}

    def save(self, folder: str | Path) -> None:
        """Write ``ablation.json``, the dynamics as ``dynamics.parquet``, and both as tables for others.

        These are ``ablation.csv``, ``ablation.tex`` and ``dynamics.csv``.

        Args:
            folder: Where to; it is made where it does not exist.
        """
        folder = Path(folder)
        write_sealed(folder / RESULT, self.to_json(), {DYNAMICS: parquet_of(self.dynamics)})
        tables = {"ablation.csv": self.to_csv(), "ablation.tex": self.to_latex(), "dynamics.csv": csv_of(self.dynamics)}
        for name, text in tables.items():
            write_whole(folder / name, text.encode())

    @classmethod
    def load(cls, folder: str | Path) -> Ablation:
        """Read what was saved.

        Args:
            folder: Where it was saved.

        Returns:
            The ablation.

        Raises:
            DataError: If the folder holds none, or its files are broken.
        """
        folder = Path(folder)
        path = folder / RESULT
        if not path.exists() and not folder.is_file():
            raise DataError(f"{folder} holds no ablation: make one with offsphere ablate DATA --out {folder}")
        saved = record_of(SavedAblation, read_sealed(path), f"{path} is not a saved ablation", null_is_nan=True)
        tasks = len(saved.tasks)
        whole = tasks and saved.rows and len(saved.untouched) == tasks
        if not whole or any(len(row.results) != tasks for row in saved.rows):
            raise DataError(f"{path} is not a saved ablation: its rows are not of its {tasks} tasks")
        values = {field.name: getattr(saved, field.name) for field in fields(saved) if field.name != "conclusion"}
        return cls(**values, dynamics=read_rows(folder / DYNAMICS))


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAblation:
    """What ``ablation.json`` says of an ablation: all but the dynamics, which stand beside it."""

    tasks: Sequence[Mapping[str, Any]]
    metric: str
    rows: Sequence[VariantRow]
    untouched: Sequence[float]
    seeds: int
    trials: int
    findings: Sequence[PaperFinding]
    counts: Mapping[str, int]
    conclusion: str
    notes: Sequence[str] = ()
    trained: str = "adapter"
