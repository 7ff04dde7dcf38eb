"""Files appear whole or not at all: they are written beside their place, flushed to disk, and renamed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from offsphere.base.errors import OffsphereError


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, in one step, whether it was there before or not; its folder is made where there is none."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise OffsphereError(f"cannot write {path}: {error.strerror}: choose another folder") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(beside).chmod(0o644)
        Path(beside).replace(path)
    except OSError as error:
        Path(beside).unlink(missing_ok=True)
        raise OffsphereError(f"cannot write {path}: {error.strerror}: nothing was changed") from error
