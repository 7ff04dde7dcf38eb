"""Pictures with captions as a task: every caption asks for its picture; turned round, pictures for their captions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from offsphere.base.errors import DataError
from offsphere.data.image import Image
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.picture_check import check_pictures
from offsphere.data.ranking_task import RankingTask


class CaptionedImage(NamedTuple):
    """A picture as a file lists it: its name, itself where it is there, its captions, and where that stands."""

    id: str
    image: Image | None
    captions: Sequence[str]
    where: str


def caption_task(
    name: str,
    rows: Sequence[CaptionedImage],
    source: str,
    *,
    split: str | None = None,
    ignore_missing: bool = False,
    ignore_broken: bool = False,
) -> RankingTask:
    """Make a ranking task of captioned pictures: queries are captions, documents the pictures of the same split.

    Args:
        name: What the task is called.
        rows: The pictures; one may stand there several times, with a caption each.
        source: Where they were read.
        split: Which part of the data this is.
        ignore_missing: Go on without captions of pictures that are not there.
        ignore_broken: Go on without pictures that cannot be read.

    Returns:
        The task; its notes say what was left out or converted.

    Raises:
        DataError: A picture is missing or broken, or there are no captions at all.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.captioned import CaptionedImage, caption_task
        >>> from offsphere.data.image import Image
        >>> images = [Image.of(np.full((2, 2), shade, np.uint8)) for shade in (0, 255)]
        >>> rows = [CaptionedImage(n, i, [c], "x") for n, i, c in zip("ab", images, ["black", "white"])]
        >>> task = caption_task("shades", rows, "x")
        >>> task, task.query_texts
        (RankingTask(shades: 2 queries, 2 documents), ['black', 'white'])
    """
    there = {row.id: row.image for row in rows if row.image is not None}
    if rows and not there:
        raise DataError(f"{source}: none of its {len({row.id for row in rows}):,} pictures is there: give their folder")
    checked = check_pictures(there.values(), ignore_broken=ignore_broken)
    broken = {name for position, name in enumerate(there) if position in checked.broken}
    ids = [name for name in there if name not in broken]
    captions, texts, judged = [], [], []
    counts: dict[str, int] = {}
    for row in rows:
        for caption in row.captions if row.id not in broken else ():
            number = counts[row.id] = counts.get(row.id, -1) + 1
            captions.append(f"{row.id}#{number}")
            texts.append(caption)
            judged.append(Judgment(captions[-1], row.id, 1.0, row.where))
    task = RankingTask.build(
        name,
        ItemList(captions, texts, source),
        ItemList(ids, [there[name] for name in ids], source),
        judged,
        split=split,
        ignore_missing=ignore_missing,
    )
    return replace(task, notes=checked.notes, documents_apart=True)
