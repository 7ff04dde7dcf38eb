"""Near-duplicates among texts, by MinHash: texts that share most of their runs of words (Broder 1997).

Which texts are near-duplicates decides which queries a made task has, so these hash functions must not change: other
ones, such as those of datasketch, estimate the same similarities a little differently and keep other texts.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SHINGLE = 4  # words
HASHES, BANDS = 64, 16  # bands of four hashes: pairs that share 80 % of their shingles meet with probability 0.9998
ALIKE = 0.8  # share of equal hashes from which two texts count as one


def first_of_each(texts: Sequence[str]) -> list[int]:
    """The rows of the texts that are no near-duplicate of an earlier one."""
    rng = np.random.default_rng(0)
    mixers = rng.integers(1, 1 << 63, size=(2, HASHES), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    met: dict[tuple[int, bytes], list[int]] = {}
    signatures: list[NDArray[np.uint64]] = []
    kept = []
    for row, text in enumerate(texts):
        signature = _signature(text, mixers)
        signatures.append(signature)
        keys = [(band, hashes.tobytes()) for band, hashes in enumerate(signature.reshape(BANDS, -1))]
        candidates = {earlier for key in keys for earlier in met.get(key, ())}
        if any((signatures[earlier] == signature).mean() >= ALIKE for earlier in candidates):
            continue
        kept.append(row)
        for key in keys:
            met.setdefault(key, []).append(row)
    return kept


def _signature(text: str, mixers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The least value of each of many hash functions over a text's shingles."""
    words = re.findall(r"\w+", text.lower())
    runs = {" ".join(words[start : start + SHINGLE]) for start in range(max(1, len(words) - SHINGLE + 1))}
    codes = np.array([zlib.crc32(run.encode()) for run in runs], np.uint64)
    # multiply-shift: the high bits of a wrapped product
    mixed = (codes[:, None] * mixers[0] + mixers[1]) >> np.uint64(32)
    return np.asarray(mixed.min(axis=0))
