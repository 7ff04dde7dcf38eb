"""Arrays that took long to compute, kept on disk: a killed job goes on from them."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from offsphere.base.files import write_whole

Arrays = Mapping[str, NDArray[np.generic]]


@dataclass(frozen=True, slots=True)
class Memo:
    """A folder for the parts of one job; nothing is kept where there is none."""

    folder: Path | None = None

    def arrays(self, name: str, make: Callable[[], Arrays]) -> dict[str, NDArray[np.generic]]:
        """The arrays of that name, from disk where they are there and whole, else made and kept.

        The name must say all that they depend on besides the folder's digest, their number included.
        """
        if self.folder is None:
            return dict(make())
        path = self.folder / f"{name}.npz"
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
                return {key: archive[key] for key in archive.files}
        except (OSError, ValueError, BadZipFile, KeyError, EOFError):
            made = dict(make())
        buffer = io.BytesIO()
        np.savez(buffer, **made)  # type: ignore[arg-type]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, buffer.getvalue())
        except OSError:
            pass  # what cannot be kept is computed again next time
        return made


def cache_home() -> Path:
    """Where things are kept when nobody says where."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "offsphere"
