"""The page of a study: what decides, the table with a link to every audit, the heat map and what predicts."""

from __future__ import annotations

from offsphere.auditing.study.run_study import Study
from offsphere.report.page import render
from offsphere.report.study_figures import heat_map, scatters, table_cells


def study_to_html(study: Study, title: str = "Study") -> str:
    """The study as one HTML file that needs nothing else; it links the reports of its audits beside it.

    Args:
        study: What ``offsphere.study`` returned.
        title: What stands above it.

    Returns:
        The page.
    """
    points = scatters(study)
    heads, rows = table_cells(study.rows)
    learned = [
        [row.label, name, f"{change['value']:.4f}", f"{change['gain']:+.4f}"]
        for row in study.rows
        for name, change in row.learned.items()
        if change["value"] is not None and change["gain"] is not None
    ]
    return render(
        "study.html",
        [heat_map(study), *points],
        study=study,
        title=title,
        heads=heads,
        rows=rows,
        learned=learned,
        scattered=[figure.name for figure in points],
    )
