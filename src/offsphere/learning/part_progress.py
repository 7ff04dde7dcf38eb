"""Progress of one training among several, shown as a part of the whole."""

from __future__ import annotations

from offsphere.base.progress import Progress


def part_progress(progress: Progress | None, part: int, parts: int, label: str = "") -> Progress:
    """What shows the progress of one part of several equally long ones; ``label`` comes before its notes."""

    def show(done: int, total: int, note: str = "", /) -> None:
        if progress is not None:
            progress(part * total + done, parts * total, label + note)

    return show
