"""Pictures are looked at before a task is made of them: broken ones are named, unusual ones are told of once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.reading.picture_files import CONVERSIONS, check_whole, read_picture_header
from offsphere.data.image import Image


class CheckedPictures(NamedTuple):
    """What was seen: which pictures are broken, by their position, and a sentence for each kind of unusual ones."""

    broken: frozenset[int]
    notes: tuple[str, ...]


def check_pictures(images: Iterable[Image], *, ignore_broken: bool = False) -> CheckedPictures:
    """Look at the beginning of every picture, or decode all of them where broken ones are to be left out.

    Args:
        images: The pictures; arrays of pixels are never broken.
        ignore_broken: Whether to go on without broken ones. To know which, each is decoded here.

    Returns:
        What was seen.

    Raises:
        DataError: One is broken, and nobody said to go on without.

    Example:
        >>> from offsphere.data.image import Image
        >>> from offsphere.data.picture_check import check_pictures
        >>> check_pictures([Image(lambda: b"no picture", "a.jpg")], ignore_broken=True).notes
        ('1 pictures cannot be read and are left out: a.jpg',)
    """
    broken: dict[int, str] = {}
    unusual: Counter[str] = Counter()
    for position, image in enumerate(images):
        try:
            unusual.update(_conversions(image, whole=ignore_broken))
        except DataError:
            if not ignore_broken:
                raise
            broken[position] = image.name
    notes = [f"{unusual[kind]} pictures are {kind}: {what}" for kind, what in CONVERSIONS.items() if unusual[kind]]
    if broken:
        named = ", ".join(list(broken.values())[:3]) + (", ..." if len(broken) > 3 else "")  # noqa: PLR2004
        notes.insert(0, f"{len(broken)} pictures cannot be read and are left out: {named}")
    return CheckedPictures(frozenset(broken), tuple(notes))


def _conversions(image: Image, *, whole: bool) -> tuple[str, ...]:
    source = image.encoded
    if source is None:
        return ()
    header = read_picture_header(source, image.where)
    if whole:
        check_whole(source, image.where)
    return header.converted
