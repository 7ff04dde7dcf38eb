"""Arrays that took long to compute are kept on disk, so that a killed job goes on from them.

Keys are made by those who ask: the folder of a question by ``question_memo`` in ``question_cache.py``, from a digest of
task, vectors and options; the name of an entry by the evaluator or the row that computes it, from what else it depends
on. Nothing here knows whether a key is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Arrays
from offsphere.base.digests import array_pieces, digest_of
from offsphere.base.errors import OffsphereError
from offsphere.base.files import write_whole
from offsphere.base.reading.npz_files import npz_bytes, read_npz

DIGEST = "digest of all the others"  # the array that says what the others should be


@dataclass(frozen=True, slots=True)
class Memo:
    """Remembers arrays in a folder, a file for each name; without a folder it remembers nothing.

    The folder belongs to one question: its name is a digest of everything that all of its arrays depend on. An entry
    carries a digest of its question, its name and its arrays: one that is damaged, or was made for something else, is
    made again.

    Args:
        folder: Where entries are; nothing for a memo that forgets.
        most: Bytes that the folder may hold; what goes beyond is not kept.
    """

    folder: Path | None = None
    most: int | None = None

    def arrays(self, name: str, make: Callable[[], Arrays]) -> dict[str, NDArray[np.generic]]:
        """Read the arrays of that name from disk, or make and keep them where they are missing or damaged.

        Args:
            name: Says all that the arrays depend on besides what the folder's name says, their number included.
            make: Computes the arrays.

        Returns:
            The arrays by name.
        """
        if self.folder is None:
            return dict(make())
        path = self.folder / f"{name}.npz"
        kept = self._read(path)
        if kept is not None:
            return kept
        arrays = dict(make())
        with suppress(OSError, OffsphereError):  # what cannot be kept is computed again next time
            self._keep(path, arrays)
        return arrays

    def _read(self, path: Path) -> dict[str, NDArray[np.generic]] | None:
        """The arrays of a file whose digest says that they are what was kept there; nothing where it does not."""
        if not path.exists():
            return None
        try:
            arrays = read_npz(path)
        except OffsphereError:
            return None
        digest = arrays.pop(DIGEST, None)
        same = digest is not None and digest.shape == () and str(digest) == _digest(path, arrays)
        return arrays if same else None

    def _keep(self, path: Path, arrays: dict[str, NDArray[Any]]) -> None:
        """Write an entry, where the folder has room for it."""
        content = npz_bytes(**arrays, **{DIGEST: np.array(_digest(path, arrays))})
        if self.most is not None and bytes_in(path.parent) + len(content) > self.most:
            return
        write_whole(path, content)


def bytes_in(folder: Path) -> int:
    """How many bytes the files below a folder have; those that vanish meanwhile have none."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_size if path.is_file() else 0
    return total


def _digest(path: Path, arrays: Arrays) -> str:
    """A digest of what an entry is for and what it holds."""
    return digest_of([path.parent.name.encode(), path.stem.encode(), *array_pieces(arrays)])
