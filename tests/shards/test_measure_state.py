from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import offsphere.geometry.length_distribution as lengths_spread
from offsphere import measure
from offsphere.base.errors import DataError, OffsphereError, ParameterError, VectorError
from offsphere.data.vector_files import VectorFile, take_rows
from offsphere.shards.measure_state import SECTIONS, VectorFacts, measure_shard, measured, shard_rows
from offsphere.shards.shard import Shard
from offsphere.shards.state_files import merge_files, write_state
from tests.cli.running import printed, run_here
from tests.shards.sharded import merged


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    rows = rng.normal(0.3, [1, 2, 1, 0.2, 3], (30_000, 5)) * rng.lognormal(0, 0.5, (30_000, 1))
    rows[[4, 20_000]] = 0
    return rows.astype(np.float32)


def states_of(rows, count, seed=0):
    file = VectorFile(Path("vectors.npy"), rows, None)
    facts, shards = VectorFacts.of(file), [Shard(number, count) for number in range(1, count + 1)]
    return [measure_shard(facts, shard, take_rows(file, shard_rows(facts, shard)), seed) for shard in shards]


def assert_close(one, other):
    """The same structure, the same words, and numbers to 1e-10."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for name in one:
            if name != "sentence":
                assert_close(one[name], other[name])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_close(left, right)
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-10, abs=1e-10, nan_ok=True)
    else:
        assert one == other


@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_shards_tell_what_one_pass_tells(rows, count):
    whole = measure(rows, sections=list(SECTIONS)).to_json()
    assert_close(measured(merged(states_of(rows, count), count)).to_json(), whole)


def test_the_same_where_the_scatter_is_multiplied_in_float32(rows, monkeypatch):
    monkeypatch.setattr("offsphere.geometry.scanning.PRECISE", 10_000)
    whole = measure(rows, sections=list(SECTIONS), seed=3).to_json()
    assert_close(measured(merged(states_of(rows, 3, seed=3))).to_json(), whole)


def test_a_state_does_not_grow_with_its_vectors_and_says_how_exact_it_is(rows, monkeypatch):
    monkeypatch.setattr(lengths_spread, "MOST_KEPT", 2_000)
    sizes = [sum(array.nbytes for array in states_of(some, 1)[0].arrays().values()) for some in (rows[:15_000], rows)]
    assert sizes[1] < 1.1 * sizes[0]
    told = measured(merged(states_of(rows, 3))).to_json()
    assert told["of"]["quantiles of lengths"] == "within 0.034% of themselves"
    exact = measure(rows, sections=["lengths"]).lengths[0].quantiles
    assert told["lengths"][0]["quantiles"] == pytest.approx(exact, rel=0.00034)


def test_what_needs_all_vectors_is_refused_and_what_is_missing_named(rows):
    states = states_of(rows, 3)
    with pytest.raises(ParameterError, match=r"hubness needs all vectors at once: .* lengths, isotropy, dimensions"):
        measured(merged(states), ["hubness"])
    with pytest.raises(DataError, match=r"1 of 3 shards are missing \(2/3\)"):
        measured(states[0].merge(states[2]))
    with pytest.raises(DataError, match="its seed is 1, that of the others 0"):
        states[0].merge(states_of(rows, 3, seed=1)[1])
    broken = rows.copy()
    broken[29_000] = np.nan
    with pytest.raises(VectorError, match="the vector in row 29000 is not finite"):
        states_of(broken, 3)


def test_by_the_command_line_over_a_folder_of_parts(rows, tmp_path):
    (tmp_path / "documents").mkdir()
    for number, part in enumerate(np.array_split(rows, 5)):
        np.save(tmp_path / "documents" / f"part-{number}.npy", part)
    for number in (1, 2, 3):
        told = printed("measure", tmp_path / "documents", "--shard", f"{number}/3", "--state", tmp_path / f"s{number}")
        assert f"shard {number}/3 is measured" in told
    states = [tmp_path / f"s{number}" for number in (3, 1, 2)]
    asked = [word for name in SECTIONS for word in ("--section", name)]
    whole = json.loads(printed("measure", tmp_path / "documents", *asked, "--json"))
    assert_close(json.loads(printed("merge", *states, "--json")), whole)
    assert list(json.loads(printed("merge", *states, "--json", "--section", "lengths"))) == ["of", "lengths", "skipped"]
    assert printed("merge", *states) == printed("measure", tmp_path / "documents", *asked)
    with pytest.raises(OffsphereError, match="--scorer needs all documents at once"):
        run_here("measure", tmp_path / "documents", "--shard", "1/3", "--state", tmp_path / "x", "--scorer", "dot")
    with pytest.raises(OffsphereError, match="is no file, store or folder of vectors"):
        run_here("measure", tmp_path, "--shard", "1/3", "--state", tmp_path / "x")


KINDS = ("as they come", "heavy tails", "far from zero", "some empty")
SHARDS = 9  # of eight tiles: one shard has no rows


@cache
def states_of_kind(kind):
    """The vectors of a kind, and the states of their shards."""
    rng = np.random.default_rng(KINDS.index(kind))
    rows = rng.normal(0, [1, 2, 0.1], (30_000, 3))
    if kind == "heavy tails":
        rows *= rng.lognormal(0, 2, (30_000, 1))
    elif kind == "far from zero":
        rows += 100
    elif kind == "some empty":
        rows[rng.random(30_000) < 0.1] = 0
    rows = rows.astype(np.float32)
    return rows, states_of(rows, SHARDS)


def folded(states, draw):
    """States merged in any order and grouping."""
    left = list(draw(st.permutations(states)))
    while len(left) > 1:
        first = left.pop(draw(st.integers(0, len(left) - 1)))
        second = left.pop(draw(st.integers(0, len(left) - 1)))
        left.append(first.merge(second))
    return left[0]


@settings(max_examples=40)
@given(st.sampled_from(KINDS), st.data())
def test_states_merge_to_what_one_pass_tells_in_any_order_and_grouping(kind, data):
    rows, states = states_of_kind(kind)
    whole = measure(rows, sections=list(SECTIONS)).to_json()
    assert_close(measured(folded(states, data.draw)).to_json(), whole)


@settings(max_examples=40)
@given(st.sampled_from(KINDS), st.permutations(range(SHARDS)), st.integers(1, SHARDS - 2), st.integers(1, SHARDS - 1))
def test_merging_is_associative_and_commutative(kind, order, first, length):
    _, states = states_of_kind(kind)
    parts = [order[:first], order[first : first + length], order[first + length :]]
    one, two, three = (
        reduce(lambda left, right: left.merge(right), [states[n] for n in part]) if part else None for part in parts
    )
    if three is not None:
        assert_same_state(one.merge(two).merge(three), one.merge(two.merge(three)))
    assert_same_state(one.merge(two), two.merge(one))


@given(st.sampled_from(KINDS), st.integers(0, SHARDS - 1))
def test_a_state_without_rows_changes_nothing_of_another(kind, number):
    _, states = states_of_kind(kind)
    (empty,) = [state for state in states if state.scanned is None]
    if states[number] is not empty:
        for merged_state in (states[number].merge(empty), empty.merge(states[number])):
            told, alone = merged_state.arrays(), states[number].arrays()
            assert all(np.array_equal(told[name], alone[name]) for name in alone)


def assert_same_state(one, other):
    """States of the same shards whose numbers agree to 1e-10 of what they are sums of."""
    assert one.origin == other.origin
    told, wanted = one.arrays(), other.arrays()
    for name, array in wanted.items():
        scale = np.abs(array).max(initial=0) if array.dtype.kind == "f" else 0
        np.testing.assert_allclose(told[name], array, rtol=1e-10, atol=1e-10 * scale, err_msg=name)


def test_a_state_of_another_version_is_refused(rows, tmp_path):
    first, second = states_of(rows, 2)
    write_state(tmp_path / "first", first)
    older = replace(second, origin=replace(second.origin, version="0.0.1"))
    with pytest.raises(
        DataError, match=r"second.* is of another question: its version is 0\.0\.1, that of the others "
    ):
        merge_files([tmp_path / "first", write_state(tmp_path / "second", older)])
    with pytest.raises(DataError, match=r"its version is 0\.0\.1"):
        first.merge(older)
