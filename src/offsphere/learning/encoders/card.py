"""The part of a model card that is about length, beside what sentence-transformers writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from offsphere.base.files import write_whole
from offsphere.base.reading.file_access import read_bounded
from offsphere.learning.encoders.outcome import Outcome
from offsphere.learning.objective.exponents import Exponents

HEAD = "## Length, and how to score"


def length_report(
    exponents: Exponents, plan: Mapping[str, Any], dynamics: Sequence[Mapping[str, Any]], outcome: Outcome | None
) -> str:
    """Markdown that says how the model is to be scored, what its lengths are like, and what it is worth."""
    by_side = (("query", exponents.query), ("document", exponents.document))
    sides = [f"- **{side}**: {_fate_of_length(exponent)}" for side, exponent in by_side]
    lines = [
        HEAD,
        "",
        f"Encode with `encode_query` and `encode_document`, score by `{plan['similarity']}` (`model.similarity` does).",
        "The saved model scores as it was trained with offsphere:",
        "",
        *sides,
        "",
    ]
    rows = [row for row in dynamics if row.get("layer") is None]
    if rows:
        lines += ["| held-out probe, before the last stage | before | after |", "| --- | ---: | ---: |"]
        for name in ("query_length", "document_length", "query_anisotropy", "document_anisotropy", "cohen_d"):
            if rows[0].get(name) is not None:
                lines.append(f"| {name.replace('_', ' ')} | {rows[0][name]:.4f} | {rows[-1][name]:.4f} |")
        lines.append("")
    if outcome is not None:
        lines += [
            f"| {outcome.task['name']}, {outcome.metric} | value | 95 % interval | difference | p |",
            "| --- | ---: | --- | --- | ---: |",
        ]
        for row in outcome.rows:
            gain = row.gain
            difference = f"{gain.difference:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}]" if gain is not None else ""
            p = f"{gain.p:.2g}" if gain is not None else ""
            lines.append(f"| {row.name} | {row.value:.4f} | {row.low:.4f} to {row.high:.4f} | {difference} | {p} |")
        lines += ["", outcome.conclusion, ""]
    return "\n".join(lines)


def add_to_card(folder: Path, report: str) -> None:
    """Put the report into a saved model's README, before the details of the training."""
    path = folder / "README.md"
    text = read_bounded(path).decode("utf-8", "replace") if path.is_file() else ""
    before, mark, after = text.partition("\n## Training Details")
    write_whole(path, f"{before.rstrip()}\n\n{report}{mark}{after}".encode())


def _fate_of_length(exponent: float) -> str:
    """What becomes of the length of a side, in words."""
    if exponent == 1:
        return "length is thrown away"
    return "length is kept" if exponent == 0 else f"divided by its length to the power {exponent:.4g}"
