"""The report as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from offsphere.auditing.run import Audit
from offsphere.report.evidence_links import EvidenceLink, EvidenceLinks
from offsphere.report.group_figure import group_cells
from offsphere.report.learn_figures import grid_cells
from offsphere.report.scorer_figures import comparison_cells, forest
from offsphere.report.threshold_figures import cut_cells
from offsphere.wording.finding import Finding


def to_markdown(audit: Audit) -> str:
    """The report of an audit as Markdown: verdict, what to set, what to mind, scorers, how it was measured.

    Args:
        audit: What ``offsphere.audit`` returned.

    Returns:
        The text; nothing in it that comes from the data is markup.
    """
    task, advice = audit.table.task, audit.advice
    lines = [f"# {_escape(str(task['name']))}: {_escape(advice.name)}", ""]
    links = EvidenceLinks({})
    told = {finding.sentence: finding for finding in advice.findings}
    lines += [f"{_led_on(sentence, links.of(told[sentence]))}\n" for sentence in advice.verdict]
    settings = [
        [row.engine, row.store, row.query, row.setting, row.score, " ".join(row.notes)] for row in advice.settings
    ]
    heads = ["engine", "store", "query with", "setting", "what comes back", "mind"]
    lines += ["## What to set", "", *_table(heads, settings), ""]
    to_mind = [*advice.about("wrong"), *advice.about("training")]
    if to_mind:
        lines += ["## What to mind", "", *_list_of(to_mind, links), ""]
    figure = forest(audit)
    lines += ["## Scorers", "", *_table(figure.heads, figure.rows), ""]
    more = [*advice.about("scorer")[1:], *advice.about("lists")]
    lines += [*_list_of(more, links), ""] if more else []
    if audit.table.breakdown is not None:
        by = _escape(f"By {audit.table.breakdown.name}")
        lines += [f"## {by}", "", *_table(*group_cells(audit.table, audit.table.breakdown)), ""]
    if audit.shape.sentences:
        lines += ["## What the vectors look like", "", *(f"- {_escape(line)}" for line in audit.shape.sentences), ""]
    if audit.thresholds is not None:
        promise = _escape(f"The promise: {audit.thresholds.goal.promise}.")
        lines += ["## Where to cut", "", promise, "", *_table(*cut_cells(audit.thresholds)), ""]
    if audit.learned is not None:
        behind = links.of_part("learned")
        lines += ["## What learning adds", "", *(f"- {_led_on(line, behind)}" for line in audit.learned.sentences), ""]
        lines += [*_table(*comparison_cells(audit.learned.table, audit.learned.table.rows)), ""]
    if audit.ablation is not None:
        lines += ["## The grid", "", *_table(*grid_cells(audit.ablation)), ""]
        lines += [_led_on(audit.ablation.conclusion, links.of_part("ablation")), ""]
        lines += [f"- {_escape(f'{c.verdict}: {c.claim} ({c.paper}). {c.evidence}')}" for c in audit.ablation.findings]
    digests = ", ".join(f"{name} {value}" for name, value in audit.provenance["digests"].items())
    lines.append(
        f"Measured by offsphere {audit.provenance['versions']['offsphere']}: {len(audit.table.rows) - 1} comparisons, "
        f"{audit.table.folds} folds, seed {audit.table.seed}; digests: {digests}."
    )
    return "\n".join(lines) + "\n"


def _list_of(findings: Sequence[Finding], links: EvidenceLinks) -> list[str]:
    return [f"- {_led_on(finding.sentence, links.of(finding))}" for finding in findings]


def _led_on(sentence: str, behind: EvidenceLink) -> str:
    """A sentence, and where the guide explains it: a link where the package says where its documentation is."""
    section = behind.section
    guide = f"[{section.title}]({section.address})" if section.address else f"{section.title} in `{section.page}`"
    return f"{_escape(sentence)} (guide: {guide})"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(_escape(cell) for cell in row) + " |" for row in cells]


def _escape(text: str) -> str:
    """Text from the data must not become markup: neither HTML, nor links, images, mentions or tables."""
    escaped = "".join(f"\\{letter}" if letter in "\\`*_[]|#!~" else letter for letter in text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;").replace("\n", " ")
