from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offsphere import RankingTask
from offsphere.base.errors import DataError
from offsphere.comparison.corpus_fit import fit_corpus
from offsphere.shards.fit_state import fit_arrays
from tests.shards.sharded import fit_states, merged

COUNT = 100_000  # seven blocks


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    rows = rng.normal(1, [1, 5, 0.1], (COUNT, 3)) * rng.lognormal(0, 1, (COUNT, 1))
    rows[77] = 0
    return rows.astype(np.float32)


@pytest.fixture(scope="module")
def task():
    return RankingTask.from_judgments({"q": {"d1": 1}}, [f"d{row}" for row in range(COUNT)])


@pytest.fixture(scope="module")
def whole(documents):
    return fit_arrays(fit_corpus(documents))


@settings(max_examples=8)
@given(count=st.sampled_from([1, 2, 3, 7, 20, 150]), seed=st.integers(0, 1000))
def test_any_shards_in_any_order_and_grouping_fit_the_same_to_the_last_bit(documents, task, whole, count, seed):
    fit = fit_arrays(merged(fit_states(task, documents, count), seed).whole())
    assert all(np.array_equal(fit[name], whole[name]) for name in whole)


def test_it_is_the_mean_and_covariance_that_numpy_computes(documents, whole):
    rows = documents.astype(np.float64)
    np.testing.assert_allclose(whole["fit.mean"], rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(whole["fit.scatter"] / COUNT, np.cov(rows.T, bias=True), rtol=1e-10)
    lengths = np.linalg.norm(rows, axis=1)
    assert whole["fit.counts"].tolist() == [COUNT, COUNT - 1]
    np.testing.assert_allclose(whole["fit.range"], [lengths[lengths > 0].min(), lengths.max()], rtol=1e-7)


def test_what_a_state_holds_does_not_grow_with_its_documents(documents, task):
    states = fit_states(task, documents, 2)
    assert max(len(state.nodes) for state in states) <= 3  # of seven blocks: as many as a binary number has digits
    assert len(merged(states).nodes) == 3


def test_a_shard_that_is_missing_or_comes_twice_is_named(documents, task):
    first, second, third = fit_states(task, documents, 3)
    with pytest.raises(DataError, match=r"1 of 3 shards are missing \(2/3\)"):
        first.merge(third).whole()
    with pytest.raises(DataError, match=r"has shard 1/3, which is there already"):
        first.merge(second).merge(first)


def test_another_question_is_refused_with_what_differs(documents, task):
    mine = fit_states(task, documents, 2)[0]
    with pytest.raises(DataError, match="its shards is 3, that of the others 2"):
        mine.merge(fit_states(task, documents, 3)[1])
    other = RankingTask.from_judgments({"q": {"x1": 1}}, [f"x{row}" for row in range(COUNT)])
    with pytest.raises(DataError, match="its ids of documents is"):
        mine.merge(fit_states(other, documents, 2)[1])
    with pytest.raises(DataError, match="its dimensions is 2, that of the others 3"):
        mine.merge(fit_states(task, documents[:, :2], 2)[1])
