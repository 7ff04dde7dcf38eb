"""Rankings by brute force: every formula in plain numpy, every score of every document, in extended precision.

Nothing of offsphere is imported here. Transforms are computed in float64 from the definitions; scores in numpy's
longest float, with a bound on how far a float64 computation of the same formula may be off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)
LONG = np.longdouble


class Scores(NamedTuple):
    """Of every query with every document: a number that ranks, its error in float64, and the value with its error."""

    keys: np.ndarray
    key_errors: np.ndarray
    values: np.ndarray
    value_errors: np.ndarray


def affine_of(name: str, numbers: list[float], documents: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The matrix and the mean of one transform fitted on float64 documents, and whether data determines them."""
    mean = documents.mean(axis=0)
    centred = documents - mean
    dimension = documents.shape[1]
    if name == "center":
        return np.eye(dimension), mean, True
    if name == "standardize":
        deviation = np.sqrt((centred**2).mean(axis=0))
        scale = np.array([1 / one if one > 0 else 1.0 for one in deviation])
        return np.diag(scale), mean, True
    variances, axes = np.linalg.eigh(centred.T @ centred / len(documents))
    variances, axes = np.maximum(variances, 0)[::-1], axes[:, ::-1]
    if name == "drop-top":
        kept = axes[:, int(numbers[0]) :]
        return kept @ kept.T, mean, _apart(variances, int(numbers[0]))
    strength, *components = numbers
    spread = variances + 1e-6 * variances.mean()
    scale = np.array([one ** (-strength / 2) if one > 0 else 0.0 for one in spread])
    if not components:
        return axes @ np.diag(scale) @ axes.T, mean, True
    return (axes * scale)[:, : int(components[0])], mean, _apart(variances, int(components[0]))


def _apart(variances: np.ndarray, count: int) -> bool:
    """Whether the first so many principal directions are determined by the data, not by rounding."""
    return count >= len(variances) or bool(variances[count - 1] - variances[count] > 1e-2 * variances[0])


def mapped(vectors: np.ndarray, matrix: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors after a transform, and by how much float64 and the last rounding to float32 may move each number."""
    rows, size = (vectors - mean) @ matrix, np.abs(vectors) + np.abs(mean)
    room = size @ np.abs(matrix)
    if np.count_nonzero(matrix) > len(matrix):  # principal directions are known to rounding of the whole matrix
        room = room + 100 * size.sum(axis=1, keepdims=True) * np.abs(matrix).max()
    return rows, np.abs(rows) * 2.0**-23 + 1e-44 + room * (len(matrix) + 8) * 64 * EPSILON


def bank_means(family: str, parameters: tuple[float, ...], bank: np.ndarray, documents: np.ndarray, k: int):
    """For every document the mean of its k largest values with queries of the bank, and by how much it may be off.

    No value counts as zero.
    """
    brute = scores(family, parameters, bank, documents)
    best = -np.sort(-np.where(np.isfinite(brute.values), brute.values, 0), axis=0)[:k]
    return best.mean(axis=0), brute.value_errors.max(axis=0) + 64 * EPSILON * np.abs(best).max(axis=0)


def scores(
    family: str,
    parameters: tuple[float, ...],
    queries: np.ndarray,
    documents: np.ndarray,
    bias: np.ndarray | None = None,
) -> Scores:
    """All scores of float32 vectors under a similarity, with a document bias.

    A query of length zero counts as one of length one wherever a formula divides by its length. A document for which
    the formula divides by zero has no value, and ranks last.
    """
    q, d = queries.astype(LONG), documents.astype(LONG)
    dot = np.einsum("qi,di->qd", q, d)
    a = np.sqrt((q * q).sum(axis=1))[:, None]
    b = np.sqrt((d * d).sum(axis=1))[None, :]
    one = np.where(a > 0, a, 1)
    room = np.einsum("qi,di->qd", np.abs(q), np.abs(d)) * (q.shape[1] + 16) * EPSILON  # of the inner product
    few = 32 * EPSILON
    with np.errstate(all="ignore"):
        cosine, cosine_error = dot / (one * b), room / (one * b) + few
        if family == "polar":
            gq, gd = (LONG(number) for number in parameters)
            scale = one**-gq * b**-gd if gd else one**-gq + 0 * b
            keys = values = dot * scale
            errors = value_errors = room * scale + few * np.abs(values)
        elif family == "euclidean":
            keys, errors = dot - b * b / 2, room + few * b * b
            square, square_error = a * a + b * b - 2 * dot, 2 * room + few * (a * a + b * b)
            values = -np.sqrt(np.maximum(square, 0))
            value_errors = _root_error(square, square_error)
        elif family == "angular":
            keys, errors = cosine, cosine_error
            values, value_errors = -np.arccos(np.clip(cosine, -1, 1)), _arc_error(cosine, cosine_error)
        elif family == "norm-mix":
            alpha = LONG(parameters[0])
            keys = values = alpha * cosine + (1 - alpha) * (one + b)
            errors = value_errors = alpha * cosine_error + few * (one + b)
        elif family == "radial-confidence":
            keys = values = cosine * b / (b + LONG(parameters[0]))
            errors = value_errors = cosine_error * b / (b + LONG(parameters[0])) + few * np.abs(values)
        elif family == "norm-gap":
            weight = LONG(parameters[0])
            keys = values = -(np.abs(one - b) + weight * np.arccos(np.clip(cosine, -1, 1)))
            errors = value_errors = weight * _arc_error(cosine, cosine_error) + few * (one + b)
        else:  # overlap and tanh rise with one ratio
            ratio, error = dot / (a * a + b * b), room / (a * a + b * b) + few
            keys, errors = ratio, error
            values = ratio / (1 - np.abs(ratio)) if family == "overlap" else np.tanh(2 * ratio)
            value_errors = 4 * error
        if bias is not None:
            keys = values = values + bias[None, :]
            errors = value_errors = errors + 64 * EPSILON * np.abs(bias)[None, :]
    undefined = ~np.isfinite(keys) | ((b == 0) & _divides(family, parameters))
    keys, values = (np.where(undefined, -np.inf, part) for part in (keys, values))
    errors, value_errors = (np.where(undefined, 0, part) for part in (errors, value_errors))
    return Scores(keys, errors, values, value_errors)


def _divides(family: str, parameters: tuple[float, ...]) -> bool:
    """Whether a document of length zero has no value."""
    if family == "polar":
        return parameters[1] > 0
    return family in ("angular", "norm-mix", "radial-confidence", "norm-gap")


def _arc_error(cosine: np.ndarray, error: np.ndarray) -> np.ndarray:
    """How far an arc cosine is off when its cosine is: steep near one, where it is a square root."""
    low, high = np.clip(cosine - error, -1, 1), np.clip(cosine + error, -1, 1)
    return np.abs(np.arccos(low) - np.arccos(high)) + 16 * EPSILON


def _root_error(square: np.ndarray, error: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(square + error, 0)) - np.sqrt(np.maximum(square - error, 0))


def misplaced(ranked: np.ndarray, brute: Scores, allowed: np.ndarray | None = None) -> str:
    """What is wrong with a ranking (queries, k): nothing, where no document stands behind a certainly worse one."""
    count = brute.keys.shape[1]
    for query, row in enumerate(ranked):
        if len(set(row.tolist())) != len(row) or row.min(initial=0) < 0 or row.max(initial=0) >= count:
            return f"query {query}: {row.tolist()} are no different documents"
        low = brute.keys[query] - brute.key_errors[query]
        high = brute.keys[query] + brute.key_errors[query]
        behind = np.minimum.accumulate(high[row])[:-1] < low[row][1:]
        if behind.any():
            return f"query {query}: the document at rank {int(np.flatnonzero(behind)[0]) + 1} is behind a worse one"
        others = np.ones(count, np.bool_) if allowed is None else allowed[query].copy()
        others[row] = False
        if len(row) and others.any() and high[row].min() < low[others].max():
            best = int(np.flatnonzero(others)[low[others].argmax()])
            return f"query {query}: document {best} is missing"
    return ""


def misordered(ranked: np.ndarray, kinds: np.ndarray, allowed: np.ndarray | None = None) -> str:
    """What is wrong with the order of equal documents: nothing, where the first of them come out in their order."""
    for query, row in enumerate(ranked):
        for kind in np.unique(kinds[row]):
            members = np.flatnonzero((kinds == kind) & (allowed[query] if allowed is not None else True))
            equals = row[kinds[row] == kind]
            if (equals != members[: len(equals)]).any():
                return f"query {query}: equal documents {members[: len(equals)].tolist()} came as {equals.tolist()}"
    return ""
