"""An adapter is a transform like the others: it starts at the identity, compares, lowers, saves."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.learning.adapters.adapter_module import AdapterModule
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.objective.objective import objective_of
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.similarity import COSINE, DOT, Polar
from offsphere.scoring.training_record import Run, Training
from offsphere.vectors.moments import Moments

RECIPES = {
    "untied": {},
    "tied": {"sides": "tied"},
    "query side": {"sides": "query", "normalize": "document"},
    "document side": {"sides": "document", "normalize": "none"},
    "low rank": {"rank": 3, "normalize": "half"},
    "input": {"normalize_input": "both", "normalize": "none"},
    "learned input": {"normalize_input": "learn", "normalize": "learn"},
    "multiplied head": {"magnitude": "multiplied"},
    "added head": {"magnitude": "added", "normalize": "query"},
    "head of one side": {"magnitude": "multiplied", "sides": "document", "normalize": (0.3, 0.8)},
    "cut": {"cut": 3.0},
}


def disturbed(recipe, dimension=6, seed=0):
    """A module as training may leave it: every number moved."""
    module, objective = (
        AdapterModule((dimension, dimension), recipe),
        objective_of(recipe, 100, combine=recipe.magnitude or "multiplied"),
    )
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in [*module.parameters(), *objective.parameters()]:
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return module.eval(), objective.eval()


@pytest.mark.parametrize("name", RECIPES)
def test_without_torch_it_scores_as_in_training(name):
    module, objective = disturbed(Recipe(**RECIPES[name]))
    rng = np.random.default_rng(1)
    q, d = (rng.standard_normal((count, 6)).astype(np.float32) for count in (5, 9))
    with torch.no_grad():
        query_rows, query_head = module(torch.from_numpy(q), "query")
        document_rows, document_head = module(torch.from_numpy(d), "document")
        queries = objective.scored_vectors(query_rows, "query", query_head)
        trained = queries @ objective.scored_vectors(document_rows, "document", document_head).T
    scorer = module.adapter(objective).scorer
    top = osp.search(q, d, [scorer], k=9)[0]
    expected = np.take_along_axis(trained.numpy(), top.documents, axis=1)
    assert np.allclose(top.scores, expected, atol=1e-4)  # learned exponents are rounded


@pytest.mark.parametrize("name", RECIPES)
def test_it_lowers_to_an_inner_product_that_ranks_the_same(name):
    module, objective = disturbed(Recipe(**RECIPES[name]))
    rng = np.random.default_rng(2)
    q, d = (rng.standard_normal((count, 6)).astype(np.float32) for count in (7, 60))
    scorer = module.adapter(objective).scorer
    lowered = scorer.lower()
    served = np.argsort(-(lowered.queries(q) @ lowered.documents(d).T), axis=1)[:, :10]
    assert np.array_equal(served, osp.search(q, d, [scorer], k=10)[0].documents)


@pytest.mark.parametrize("name", RECIPES)
def test_zero_steps_are_the_original(name):
    recipe = Recipe(**RECIPES[name])
    adapter = AdapterModule((6, 6), recipe).adapter(objective_of(recipe, 100, combine=recipe.magnitude or "multiplied"))
    rng = np.random.default_rng(3)
    q, d = (rng.standard_normal((count, 6)).astype(np.float32) for count in (5, 30))
    entering = d / np.linalg.norm(d, axis=1, keepdims=True) ** adapter.document.input
    assert adapter.document.input == {"both": 1.0, "learn": 0.5}.get(recipe.normalize_input, 0.0)
    original = osp.search(q, entering, [osp.Scorer(recipe.exponents.similarity)], k=10)[0]
    assert np.array_equal(osp.search(q, d, [adapter.scorer], k=10)[0].documents, original.documents)


def test_only_the_adapted_side_changes():
    module, objective = disturbed(Recipe(sides="query"))
    adapter = module.adapter(objective)
    vectors = np.random.default_rng(4).standard_normal((8, 6)).astype(np.float32)
    assert np.array_equal(adapter.apply(vectors, "document"), vectors)  # an index stays valid
    assert not np.allclose(adapter.apply(vectors, "query"), vectors)
    module, objective = disturbed(Recipe(sides="query", normalize="none", normalize_input="both"))
    assert np.array_equal(module.adapter(objective).apply(vectors, "document"), vectors)


def test_a_low_rank_change_has_that_rank():
    module, objective = disturbed(Recipe(rank=2))
    change = module.adapter(objective).query.matrix - np.eye(6)
    assert np.linalg.matrix_rank(change, tol=1e-5) == 2


@pytest.mark.parametrize("name", RECIPES)
def test_it_saves_and_loads(tmp_path, name):
    module, objective = disturbed(Recipe(**RECIPES[name]))
    adapter = module.adapter(objective)
    adapter.save(tmp_path)
    again = Adapter.load(tmp_path)
    vectors = np.random.default_rng(5).standard_normal((8, 6)).astype(np.float32)
    for side in ("query", "document"):
        assert np.array_equal(adapter.apply(vectors, side), again.apply(vectors, side))
    assert again.scorer.name == adapter.scorer.name
    assert again.similarity == adapter.similarity
    assert osp.Scorer.load(tmp_path).similarity == adapter.similarity


def test_a_chain_of_transforms_with_an_adapter_saves_and_lowers(tmp_path):
    module, objective = disturbed(Recipe())
    adapter = module.adapter(objective)
    rng = np.random.default_rng(6)
    q, d = (rng.standard_normal((count, 6)).astype(np.float32) for count in (7, 80))
    for chain in [(osp.Whiten(0.5), adapter), (adapter, osp.Center()), (osp.Center(), adapter, osp.Whiten(0.5))]:
        scorer = osp.Scorer(COSINE, chain).fit(Moments.of(d))
        scorer.save(tmp_path)
        tops = osp.search(q, d, [scorer, osp.Scorer.load(tmp_path)], k=10)
        assert np.array_equal(tops[0].documents, tops[1].documents)
        lowered = scorer.lower()
        served = np.argsort(-(lowered.queries(q) @ lowered.documents(d).T), axis=1)[:, :10]
        assert np.array_equal(served, tops[0].documents)


def test_centring_after_an_adapter_centres_the_adapted_documents():
    module, objective = disturbed(Recipe())
    adapter = module.adapter(objective)
    d = (np.random.default_rng(7).standard_normal((80, 6)) + 2).astype(np.float32)
    scorer = osp.Scorer(DOT, (adapter, osp.Center())).fit(Moments.of(d))
    assert np.allclose(scorer.transform(d).mean(axis=0), 0, atol=1e-5)


def test_nothing_is_fitted_after_an_adapter_that_changes_lengths():
    module, objective = disturbed(Recipe(magnitude="multiplied"))
    scorer = osp.Scorer(DOT, (module.adapter(objective), osp.Center()))
    with pytest.raises(OffsphereError, match="put it before the adapter"):
        scorer.fit(Moments.of(np.ones((4, 6), np.float32)))


def test_a_bias_against_hubs_knows_the_sides():
    module, objective = disturbed(Recipe(normalize="query"))
    scorer = module.adapter(objective).scorer
    rng = np.random.default_rng(8)
    bank, d = (rng.standard_normal((count, 6)).astype(np.float32) for count in (30, 20))
    bias = osp.nnn(scorer, d, bank, alpha=1.0, k=5).bias.values
    q = scorer.map.apply(bank, "query").astype(np.float64)
    scores = (q / np.linalg.norm(q, axis=1, keepdims=True)) @ scorer.map.apply(d, "document").T
    assert np.allclose(bias, -np.sort(scores, axis=0)[-5:].mean(axis=0), atol=1e-5)


def test_vectors_of_another_model_are_refused():
    module, objective = disturbed(Recipe())
    adapter = module.adapter(objective)
    with pytest.raises(OffsphereError, match="trained on 6"):
        adapter.apply(np.ones((2, 7), np.float32))
    with pytest.raises(OffsphereError, match="trained on 6"):
        adapter.scorer.fit(Moments.of(np.ones((2, 7), np.float32)))


def test_a_vector_without_length_stays_without():
    for options in RECIPES.values():
        module, objective = disturbed(Recipe(**options))
        mapped = module.adapter(objective).apply(np.zeros((2, 6), np.float32), "query")
        assert not mapped.any()


def test_a_broken_file_is_said(tmp_path):
    module, objective = disturbed(Recipe())
    module.adapter(objective).save(tmp_path)
    (tmp_path / "training.json").write_text(json.dumps({"recipe": 1}))
    with pytest.raises(OffsphereError, match="not the record of a training"):
        Adapter.load(tmp_path)
    osp.Scorer(Polar(1, 0)).save(tmp_path / "plain")
    with pytest.raises(OffsphereError, match="without an adapter"):
        Adapter.load(tmp_path / "plain")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sides": "both"}, "untied, tied, query, document"),
        ({"magnitude": "divided"}, "multiplied or added"),
        ({"batch": 1}, "at least 2"),
        ({"rank": 0}, "at least 1"),
        ({"rate": 0}, "not positive"),
        ({"rate": float("nan")}, "expected a finite number"),
        ({"vrns": -1}, "at least 0"),
        ({"normalize_input": "sideways"}, "unknown normalisation"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(options, message):
    with pytest.raises(OffsphereError, match=message):
        Recipe(**options)


@pytest.mark.parametrize(
    ("field", "value", "match"),
    [
        ("chosen", 1, "run 1 was kept, and it has 1"),
        ("chosen", -1, "run -1 was kept"),
        ("runs", [], "run 0 was kept, and it has 0"),
        ("runs", [{"seed": 0}], "'start' is missing"),
        ("runs", 5, "'runs' is 5"),
        ("counts", {"pairs": 10**400}, "'counts' is"),
        ("metric", None, "'metric' is None"),
        ("more", 1, "unknown field 'more'"),
    ],
)
def test_a_record_from_before_there_were_digests_is_checked(field, value, match, tmp_path):
    run = Run(0, 0.5, 0.6, best_step=4, steps=6, seconds=1.0, history=[(0, float("nan"), 0.5)], stopped="done")
    Training(
        {}, {}, "ndcg@10", {"pairs": 8}, runs=[run], chosen=0, dynamics=[{"step": 1.0}], learned=np.arange(3)
    ).save(tmp_path)
    path = tmp_path / "training.json"
    values = json.loads(path.read_text())
    old = {name: part for name, part in values.items() if name not in ("format", "files", "digest")}
    path.write_text(json.dumps(old))
    record = Training.load(tmp_path)
    assert record.run.best == 0.6
    assert np.isnan(record.run.history[0][1])
    path.write_text(json.dumps({**old, field: value}))
    with pytest.raises(OffsphereError, match=match):
        Training.load(tmp_path)


def test_a_record_whose_files_were_changed_is_damaged(tmp_path):
    run = Run(0, 0.5, 0.6, best_step=4, steps=6, seconds=1.0, history=[], stopped="done")
    Training({}, {}, "ndcg@10", {}, runs=[run], chosen=0, learned=np.arange(3)).save(tmp_path)
    np.save(tmp_path / "learned.npy", np.arange(4))
    with pytest.raises(OffsphereError, match=r"learned.npy is not the file that .*training.json describes"):
        Training.load(tmp_path)
