"""Folded steps are the scorer, worked out in plain numpy: for every similarity that has some, at every length."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.engines.models.folding import MARGIN, Bend, Divide, folded
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.lowering import NotLowerableError
from offsphere.scoring.similarity import Similarity, Terms
from offsphere.scoring.transforms.adapter_map import MagnitudeHead, SideAdapter
from tests.oracles import FORMULAS, values

FAMILIES = ("polar", "euclidean", "angular", "norm-mix", "radial-confidence")  # all that we know steps for
LOWERED = {name: osp.parse_scorer(name).similarity for name in FORMULAS if osp.parse_scorer(name).similarity.lowers}
FOLDABLE = [name for name, similarity in LOWERED.items() if similarity.kind in FAMILIES]
UNFOLDABLE = [name for name in FORMULAS if name not in LOWERED]


def inner_of(name, full, query_lengths):
    """The inner product that a value belongs to: what is left out of it is the same for all documents of a query."""
    lengths = query_lengths[:, None]
    known = {
        "euclidean": lambda: (lengths**2 - full**2) / 2,
        "angular": lambda: np.cos(full),
        "norm-mix(0.8)": lambda: full - 0.2 * lengths,
    }
    return known.get(name, lambda: full)()


def hardswish(numbers):
    """As torch has it: ``x relu6(x + 3) / 6``."""
    return numbers * np.clip(numbers + 3, 0, 6) / 6


def done(steps, rows):
    """Do the steps, in float64."""
    for step in steps:
        if isinstance(step, Divide):
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = rows / np.where(lengths > 0, lengths, 1.0) ** step.exponent
        elif isinstance(step, Bend):
            rows = hardswish(rows)
        else:
            rows = rows @ (np.diag(step.matrix) if step.matrix.ndim == 1 else step.matrix) + step.shift
    return rows


def heavy_tailed(rng, rows, width=7):
    """Vectors whose lengths differ by orders of magnitude."""
    return (rng.normal(0.4, 1, (rows, width)) * rng.lognormal(0, 1.5, (rows, 1))).astype(np.float32)


@pytest.mark.parametrize("name", FOLDABLE)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_inner_product_of_the_steps_is_the_value(name, seed):
    rng = np.random.default_rng(seed)
    queries, documents = heavy_tailed(rng, 4), heavy_tailed(rng, 20)
    scorer = osp.parse_scorer(name)
    steps = folded(scorer, {"query": queries, "document": documents})
    made = [done(steps[side], rows.astype(np.float64)) for side, rows in (("query", queries), ("document", documents))]
    lengths = np.linalg.norm(queries.astype(np.float64), axis=1)
    wanted = inner_of(name, values(name, queries, documents), lengths)
    assert np.allclose(made[0] @ made[1].T, wanted, rtol=1e-5, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["euclidean", "norm-mix(0.8)"])
def test_vectors_far_longer_than_any_sample_are_squared_rightly(name):
    rng = np.random.default_rng(0)
    samples = rng.standard_normal((30, 6)).astype(np.float32)
    long = (samples * 0.9 * MARGIN).astype(np.float32)
    steps = folded(osp.parse_scorer(name), {"query": samples, "document": samples})
    made = done(steps["query"], samples.astype(np.float64)) @ done(steps["document"], long.astype(np.float64)).T
    lengths = np.linalg.norm(samples.astype(np.float64), axis=1)
    assert np.allclose(made, inner_of(name, values(name, samples, long), lengths), rtol=1e-5, atol=1e-4)


def test_transforms_that_follow_each_other_are_one_step():
    rows = heavy_tailed(np.random.default_rng(0), 40)
    scorer = osp.parse_scorer("center + whiten(0.5) + drop-top(1) + cosine").fit(osp.Moments.of(rows))
    steps = folded(scorer, {"query": rows, "document": rows})
    assert [len(side) for side in steps.values()] == [2, 2]
    assert np.allclose(done(steps["query"][:1], rows), scorer.transform(rows), atol=1e-4)


def test_a_mean_that_dwarfs_all_else_is_not_rounded_away():
    """In float32, as a model works: vectors that nearly coincide, and a transform that tells them apart."""
    rng = np.random.default_rng(0)
    rows = (1_000 + 0.1 * rng.standard_normal((200, 24))).astype(np.float32)
    for name in ("whiten(1) + cosine", "whiten(1) + euclidean"):
        scorer = osp.parse_scorer(name).fit(osp.Moments.of(rows))
        steps = folded(scorer, {"query": rows, "document": rows})["query"]
        made = rows
        for step in steps[:2]:
            made = made @ step.matrix.astype(np.float32) + step.shift.astype(np.float32)
        wanted = scorer.transform(rows)
        assert np.abs(made[:, :24] - wanted).max() < 3e-4 * np.abs(wanted).max()


@pytest.mark.parametrize("name", UNFOLDABLE)
def test_what_ties_the_two_lengths_together_is_refused_with_the_nearest_that_does_not(name):
    rows = np.eye(3, dtype=np.float32)
    scorer = osp.parse_scorer(f"center + {name}").fit(osp.Moments.of(rows))
    with pytest.raises(NotLowerableError, match=r"the nearest that can be folded is center \+ euclidean"):
        folded(scorer, {"query": rows, "document": rows})


@dataclass(frozen=True)
class Doubled(Similarity):
    """A similarity of one's own: an inner product in disguise, which no step is written for."""

    kind = "doubled"
    formula = "2 dot"

    def document_terms(self, lengths):
        return Terms(np.full_like(lengths, 2.0), np.zeros_like(lengths))


@pytest.mark.parametrize(
    "scorer",
    [osp.Scorer(Doubled()), *(osp.parse_scorer(name) for name in LOWERED if name not in FOLDABLE)],
    ids=lambda scorer: scorer.name,
)
def test_what_lowers_and_has_no_steps_is_refused_for_that_and_not_as_what_does_not_lower(scorer):
    rows = np.eye(3, dtype=np.float32)
    with pytest.raises(OffsphereError, match="An engine serves it as it is: offsphere export") as told:
        folded(scorer, {"query": rows, "document": rows})
    assert not isinstance(told.value, NotLowerableError)
    assert "is no inner product" not in str(told.value)
    assert ("takes a logarithm" in str(told.value)) == (scorer.similarity.kind == "log-prior")


def test_what_belongs_to_one_corpus_is_refused_with_the_scorer_that_is_left():
    rows = np.eye(3, dtype=np.float32)
    scorer = osp.csls(osp.Scorer(), rows, rows, ids=["a", "b", "c"])
    with pytest.raises(OffsphereError, match=r"csls depends on the documents of one corpus.*can be folded is cosine$"):
        folded(scorer, {"query": rows, "document": rows})
    scorer = osp.standardize_queries(osp.Scorer(), rows)
    with pytest.raises(OffsphereError, match=r"z-score depends on the documents of one corpus"):
        folded(scorer, {"query": rows, "document": rows})


def test_a_magnitude_head_is_refused_by_name():
    rows = np.eye(3, dtype=np.float32)
    head = MagnitudeHead(np.ones(3), 0.0, 0.0, 1.0)
    adapter = Adapter(SideAdapter(np.eye(3), head=head), SideAdapter(np.eye(3)), label="lengths")
    with pytest.raises(OffsphereError, match=r"the magnitude head of adapter\(lengths\) is no map"):
        folded(adapter.scorer, {"query": rows, "document": rows})
