"""What cannot be written is noticed before the work, not after."""

from __future__ import annotations

import tempfile
from pathlib import Path

from offsphere.base.errors import OffsphereError
from offsphere.base.files import regular_target


def check_writable(target: Path) -> None:
    """Refuse a file that cannot be written; its folder is made if it is not there."""
    try:
        folder = regular_target(target).parent
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # it has no name, so that a kill leaves none
    except OSError as error:
        raise OffsphereError(f"cannot write {target}: {error.strerror}: choose another place") from error
