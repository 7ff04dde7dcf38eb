"""Slow and plain float64 ways to compute what offsphere computes fast."""

from __future__ import annotations

import numpy as np

FORMULAS = {
    "cosine": lambda p, a, b: p / (a * b),
    "dot": lambda p, a, b: p,
    "query-normalized": lambda p, a, b: p / a,
    "document-normalized": lambda p, a, b: p / b,
    "half": lambda p, a, b: p / np.sqrt(a * b),
    "polar(1, 1.5)": lambda p, a, b: p / (a * b**1.5),
    "polar(1, -0.5)": lambda p, a, b: p / a * np.sqrt(b),
    "euclidean": lambda p, a, b: -np.sqrt(np.maximum(a * a + b * b - 2 * p, 0)),
    "angular": lambda p, a, b: -np.arccos(np.clip(p / (a * b), -1, 1)),
    "norm-mix(0.8)": lambda p, a, b: 0.8 * p / (a * b) + 0.2 * (a + b),
    "log-prior(0.2)": lambda p, a, b: p / (a * b) + 0.2 * np.log(b),
    "log-prior(-0.4)": lambda p, a, b: p / (a * b) - 0.4 * np.log(b),
    "norm-gap(2)": lambda p, a, b: -(np.abs(a - b) + 2 * np.arccos(np.clip(p / (a * b), -1, 1))),
    "overlap": lambda p, a, b: p / (a * a + b * b - np.abs(p)),
    "tanh": lambda p, a, b: np.tanh(2 * p / (a * a + b * b)),
    "radial-confidence(3)": lambda p, a, b: p / (a * b) * (b / (b + 3)),
}


def values(name: str, queries: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """Every query's value with every document; minus infinity where undefined, queries of no length as length 1."""
    q, d = queries.astype(np.float64), documents.astype(np.float64)
    a, b = np.sqrt((q**2).sum(axis=1))[:, None], np.sqrt((d**2).sum(axis=1))[None, :]
    if name not in ("dot", "document-normalized", "euclidean", "overlap", "tanh"):
        a = np.where(a > 0, a, 1.0)
    with np.errstate(all="ignore"):
        full = FORMULAS[name](q @ d.T, a, b)
    if name not in ("dot", "query-normalized", "euclidean", "overlap", "tanh", "polar(1, -0.5)"):
        full = np.where(b > 0, full, -np.inf)
    return np.where(np.isnan(full), -np.inf, full)


def top(full: np.ndarray, k: int) -> np.ndarray:
    """The k best of each row, ties by column."""
    return np.argsort(-full, axis=1, kind="stable")[:, :k]
