"""States in files: a JSON description with its digest, and the numbers in a safetensors file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from offsphere.base.cores import available_cores, in_order
from offsphere.base.errors import DataError
from offsphere.base.merging import Merging
from offsphere.base.plain import plain
from offsphere.base.reading.records import record_of
from offsphere.base.reading.safetensors_files import read_tensors
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.shards.compare_question import CompareOptions, CompareQuestion
from offsphere.shards.compare_state import CompareState, check_lists
from offsphere.shards.divided_task import TaskFacts
from offsphere.shards.fit_state import FitState
from offsphere.shards.measure_state import MeasureState
from offsphere.shards.origin import Origin
from offsphere.shards.state_checks import (
    COMPARE,
    FIT,
    MEASURE,
    check_arrays,
    check_kept_rows,
    check_origin,
    check_question,
)

State = FitState | CompareState | MeasureState
READERS = 2  # threads that read states
PARTS = ("origin", "options", "facts")  # of the description; that of a comparison has the last two
KINDS = {FitState: "fit", CompareState: "compare", MeasureState: "measure"}


def state_path(path: Path) -> Path:
    """The description of a state that somebody named, with or without its ending."""
    return path if path.suffix == ".json" else path.with_name(f"{path.name}.json")


def write_state(path: Path, state: State) -> Path:
    """Write a state, whole or not at all.

    Args:
        path: The description; the numbers lie beside it, under the same name with the ending ``.safetensors``.
        state: What a shard, or several, left.

    Returns:
        The path of the description.

    Raises:
        OffsphereError: It cannot be written.
    """
    from safetensors.numpy import save

    path = state_path(path)
    values = {"kind": KINDS[type(state)], "origin": plain(asdict(state.origin))}
    if isinstance(state, CompareState):
        values |= state.question.values()
        fits = state.origin.documents <= np.iinfo(np.int32).max  # half the bytes to write, to hash and to read again
        documents = state.documents.astype(np.int32) if fits else state.documents
        arrays = state.question.arrays() | {"documents": documents, "keys": state.keys}
    else:
        arrays = state.arrays()
    numbers = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    write_sealed(path, values, {path.with_suffix(".safetensors").name: numbers})
    return path


def read_state(path: Path) -> State:
    """Read a state, and check that it is what was written.

    Raises:
        DataError: It is missing, damaged, or no state.
    """
    path = state_path(path)
    values = read_sealed(path)
    kind = values.get("kind")
    if kind not in KINDS.values():
        raise DataError(f"{path} is no state: offsphere compare --shard 1/7 --state FILE makes one")
    lacking = [name for name in PARTS if name not in values and (kind == "compare" or name == "origin")]
    if lacking:
        raise DataError(f"{path} is no state of this version: it lacks {lacking[0]!r}: make it again")
    origin = check_origin(record_of(Origin, values["origin"], f"{path}, 'origin'"), path)
    arrays = read_tensors(path.with_suffix(".safetensors"))
    if kind == "fit":
        check_arrays(path, arrays, FIT)
        return FitState.from_arrays(origin, arrays)
    if kind == "measure":
        check_arrays(path, arrays, MEASURE if arrays else {})
        return check_kept_rows(MeasureState.from_arrays(origin, arrays), path)
    check_arrays(path, arrays, COMPARE)
    options = record_of(CompareOptions, values["options"], f"{path}, 'options'")
    facts = record_of(TaskFacts, values["facts"], f"{path}, 'facts'")
    question = check_question(CompareQuestion.from_arrays(options, facts, arrays), origin, path)
    return check_lists(CompareState(origin, question, arrays["documents"].astype(np.int64), arrays["keys"]))


def merge_files(paths: Sequence[Path]) -> State:
    """Read states in their order and merge them in a tree: of n states the logarithm of n are in memory.

    While some are merged, threads read the next few and compare them with their digests.

    Args:
        paths: Of the states, in any order.

    Returns:
        The merged state.

    Raises:
        DataError: One cannot be read, is of another question than the others, or has a shard that another has too.
    """
    merging = Merging[_NamedState]()
    states = in_order(read_state, ((path,) for path in paths), min(available_cores(), READERS))
    for path, state in zip(paths, states, strict=True):
        merging.add(_NamedState(state, str(state_path(path))))
    merged = merging.result()
    assert merged is not None  # whoever merges names at least one
    return merged.state


@dataclass(frozen=True, slots=True)
class _NamedState:
    """A state, and the first of the files that it was read from."""

    state: State
    name: str

    def merge(self, other: _NamedState) -> _NamedState:
        """Merge two states; what does not belong together is told by the names of the files."""
        if type(other.state) is not type(self.state):
            mine, others = (KINDS[type(named.state)] for named in (self, other))
            raise DataError(f"{other.name} is a state of {others}, {self.name} one of {mine}")
        return _NamedState(self.state.merge(cast("Any", other.state), other.name), self.name)
