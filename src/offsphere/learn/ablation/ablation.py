"""What an ablation found: a row a variant, on every task it was judged by, and what of the papers holds here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.files import write_whole
from offsphere.base.plain import plain
from offsphere.comparison.table import ALPHA
from offsphere.scoring.record import parquet_of


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

    @property
    def verdict(self) -> str:
        """Whether the difference is certain."""
        if self.p is None or not self.p < ALPHA:
            return "equal"
        return "better" if self.difference > 0 else "worse"


class VariantRow(NamedTuple):
    """A variant: what was chosen for it, and its results by task."""

    name: str
    temperature: float
    rate: float
    held_out: float  # mean over seeds
    results: Sequence[VariantResult]  # one a task
    seconds: float
    exponents: tuple[float, float]  # of the output, at the end
    negative_variance: float  # of the probe's cosines, at the end
    same: Sequence[str] = ()  # variants that train alike


class PaperFinding(NamedTuple):
    """A claim of a paper, and what this data says to it."""

    claim: str
    paper: str
    verdict: str  # holds, does not hold, not decided
    evidence: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ablation:
    """All variants, judged by several tasks.

    The first is the one that was trained for; then come, where there are such, its queries whose relevant documents
    were not learned from, and tasks out of the domain.
    """

    tasks: Sequence[Mapping[str, Any]]
    metric: str
    rows: Sequence[VariantRow]  # in the order of the grid; the baseline first
    untouched: Sequence[float]  # cosine without any adapter, on each task
    seeds: int
    trials: int  # temperatures and rates that each variant could choose from
    findings: Sequence[PaperFinding]
    counts: Mapping[str, int]
    dynamics: Sequence[Mapping[str, Any]] = field(default=())  # of each variant's first seed
    notes: Sequence[str] = field(default=())
    trained: str = "adapter"  # or encoder

    def __repr__(self) -> str:
        """The first row."""
        first = self.ranked[0]
        return f"Ablation({len(self.rows)} variants, first {first.name}: {self.metric} {first.results[0].value:.4f})"

    @property
    def ranked(self) -> list[VariantRow]:
        """Best on the first task first."""
        return sorted(self.rows, key=lambda row: -row.results[0].value)

    @property
    def conclusion(self) -> str:
        """One plain sentence."""
        first, base = self.ranked[0], self.rows[0]
        if first is base:
            return f"Nothing is above {base.name} ({self.metric} {base.results[0].value:.4f})."
        result = first.results[0]
        gain = f"{result.difference:+.4f} [{result.difference_low:+.4f}, {result.difference_high:+.4f}]"
        said = f"{first.name} comes first with {self.metric} {result.value:.4f}, {gain} against {base.name}"
        sure = "" if result.verdict == "better" else ", which may be luck"
        return f"{said} (p = {result.p:.2g}, corrected for {len(self.rows) - 1} variants{sure})."

    @property
    def footnotes(self) -> list[str]:
        """What the columns are, and what the rows cannot say."""
        values = zip(self.tasks, self.untouched, strict=True)
        without = "; ".join(f"{task['name']} {value:.4f}" for task, value in values)
        counted = [f"{task['name']}: {task['queries']:,} queries" for task in self.tasks if "queries" in task]
        spread = f"means of {self.seeds} seeds, 'seeds' is their deviation" if self.seeds > 1 else "of one seed"
        corrected = f"p is corrected for {len(self.rows) - 1} variants, task by task"
        return [
            f"cosine without {'an adapter' if self.trained == 'adapter' else 'this training'}: {without}",
            *(["; ".join(counted)] if counted else []),
            f"values are {spread}; t (temperature) and rate were chosen among {self.trials}, on held-out queries",
            f"intervals are over queries, each for its row alone; {corrected}",
            *self._names,
            *(f"{row.name} trains as: {'; '.join(row.same)}" for row in self.rows if row.same),
            *(
                f"{row.name} learned the exponents {row.exponents[0]:.2f} (query) and {row.exponents[1]:.2f} (document)"
                for row in self.rows
                if row.name.startswith("learn")
            ),
        ]

    @property
    def _names(self) -> list[str]:
        """How to read the names of a grid; a sweep's explain themselves."""
        if self.rows[0].name != "cosine":
            return []
        added = "; head is a learned length (--magnitude)" if self.trained == "adapter" else ""
        return [f"a variant is named by its output, its input and what is added{added}"]

    def to_json(self) -> dict[str, Any]:
        """Plain values, without the dynamics."""
        names = ("tasks", "metric", "rows", "untouched", "seeds", "trials", "findings", "counts", "notes", "trained")
        return {name: plain(getattr(self, name)) for name in names} | {"conclusion": self.conclusion}

    def save(self, folder: Path) -> None:
        """``ablation.json``, and the dynamics as ``dynamics.parquet``."""
        write_whole(folder / "dynamics.parquet", parquet_of(self.dynamics))
        write_whole(folder / "ablation.json", json.dumps(self.to_json(), indent=2, allow_nan=False).encode())

    @classmethod
    def load(cls, folder: Path) -> Ablation:
        """What was saved."""
        from pyarrow import parquet

        path = folder / "ablation.json"
        try:
            found = json.loads(path.read_bytes())
            found.pop("conclusion")
            rows = [
                VariantRow(**{**row, "results": [VariantResult(**result) for result in row["results"]]})
                for row in found.pop("rows")
            ]
            claims = [PaperFinding(**claim) for claim in found.pop("findings")]
            dynamics = parquet.read_table(folder / "dynamics.parquet").to_pylist()
            return cls(**found, rows=rows, findings=claims, dynamics=dynamics)
        except FileNotFoundError as error:
            raise DataError(
                f"{folder} holds no ablation: make one with offsphere ablate DATA --out {folder}"
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} is not a saved ablation ({error})") from error
