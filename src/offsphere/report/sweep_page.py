"""The page of a sweep: what every value is worth, and what it does to the geometry while it is trained."""

from __future__ import annotations

from offsphere.learning.ablation.ablation import Ablation
from offsphere.report import learn_figures
from offsphere.report.page import render


def sweep_to_html(ablation: Ablation, title: str) -> str:
    """The sweep as one HTML file that needs nothing else: every value with its interval, and the dynamics of each."""
    figures = [learn_figures.grid_forest(ablation), *learn_figures.grid_tracks(ablation)]
    return render("sweep.html", figures, ablation=ablation, title=title)
