"""Images inside the page: small, of bounded size, drawn from their pixels so that nothing else of a file gets in."""

from __future__ import annotations

import base64
from io import BytesIO

from offsphere.base.errors import OffsphereError
from offsphere.data.image import Image

SIDE = 96  # pixels of the longer side
QUALITIES = (80, 60, 30)  # of the JPEG: the first that is small enough
MOST = 12_000  # bytes of a picture in the page, before base64 makes a third more of them


def thumbnail(image: Image | None, side: int = SIDE, most: int = MOST) -> str:
    """Draw an image small, as an address that carries the picture itself.

    Args:
        image: What to show.
        side: How long its longer side is, in pixels.
        most: Bytes that it may take, as far as a poorer quality brings it there.

    Returns:
        ``data:image/jpeg;base64,...``; empty where there is no image, or where it cannot be read any more.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.image import Image
        >>> from offsphere.report.thumbnails import thumbnail
        >>> thumbnail(Image.of(np.zeros((500, 9), np.uint8)))[:23]
        'data:image/jpeg;base64,'
    """
    if image is None:
        return ""
    try:
        picture = image.picture()
    except OffsphereError:  # its name is shown all the same
        return ""
    picture.thumbnail((side, side))
    for quality in QUALITIES:
        stream = BytesIO()
        picture.save(stream, "JPEG", quality=quality)
        if stream.tell() <= most:
            break
    return f"data:image/jpeg;base64,{base64.b64encode(stream.getvalue()).decode()}"
