"""The version of the package, and of the code as it lies on disk."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"


def code_version() -> bytes:
    """The version and the time of the last change to the code, for names of caches: other code computes anew."""
    newest = max(path.stat().st_mtime_ns for path in Path(__file__).parents[1].rglob("*.py"))
    return f"{__version__} {newest}".encode()
