"""The report as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from offsphere.audit.run import Audit
from offsphere.report.learn_figures import grid_cells
from offsphere.report.scorer_figures import comparison_cells, forest


def to_markdown(found: Audit) -> str:
    """The verdict, what to mind, the scorers, the settings, how it was measured."""
    task, advice = found.table.task, found.advice
    lines = [f"# {_plain(str(task['name']))}: {_plain(advice.name)}", ""]
    lines += [f"{_plain(sentence)}\n" for sentence in advice.verdict]
    minded = [*advice.about("wrong"), *advice.about("training")]
    if minded:
        lines += ["## What to mind", "", *(f"- {_plain(finding.sentence)}" for finding in minded), ""]
    figure = forest(found)
    lines += ["## Scorers", "", *_table(figure.heads, figure.rows), ""]
    if found.shape.sentences:
        lines += ["## What the vectors look like", "", *(f"- {_plain(line)}" for line in found.shape.sentences), ""]
    if found.learned is not None:
        lines += ["## What learning adds", "", *(f"- {_plain(line)}" for line in found.learned.sentences), ""]
        lines += [*_table(*comparison_cells(found.learned.table, found.learned.table.rows)), ""]
    if found.ablation is not None:
        lines += ["## The grid", "", *_table(*grid_cells(found.ablation)), "", _plain(found.ablation.conclusion), ""]
        lines += [f"- {_plain(f'{c.verdict}: {c.claim} ({c.paper}). {c.evidence}')}" for c in found.ablation.findings]
    settings = [[row.engine, row.store, row.query, row.setting] for row in advice.settings]
    lines += ["## What to set", "", *_table(["engine", "store", "query with", "setting"], settings), ""]
    digests = ", ".join(f"{name} {value}" for name, value in found.provenance["digests"].items())
    lines.append(
        f"Measured by offsphere {found.provenance['versions']['offsphere']}: {len(found.table.rows) - 1} comparisons, "
        f"{found.table.folds} folds, seed {found.table.seed}; digests: {digests}."
    )
    return "\n".join(lines) + "\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(_plain(cell) for cell in row) + " |" for row in cells]


def _plain(text: str) -> str:
    """Text from the data must not become markup: neither HTML, nor links, images, mentions or tables."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]|#!~" else letter for letter in text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;").replace("\n", " ")
