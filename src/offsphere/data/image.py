"""An image as an item: a file, its bytes or an array of pixels, read when it is needed and known by its content."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import sha256_of
from offsphere.base.reading.picture_files import picture_of_pixels, read_picture, to_rgb

if TYPE_CHECKING:
    from PIL.Image import Image as Picture


@dataclass(frozen=True, eq=False)
class Image:
    """A picture to encode. Two are equal where their files, or their pixels, are equal byte by byte.

    Attributes:
        source: A file, pixels (height, width) or (height, width, colours), or a function that gives a file's bytes.
        name: What tables and errors call it.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> image = osp.Image.of(np.zeros((2, 3), np.uint8), "a black one")
        >>> image
        Image(a black one)
        >>> image.pixels().shape
        (2, 3, 3)
        >>> image == osp.Image.of(np.zeros((2, 3), np.uint8)), image == osp.Image.of(np.ones((2, 3), np.uint8))
        (True, False)
    """

    source: Path | NDArray[Any] | Callable[[], bytes] = field(repr=False)
    name: str = "an image"

    @classmethod
    def of(cls, value: Any, name: str | None = None) -> Image:
        """Make an image of a path, a picture of Pillow, or an array. A string is a text and never a path.

        Args:
            value: A ``pathlib.Path``, a ``PIL.Image.Image``, an array of uint8, or an image.
            name: What tables and errors call it; the file's name where nobody says.

        Returns:
            The image; a file is read when it is needed.

        Raises:
            DataError: It is something else.

        Example:
            >>> from pathlib import Path
            >>> import offsphere as osp
            >>> osp.Image.of(Path("photos/cat.jpg")).name
            'cat.jpg'
        """
        if isinstance(value, Image):
            return value
        if isinstance(value, Path):
            return cls(value, name or value.name)
        if isinstance(value, np.ndarray):
            return cls(value, name or "an image")
        if hasattr(value, "has_transparency_data"):  # a picture of Pillow, which may not be installed
            return cls(np.asarray(to_rgb(value, name or "an image")), name or "an image")
        raise DataError(
            f"a {type(value).__name__} is no image: give a pathlib.Path, a Pillow image or an array of uint8"
        )

    @cached_property
    def digest(self) -> str:
        """A digest of the file's bytes, or of the pixels: equal for equal images."""
        if isinstance(self.source, Path):
            return sha256_of(self.source)
        if isinstance(self.source, np.ndarray):
            digest = hashlib.sha256(f"{self.source.dtype.str} {self.source.shape}".encode())
            digest.update(self.source.tobytes())
            return digest.hexdigest()
        return hashlib.sha256(self.source()).hexdigest()

    @property
    def where(self) -> str:
        """What an error calls it: the whole path of a file, else its name."""
        return str(self.source) if isinstance(self.source, Path) else self.name

    @property
    def encoded(self) -> Path | bytes | None:
        """The file or its bytes; nothing where there are pixels alone."""
        if isinstance(self.source, np.ndarray):
            return None
        return self.source if isinstance(self.source, Path) else self.source()

    def picture(self) -> Picture:
        """Decode it: Pillow's picture of mode RGB, turned as its camera was held, transparency laid on white."""
        if isinstance(self.source, np.ndarray):
            return picture_of_pixels(self.source, self.where)
        return read_picture(self.source if isinstance(self.source, Path) else self.source(), self.where)

    def pixels(self) -> NDArray[np.uint8]:
        """Decode it: an array (height, width, 3) of uint8."""
        return np.asarray(self.picture())

    def as_plain(self) -> str:
        """What JSON says of it: its name."""
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Image) and (self is other or self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Image({self.name})"
