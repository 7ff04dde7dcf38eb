"""States in files: a JSON description with its digest, and the numbers in a safetensors file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from offsphere.base.errors import DataError
from offsphere.base.merging import Merging
from offsphere.base.plain import plain
from offsphere.base.reading.records import record_of
from offsphere.base.reading.safetensors_files import read_tensors
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.shards.compare_question import CompareOptions, CompareQuestion, TaskFacts
from offsphere.shards.compare_state import CompareState, check_lists
from offsphere.shards.fit_state import FitState
from offsphere.shards.measure_state import MeasureState
from offsphere.shards.origin import Origin

State = FitState | CompareState | MeasureState
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
        arrays = state.question.arrays() | {"documents": state.documents, "keys": state.keys}
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
    arrays = read_tensors(path.with_suffix(".safetensors"))
    origin = record_of(Origin, values["origin"], f"{path}, 'origin'")
    try:
        if kind == "fit":
            return FitState.from_arrays(origin, arrays)
        if kind == "measure":
            return MeasureState.from_arrays(origin, arrays)
        options = record_of(CompareOptions, values["options"], f"{path}, 'options'")
        facts = record_of(TaskFacts, values["facts"], f"{path}, 'facts'")
        question = CompareQuestion.from_arrays(options, facts, arrays)
        return check_lists(CompareState(origin, question, arrays["documents"], arrays["keys"]))
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise DataError(f"{path} is no state of this version: it lacks {error}: make it again") from error


def merge_files(paths: Sequence[Path]) -> State:
    """Read states one after the other and merge them in a tree: of n states the logarithm of n are in memory.

    Args:
        paths: Of the states, in any order.

    Returns:
        The merged state.

    Raises:
        DataError: One cannot be read, is of another question than the others, or has a shard that another has too.
    """
    merging = Merging[_Named]()
    for path in paths:
        merging.add(_Named(read_state(path), str(state_path(path))))
    merged = merging.result()
    assert merged is not None  # whoever merges names at least one
    return merged.state


@dataclass(frozen=True, slots=True)
class _Named:
    """A state, and the first of the files that it was read from."""

    state: State
    name: str

    def merge(self, other: _Named) -> _Named:
        """Both; what does not belong together is told by the names of the files."""
        if type(other.state) is not type(self.state):
            mine, others = (KINDS[type(named.state)] for named in (self, other))
            raise DataError(f"{other.name} is a state of {others}, {self.name} one of {mine}")
        return _Named(self.state.merge(cast("Any", other.state), other.name), self.name)
