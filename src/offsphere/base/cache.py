"""Arrays that took long to compute are kept on disk, so that a killed job goes on from them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import OffsphereError
from offsphere.base.files import write_whole

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Memo:
    """Remembers arrays in a folder, a file for each name; without a folder it remembers nothing.

    The folder belongs to one question: its name is a digest of everything that all of its arrays depend on.
    """

    folder: Path | None = None

    def arrays(self, name: str, make: Callable[[], Arrays]) -> dict[str, NDArray[np.generic]]:
        """Read the arrays of that name from disk, or make and keep them where they are missing or damaged.

        Args:
            name: Says all that the arrays depend on besides what the folder's name says, their number included.
            make: Computes the arrays.
        """
        if self.folder is None:
            return dict(make())
        path = self.folder / f"{name}.npz"
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
        except (OSError, ValueError, BadZipFile, KeyError, EOFError):
            arrays = dict(make())
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, buffer.getvalue())
        except (OSError, OffsphereError):
            pass  # what cannot be kept is computed again next time
        return arrays


def cache_home() -> Path:
    """The folder for what is kept when nobody says where: offsphere, in ``$XDG_CACHE_HOME`` or in ``~/.cache``.

    It is the same on every system, as are the caches of models (huggingface, torch) that lie beside it.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "offsphere"
