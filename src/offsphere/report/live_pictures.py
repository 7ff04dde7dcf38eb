"""Images beside the lists that the page ranks again: tiny, and as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence

from offsphere.data.image import Image
from offsphere.report.thumbnails import thumbnail

SHARE = 0.3  # of the room, where there are images
SIDE, MOST = 48, 1_500  # pixels of the longer side, and bytes


def live_pictures(images: Sequence[Image | None], room: int) -> list[str]:
    """Draw images, the first ones first, until the room is full; the name is shown all the same where one is not.

    Args:
        images: What to draw; nothing where there is no image, or it is never seen.
        room: Bytes that all of them may take in the page.

    Returns:
        An address that carries the picture for each; empty where nothing is drawn.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.image import Image
        >>> from offsphere.report.live_pictures import live_pictures
        >>> image = Image.of(np.zeros((500, 9), np.uint8))
        >>> [address[:15] for address in live_pictures([image, None, image], room=1_000)]
        ['data:image/jpeg', '', '']
    """
    drawn, left = [], room
    for image in images:
        address = thumbnail(image, SIDE, MOST) if image is not None and left > 0 else ""
        drawn.append(address if len(address) <= left else "")
        left -= len(address)
    return drawn
