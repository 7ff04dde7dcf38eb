"""Where the user's cache is."""

from __future__ import annotations

import os
from pathlib import Path


def cache_home() -> Path:
    """The folder for what is kept when nobody says where: offsphere, in ``$XDG_CACHE_HOME`` or in ``~/.cache``.

    It is the same on every system, as are the caches of models (huggingface, torch) that lie beside it.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "offsphere"
