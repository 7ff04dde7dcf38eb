"""What a state in a file must be before anything is computed with it: its arrays, its shards, its question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Arrays
from offsphere.base.errors import DataError
from offsphere.shards.compare_question import CompareQuestion
from offsphere.shards.measure_state import MeasureState
from offsphere.shards.origin import Origin

Axes = Sequence[int | str]  # lengths, and names for those that must be equal wherever the name stands
FLOATS, WHOLE, KEYS = "f", "i", "u"  # kinds of numpy's types

FIT: Mapping[str, tuple[str, Axes]] = MappingProxyType(
    {
        "nodes": (WHOLE, ["nodes", 2]),
        "counts": (WHOLE, ["nodes", 2]),
        "ranges": (FLOATS, ["nodes", 2]),
        "means": (FLOATS, ["nodes", "width"]),
        "scatters": (FLOATS, ["nodes", "width", "width"]),
    }
)
COMPARE: Mapping[str, tuple[str, Axes]] = MappingProxyType(
    {
        "queries": (FLOATS, ["queries", "width of queries"]),
        "judgments.queries": (WHOLE, ["judgments"]),
        "judgments.documents": (WHOLE, ["judgments"]),
        "judgments.grades": (FLOATS, ["judgments"]),
        "fit.counts": (WHOLE, [2]),
        "fit.range": (FLOATS, [2]),
        "fit.mean": (FLOATS, ["width"]),
        "fit.scatter": (FLOATS, ["width", "width"]),
        "documents": (WHOLE, ["lists", "queries", "length"]),
        "keys": (FLOATS, ["lists", "queries", "length"]),
    }
)
MEASURE: Mapping[str, tuple[str, Axes]] = MappingProxyType(
    {
        "moments.mean": (FLOATS, ["width"]),
        "moments.scatter": (FLOATS, ["width", "width"]),
        "directions.total": (FLOATS, ["width"]),
        "directions.squares": (FLOATS, ["width"]),
        "counts": (WHOLE, [6]),
        "lengths.spread": (FLOATS, [4]),
        "lengths.kept": (FLOATS, ["lengths"]),
        "lengths.bins": (WHOLE, ["bins"]),
        "lengths.counts": (WHOLE, ["bins"]),
        "sample.keys": (KEYS, ["sample"]),
        "sample.rows": (WHOLE, ["sample"]),
        "sample.vectors": (FLOATS, ["sample", "width"]),
    }
)
MOST_SHARDS = 1_000_000
ENDLESS = frozenset({"ranges", "fit.range", "lengths.spread", "keys"})  # where there is none, the least is infinite


def check_arrays(path: Path, arrays: Arrays, expected: Mapping[str, tuple[str, Axes]]) -> None:
    """Refuse arrays that are not those of a state.

    Raises:
        DataError: One is missing or too many, of another type or shape, or holds a number that is none.
    """
    odd = sorted({*arrays} ^ {*expected})
    if odd:
        raise DataError(f"{path} is no state of this version: {odd[0]!r} is missing or unknown: make it again")
    sizes: dict[int | str, int] = {}
    for name, (kind, axes) in expected.items():
        array = arrays[name]
        if array.dtype.kind != kind or array.ndim != len(axes):
            raise DataError(f"{path} is no state of this version: {name!r} is {array.dtype} of shape {array.shape}")
        for axis, size in zip(axes, array.shape, strict=True):
            if sizes.setdefault(axis, axis if isinstance(axis, int) else size) != size:
                raise DataError(
                    f"{path} is damaged: {name!r} has the shape {array.shape}, which does not fit the others"
                )
        finite = ~np.isnan(array) if name in ENDLESS else np.isfinite(array)
        if not finite.all():
            raise DataError(f"{path} is damaged: {name!r} holds what is no number")


def check_kept_rows(state: MeasureState, path: Path) -> MeasureState:
    """Refuse a state that kept other lengths, or rows, than it says that there were.

    Raises:
        DataError: A count is below zero, or others than counted were kept.
    """
    if state.scanned is None:
        return state
    moments, lengths, sample = state.scanned.moments, state.scanned.lengths, state.scanned.sample
    counted = lengths.counts.sum() if len(lengths.bins) else len(lengths.kept)
    seen = {moments.count, lengths.empty + lengths.count, sample.seen}
    if len(seen) > 1 or min(lengths.empty, lengths.count, sample.size) < 0 or counted != lengths.count:
        raise DataError(f"{path} is damaged: it kept other lengths or rows than it counted")
    return state


def check_origin(origin: Origin, path: Path) -> Origin:
    """Refuse shards that there cannot be.

    Raises:
        DataError: There are none or too many, or one is not among them.
    """
    digits = len(str(MOST_SHARDS))
    numbered = [name.isascii() and name.isdecimal() and len(name) <= digits for name in origin.parts]
    if not 0 < origin.shards <= MOST_SHARDS or origin.documents < 0 or not all(numbered):
        raise DataError(f"{path} is damaged: it is of {origin.shards} shards of {origin.documents} documents")
    if any(not 1 <= int(number) <= origin.shards for number in origin.parts):
        raise DataError(f"{path} is damaged: it names a shard beyond the {origin.shards} that there are")
    return origin


def check_question(question: CompareQuestion, origin: Origin, path: Path) -> CompareQuestion:
    """Refuse a question whose parts are not of the same queries and documents.

    Raises:
        DataError: Judgments or groups are of other queries, or documents, than there are.
    """
    judged, units = question.judgments, len(question.queries)
    for numbers, count, what in ((judged.queries, units, "query"), (judged.documents, origin.documents, "document")):
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < count:
            raise DataError(f"{path} is damaged: it judges a {what} beyond the {count:,} that there are")
    counts = {units, question.facts.units, *(len(labels) for labels in question.facts.group_labels)}
    if len(counts) > 1 or question.fit.moments.count != origin.documents:
        raise DataError(f"{path} is damaged: its question is of other queries or documents than its lists")
    if len(question.facts.group_names) != len(question.facts.group_labels):
        raise DataError(f"{path} is damaged: its groups have no names")
    return question
