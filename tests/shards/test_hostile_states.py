"""States whose digests are right and whose contents no shard leaves: one line, before anything is computed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save

from offsphere import RankingTask, RankingVectors
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.shards.compare_question import CompareOptions
from offsphere.shards.measure_state import VectorFacts, measure_shard
from offsphere.shards.merged_evaluator import compared
from offsphere.shards.shard import Shard
from offsphere.shards.state_files import KINDS, read_state, write_state
from tests.shards.sharded import fit_states, merged, search_states

ROWS = np.random.default_rng(0).standard_normal((40, 4)).astype(np.float32)
CHANGES = {
    "missing": lambda array: None,
    "flat": lambda array: array.ravel() if array.ndim > 1 else array[:, None],
    "longer": lambda array: np.concatenate([array, array[:1]]),
    "narrower": lambda array: array[..., :-1],
    "of bytes": lambda array: np.zeros(array.shape, np.int8 if array.dtype.kind == "f" else np.float32),
    "no numbers": lambda array: np.full(array.shape, np.nan, array.dtype) if array.dtype.kind == "f" else None,
}


@pytest.fixture(scope="module")
def states():
    """A state of each kind."""
    judged = {f"q{query}": {f"d{query}": 1, f"d{query + 9}": 2} for query in range(9)}
    task = RankingTask.from_judgments(judged, [f"d{row}" for row in range(40)])
    fitted = fit_states(task, ROWS, 1)
    vectors = RankingVectors(ROWS[:9] + 1, ROWS)
    (first,) = search_states(task, vectors, 1, merged(fitted), CompareOptions(scorers=["dot", "cosine"]))
    measured = measure_shard(VectorFacts("v.npy", *ROWS.shape, None), Shard(1, 1), ROWS)
    return {KINDS[type(state)]: state for state in (fitted[0], first, measured)}


def rewritten(path, change_values=lambda values: values, change_arrays=lambda arrays: arrays):
    """Write a state again, changed, with digests that are right."""
    values, beside = read_sealed(path), path.with_suffix(".safetensors")
    numbers = save({name: np.ascontiguousarray(array) for name, array in change_arrays(load_file(beside)).items()})
    write_sealed(path, change_values(values), {beside.name: numbers})


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["fit", "compare", "measure"])
def test_arrays_of_other_types_and_shapes_are_refused(tmp_path, states, kind, change):
    path = write_state(tmp_path / "state", states[kind])
    whole = load_file(path.with_suffix(".safetensors"))
    content = path.read_bytes(), path.with_suffix(".safetensors").read_bytes()
    for name, array in whole.items():
        changed = CHANGES[change](array)
        if changed is not None and changed.shape == array.shape and changed.dtype == array.dtype and changed.size == 0:
            continue  # nothing is nothing
        arrays = {**whole, name: changed} if changed is not None else {one: whole[one] for one in whole if one != name}
        if set(arrays) == set(whole) and np.array_equal(arrays[name], array) and arrays[name].dtype == array.dtype:
            continue
        rewritten(path, change_arrays=lambda _, arrays=arrays: arrays)
        if (name, change) == ("queries", "narrower"):  # which a learned map could make as wide as documents
            with pytest.raises(OffsphereError):
                compared(read_state(path))
        else:
            with pytest.raises(DataError, match=r"state\.json"):
                read_state(path)
        path.write_bytes(content[0])
        path.with_suffix(".safetensors").write_bytes(content[1])
    assert read_state(path).origin == states[kind].origin


@pytest.mark.parametrize("kind", ["fit", "compare", "measure"])
@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("origin", None),
        ("shards", 0),
        ("shards", 1 << 62),
        ("documents", -1),
        ("parts", {"x": "a"}),
        ("parts", {"9" * 5_000: "a"}),
        ("parts", {"3": "a"}),
        ("parts", {"²": "a"}),
    ],
    ids=str,
)
def test_shards_that_there_cannot_be_are_refused(tmp_path, states, kind, part, value):
    path = write_state(tmp_path / "state", states[kind])

    def change(values):
        if part == "origin":
            return {name: values[name] for name in values if name != "origin"}
        return {**values, "origin": {**values["origin"], part: value}}

    rewritten(path, change)
    with pytest.raises(DataError, match=r"state\.json"):
        read_state(path)


@pytest.mark.parametrize("name", ["options", "facts"])
def test_a_comparison_without_its_question_is_refused(tmp_path, states, name):
    path = write_state(tmp_path / "state", states["compare"])
    rewritten(path, lambda values: {one: values[one] for one in values if one != name})
    with pytest.raises(DataError, match=f"lacks '{name}'"):
        read_state(path)


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("judgments.queries", 9),
        ("judgments.queries", -1),
        ("judgments.documents", 40),
        ("documents", 40),
        ("documents", -2),
    ],
)
def test_numbers_of_what_is_not_there_are_refused(tmp_path, states, name, number):
    path = write_state(tmp_path / "state", states["compare"])

    def change(arrays):
        arrays[name].flat[0] = number
        return arrays

    rewritten(path, change_arrays=change)
    with pytest.raises(DataError, match="beyond the"):
        read_state(path)


@pytest.mark.parametrize("labels", [[["a"] * 8], [["a"] * 9, ["b"] * 9]])
def test_groups_of_other_queries_are_refused(tmp_path, states, labels):
    path = write_state(tmp_path / "state", states["compare"])
    rewritten(
        path, lambda values: {**values, "facts": {**values["facts"], "group_names": ["half"], "group_labels": labels}}
    )
    with pytest.raises(DataError, match=r"its question is of other queries|its groups have no names"):
        read_state(path)


@pytest.mark.parametrize("kind", ["fit", "compare", "measure"])
def test_a_state_comes_back(tmp_path, states, kind):
    path = write_state(tmp_path / "state", states[kind])
    assert json.loads(path.read_bytes())["kind"] == kind
    assert write_state(tmp_path / "again", read_state(path)).with_suffix(".safetensors").read_bytes() == (
        path.with_suffix(".safetensors").read_bytes()
    )
