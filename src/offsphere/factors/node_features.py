"""Features of the nodes of a graph, beside its edges: a row a node, in the order of the nodes, of any real numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.npy_files import read_npy
from offsphere.base.reading.npz_files import npz_names, read_npz

NAME = "features"


def find_features(folder: Path) -> Vectors | None:
    """The features in a folder, ``features.npz`` (an array of that name, or the only one) or ``features.npy``.

    Returns:
        The features as float32; nothing where there are none.

    Raises:
        DataError: There are two files, or a file that holds something else than a row of finite numbers a node.
    """
    files = [folder / f"{NAME}{suffix}" for suffix in (".npz", ".npy") if is_there(folder / f"{NAME}{suffix}")]
    if len(files) > 1:
        raise DataError(f"{folder} has {files[0].name} and {files[1].name}: keep the one to use")
    if not files:
        return None
    path = files[0]
    if path.suffix == ".npy":
        rows = read_npy(path)
    else:
        names = npz_names(path)
        name = NAME if NAME in names else names[0] if len(names) == 1 else None
        if name is None:
            raise DataError(f"{path} holds {', '.join(names) or 'nothing'}: name the array {NAME!r}")
        rows = read_npz(path, [name])[name]
    if rows.ndim != 2 or rows.dtype.kind not in "fiub":  # noqa: PLR2004
        raise DataError(f"{path} holds {rows.dtype} of shape {rows.shape}: expected a row of numbers a node")
    numbers = rows.astype(np.float32)
    bad = np.flatnonzero(~np.isfinite(numbers).all(axis=1))
    if len(bad):
        raise DataError(f"{path}: row {int(bad[0])} is not finite: mend it, or leave the node out")
    return numbers
