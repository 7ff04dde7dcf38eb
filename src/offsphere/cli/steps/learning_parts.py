"""What ``adapt`` and ``ablate`` do before they learn on vectors: load the parts, and say what was left out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offsphere.base.extras import load_extra
from offsphere.base.known_names import known_name
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.left_out import warn_left_out

if TYPE_CHECKING:
    from pathlib import Path

    from offsphere.data.task import EmbeddedTask, Task
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.learning.ablation.ablation import Ablation
    from offsphere.learning.loading import EmbeddedParts
    from offsphere.learning.tracking import Tracking


def load_with_warnings(
    source: EmbeddedSource, split: str | None, train_split: str | None, *, known_items: bool
) -> tuple[EmbeddedParts, list[EmbeddedTask]]:
    """What to learn from and judge by, and what else to learn from: the titles and texts of the corpus, if wanted."""
    from offsphere.learning.loading import load_parts

    with progress_bar("embedding") as progress:
        parts = load_parts(source, split=split, train_split=train_split, progress=progress)
    warn_left_out(*(part for part in parts if part is not None))
    if not known_items:
        return parts, []
    with progress_bar("embedding") as progress:
        return parts, [source.known_items(progress)]


def formats_of(figures: str | None) -> list[str]:
    """The formats of figures that were asked for; an error where one is not known."""
    from offsphere.report.figure_files import FORMATS

    if figures is None:
        return []
    load_extra("vl_convert")  # what draws them
    asked = [name.strip() for name in figures.split(",")]
    return [known_name("format of figures", name, FORMATS) for name in asked]


def draw_ablation(ablation: Ablation, out: Path, figures: str | None) -> None:
    """Draw one figure a quantity into a folder beside the tables, where that was asked for."""
    if figures is None:
        return
    from offsphere.report.figure_files import save_figures

    save_figures(ablation, out / "figures", formats_of(figures))


def tracking_of(report_to: list[str] | None, out: Path) -> Tracking | None:
    """Who follows a training whose results go to a folder; refused before anything is read where it is not there."""
    if not report_to:
        return None
    from offsphere.learning.tracking import Tracking

    return Tracking(tuple(report_to), out.resolve().name)


def vectors_option(source: EmbeddedSource, task: Task) -> str:
    """How to say on a command line where the vectors of a task are; nothing where they are beside the data."""
    beside_data = source.model is None and source.vectors is None
    return "" if beside_data else f" --vectors {source.folder_of(task)}"
