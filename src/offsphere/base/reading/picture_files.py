"""Pictures, read as eight bits of red, green and blue: files of the usual formats, their bytes, and arrays of pixels.

A picture comes from anywhere, so only formats are read whose decoders run inside Pillow, nothing larger than Pillow's
limit is decoded, and what is broken is one line that names it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import DataError, MissingExtraError, first_line
from offsphere.base.reading.file_access import open_file

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

# EPS would run another program, and others are read by nobody who has photos
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "JPEG2000", "AVIF", "ICO", "TGA")
SUFFIXES = frozenset({
    ".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".pgm", ".jp2", ".avif", ".ico", ".tga"
})  # fmt: skip
DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N")  # sixteen bits of grey; Pillow's own conversion would cut them off
ANIMATED, PRINTED, SIXTEEN, TRANSPARENT = "animated", "CMYK", "16-bit", "transparent"
CONVERSIONS = {
    ANIMATED: "their first frame is taken",
    PRINTED: "they are converted to RGB",
    SIXTEEN: "their upper eight bits are taken",
    TRANSPARENT: "they are laid on white",
}


class PictureHeader(NamedTuple):
    """What a picture says of itself before it is decoded."""

    width: int
    height: int
    converted: tuple[str, ...]  # what must be done to it: keys of CONVERSIONS


def read_picture(source: Path | bytes, name: str) -> Picture:
    """Decode a picture to RGB, turned as its camera was held, without transparency, and its first frame only.

    Args:
        source: The file, or its bytes.
        name: What errors call it.

    Returns:
        Pillow's picture of mode RGB, in memory.

    Raises:
        DataError: It is no picture, is truncated, has more pixels than Pillow allows, or pixels that are no colours.
        MissingExtraError: Pillow is not installed.

    Example:
        >>> from io import BytesIO
        >>> from PIL import Image
        >>> file = BytesIO()
        >>> Image.new("LA", (2, 1), (0, 0)).save(file, "PNG")
        >>> read_picture(file.getvalue(), "a clear one").getpixel((0, 0))
        (255, 255, 255)
    """
    from PIL import ImageOps

    with _opened(source, name) as picture:
        turned = ImageOps.exif_transpose(picture)
        return to_rgb(turned if turned is not None else picture, name)


def read_picture_header(source: Path | bytes, name: str) -> PictureHeader:
    """Look at what a picture is without decoding it; a file that is cut off later looks fine here.

    Args:
        source: The file, or its bytes.
        name: What errors call it.

    Returns:
        Its size, and what will be done to it when it is read.

    Raises:
        DataError: It is no picture, or has more pixels than Pillow allows.
    """
    with _opened(source, name) as picture:
        return PictureHeader(picture.width, picture.height, tuple(_conversions(picture)))


def check_whole(source: Path | bytes, name: str) -> None:
    """Decode a picture, of a photo as small as its format allows, to see that nothing of it is missing."""
    with _opened(source, name) as picture:
        picture.draft("L", (1, 1))  # a JPEG is read to its end all the same
        picture.load()


def picture_of_pixels(pixels: NDArray[Any], name: str) -> Picture:
    """Make a picture of an array: (height, width), or with 1, 3 or 4 colours last, of uint8 or uint16.

    Args:
        pixels: The array; four colours are red, green, blue and opacity.
        name: What errors call it.

    Returns:
        Pillow's picture of mode RGB.

    Raises:
        DataError: The array has another shape or type.

    Example:
        >>> import numpy as np
        >>> picture_of_pixels(np.full((2, 3), 9, np.uint8), "grey").getpixel((2, 1))
        (9, 9, 9)
    """
    with _pillow():
        from PIL import Image
    shape, array = pixels.shape, np.asarray(pixels)
    if array.dtype == np.uint16:
        array = (array >> 8).astype(np.uint8)
    if array.dtype != np.uint8:
        raise DataError(f"{name}: pixels are of {array.dtype}, expected uint8 (0 to 255): scale and round them")
    if array.ndim == 3 and shape[2] == 1:  # noqa: PLR2004
        array = array[:, :, 0]
    if not (array.ndim == 2 or (array.ndim == 3 and shape[2] in (3, 4))) or not array.size:  # noqa: PLR2004
        raise DataError(
            f"{name}: an array of shape {shape} is no picture: expected (height, width), or with 1, 3 or 4 colours last"
        )
    return to_rgb(Image.fromarray(np.ascontiguousarray(array)), name)


def to_rgb(picture: Picture, name: str) -> Picture:
    """Convert a picture of any mode: what is clear becomes white, sixteen bits become eight."""
    from PIL import Image

    if picture.mode in DEEP:
        deep = np.asarray(picture).astype(np.int64)
        picture = Image.fromarray(np.clip(deep >> 8, 0, 255).astype(np.uint8))
    if picture.mode == "F":
        raise DataError(f"{name}: its pixels are fractions, whose scale nobody knows: save it with 8 or 16 bits")
    if picture.has_transparency_data:
        clear = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear)
    return picture.convert("RGB")


def _conversions(picture: Picture) -> Iterator[str]:
    if getattr(picture, "is_animated", False):
        yield ANIMATED
    if picture.mode == "CMYK":
        yield PRINTED
    if picture.mode in DEEP:
        yield SIXTEEN
    if picture.has_transparency_data:
        yield TRANSPARENT


@contextmanager
def _opened(source: Path | bytes, name: str) -> Iterator[Picture]:
    """Open a picture; whatever its decoder raises, also while the caller decodes it, is one line with its name."""
    with _pillow():
        from PIL import Image, UnidentifiedImageError
    with BytesIO(source) if isinstance(source, bytes) else open_file(source) as stream, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damaged descriptions beside the pixels
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(stream, formats=FORMATS) as picture:
                yield picture
        except DataError:
            raise
        except UnidentifiedImageError as error:
            raise DataError(
                f"{name} is no picture that can be read: go on without such with --ignore-broken"
            ) from error
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise DataError(
                f"{name} is refused: it claims more than {Image.MAX_IMAGE_PIXELS:,} pixels, Pillow's limit against "
                "files that fill the memory: make it smaller, or go on without such with --ignore-broken"
            ) from error
        except Exception as error:  # decoders raise every kind
            raise DataError(
                f"{name} is truncated or damaged ({first_line(error)}): go on without such with --ignore-broken"
            ) from error


@contextmanager
def _pillow() -> Iterator[None]:
    """Say how to get Pillow where it is missing."""
    try:
        yield
    except ImportError as error:
        raise MissingExtraError("pillow", "images") from error
