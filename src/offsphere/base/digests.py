"""Digests: short names for contents, by which things are known again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from offsphere.base.errors import OffsphereError


def digest_of(parts: Iterable[bytes]) -> str:
    """One short digest of several pieces, unambiguous where one ends and the next begins."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:24]


def digest_of_texts(texts: Iterable[str]) -> str:
    """A digest of texts in their order, unambiguous where one ends and the next begins."""
    digest = hashlib.sha256()
    for text in texts:
        content = text.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def digest_of_files(paths: Sequence[Path]) -> str:
    """One digest of several files."""
    digest = hashlib.sha256()
    try:
        for path in paths:
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    except OSError as error:
        raise OffsphereError(f"cannot read {error.filename}: {error.strerror}") from error
    return digest.hexdigest()[:16]
