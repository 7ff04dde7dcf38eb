"""The page of a sweep: what every value is worth, and what it does to the geometry while it is trained."""

from __future__ import annotations

from offsphere.learn.ablation.ablation import Ablation
from offsphere.report import learn_figures
from offsphere.report.page import rendered


def sweep_to_html(found: Ablation, title: str) -> str:
    """One file that needs nothing else."""
    figures = [learn_figures.grid_forest(found), *learn_figures.grid_tracks(found)]
    return rendered("sweep.html", figures, found=found, title=title)
