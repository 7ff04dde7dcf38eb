"""Queries and documents of two models have two widths: what brings them together, and what is said until then."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import orthogonal_procrustes

import offsphere as osp
from offsphere.base.errors import ParameterError, TwoWidthsError, VectorError
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.adapters.adapter_trainer import AdapterTrainer
from offsphere.learning.adapters.start_maps import StartMaps
from offsphere.learning.data.pair_vectors import gather
from tests.learning import oracles

WIDE, NARROW = 24, 10
SHORT = {"batch": 64, "epochs": 10, "rate": 0.03}


@pytest.fixture(scope="module")
def two_models():
    """Each document seen through one random map of few hidden numbers, its query through another, with noise."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((300, 6)) * rng.lognormal(0, 0.4, (300, 1))
    documents = hidden @ rng.standard_normal((6, WIDE))
    queries = (hidden + 0.2 * rng.standard_normal(hidden.shape)) @ rng.standard_normal((6, NARROW))
    task = osp.RankingTask.from_judgments(
        {f"q{row}": {f"d{row}": 1.0} for row in range(300)}, [f"d{row}" for row in range(300)]
    )
    return task, osp.RankingVectors.of(task, queries.astype(np.float32), documents.astype(np.float32))


def turned(embedded):
    """The same task with the wide vectors on the side that asks."""
    task, vectors = embedded
    return task, osp.RankingVectors.of(task, vectors.documents, vectors.queries)


@pytest.mark.parametrize("sides", ["untied", "query", "document"])
@pytest.mark.parametrize("normalize", ["both", "none", "query", "learn"])
def test_the_loss_is_the_one_written_by_hand(two_models, sides, normalize):
    setup = AdapterSetup.of(two_models)
    recipe = Recipe(normalize=normalize, sides=sides, batch=32, scale="fixed", temperature=0.4, hard_negatives=0)
    start = StartMaps.of(setup.pairs, recipe)
    trainer = AdapterTrainer(recipe, setup.pairs, lambda _: 0.0, setup.probe, seed=0, start=start)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in trainer.module.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    chosen = np.arange(32)
    ours = float(trainer.objective(trainer._batch(chosen)).detach())
    q, d = (side.astype(np.float64) for side in gather(setup.pairs, chosen))
    query, document = (
        part.change.detach().double().numpy() if part else None for part in map(trainer.module.side, SIDES)
    )
    if query is not None:
        q = q @ (start.query + query)
    if document is not None:
        d = d @ (start.document + document)
    exponents = {"both": (1, 1), "none": (0, 0), "query": (1, 0), "learn": (0.5, 0.5)}[normalize]
    theirs = oracles.infonce_family(q, d, 2.5, *exponents, 1, 0, True, "query")
    assert ours == pytest.approx(theirs, rel=1e-5)


SIDES = ("query", "document")


def test_the_start_is_the_rotation_that_scipy_finds(two_models):
    """Procrustes of two widths is that of one, with columns of zeros."""
    setup = AdapterSetup.of(two_models)
    q, d = (
        side / np.linalg.norm(side, axis=1, keepdims=True) for side in gather(setup.pairs, np.arange(len(setup.pairs)))
    )
    rotation, agreement = orthogonal_procrustes(np.pad(q, ((0, 0), (0, WIDE - NARROW))), d)
    for sides in ("untied", "query", "document"):
        start = StartMaps.of(setup.pairs, Recipe(sides=sides))
        mapped = (
            q @ start.query if start.query is not None else q,
            d @ start.document if start.document is not None else d,
        )
        assert np.einsum("nd,nd->", *mapped) == pytest.approx(agreement, rel=1e-6)
    # where pairs span fewer directions than there are, the rest of a rotation is free: what they span is not
    theirs = np.pad(q, ((0, 0), (0, WIDE - NARROW))) @ rotation
    ours = q @ StartMaps.of(setup.pairs, Recipe(sides="query")).query
    basis = np.linalg.svd(d)[2][:6]
    assert np.allclose(ours @ basis.T, theirs @ basis.T, atol=1e-4)


@pytest.mark.parametrize("normalize", ["both", "none", "query", "document"])
@pytest.mark.parametrize("wide_asks", [False, True], ids=["narrow queries", "wide queries"])
def test_what_two_models_have_in_common_is_learned_saved_and_served(two_models, tmp_path, normalize, wide_asks):
    embedded = turned(two_models) if wide_asks else two_models
    adapter = osp.adapt(*embedded, normalize=normalize, batch=64, epochs=40, rate=0.03)
    assert adapter.record.run.best > (0.7 if normalize in ("both", "document") else adapter.record.run.start)
    adapter.save(tmp_path)
    again = osp.Adapter.load(tmp_path)
    assert again.scorer.key == adapter.scorer.key
    _task, vectors = embedded
    (top,) = osp.search(vectors.queries, vectors.documents, [again.scorer], k=10)
    lowered = again.scorer.lower()
    served = lowered.queries(vectors.queries) @ lowered.documents(vectors.documents).T
    best = np.take_along_axis(served, top.documents, axis=1)  # two may be as good but for rounding
    assert np.allclose(best, -np.sort(-served, axis=1)[:, :10], rtol=1e-5, atol=1e-6)
    exported = osp.export(again.scorer, vectors.documents, f"faiss:{tmp_path / 'index.faiss'}", queries=vectors.queries)
    assert exported.verification.recall == 1


@pytest.mark.parametrize(("sides", "stays"), [("query", "document"), ("document", "query")])
def test_the_side_that_is_not_mapped_stays_as_it_is_stored(two_models, sides, stays):
    _, vectors = two_models
    adapter = osp.adapt(*two_models, sides=sides, **SHORT)
    rows = vectors.documents if stays == "document" else vectors.queries
    assert np.array_equal(adapter.apply(rows, stays), rows)
    assert (
        adapter.apply(vectors.queries, "query").shape[1] == adapter.apply(vectors.documents).shape[1] == rows.shape[1]
    )


@pytest.mark.parametrize("width", [3, NARROW, 17, WIDE])
def test_both_sides_meet_in_the_width_that_is_asked_for(two_models, width):
    adapter = osp.adapt(*two_models, width=width, rank=4, **SHORT)
    assert adapter.query.widths == (NARROW, width)
    assert adapter.document.widths == (WIDE, width)
    assert adapter.record.run.best > adapter.record.run.start


def test_adapters_of_two_widths_are_held_against_the_closed_form(two_models):
    learned = osp.learn(two_models, None, [Recipe(**SHORT), Recipe(normalize="query", **SHORT)])
    assert learned.table.baseline == "adapter(closed form) + cosine"
    assert learned.table["adapter(untied) + cosine"].value > learned.table[learned.table.baseline].value
    assert [split.name for split in learned.splits] != []
    assert all("closed form" not in split.name for split in learned.splits)


def test_the_grid_trains_on_two_widths_without_tied_sides(two_models):
    recipe = Recipe(batch=64, epochs=2, hard_negatives=0)
    ablation = osp.ablate(two_models, recipe=recipe, budget=[(0.05, 0.03)], seeds=1)
    names = [row.name for row in ablation.rows]
    assert "cosine + query" in names
    assert not any("tied" in name.split(" + ") for name in names)
    assert any("two widths" in note for note in ablation.notes)


@pytest.mark.parametrize(
    "compare",
    [
        osp.compare,
        lambda task, vectors: osp.compare(task, vectors, ["dot"]),
        lambda task, vectors: osp.search(vectors.queries, vectors.documents, [osp.Scorer()]),
        osp.audit,
    ],
    ids=["compare", "a named scorer", "search", "audit"],
)
def test_one_line_says_that_two_widths_cannot_be_compared(two_models, compare):
    with pytest.raises(
        TwoWidthsError, match=r"query vectors have 10 dimensions, document vectors 24: .*offsphere adapt"
    ):
        compare(*two_models)


def test_what_needs_no_comparison_is_measured(two_models):
    shape = osp.measure(*two_models)
    assert [side.side for side in shape.lengths] == ["query", "document"]
    assert "offsphere adapt" in shape.skipped["hubness"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sides": "tied"}, "10 and 24 dimensions: choose untied"),
        ({"width": 25}, "the wider side has 24"),
        ({"width": 8, "sides": "query"}, "choose untied, or leave the width out"),
        ({"width": 0}, "give at least 1"),
    ],
    ids=str,
)
def test_maps_that_cannot_be_are_refused(two_models, options, message):
    with pytest.raises(ParameterError, match=message):
        osp.adapt(*two_models, **options)


def test_pairs_have_one_width():
    task = osp.PairTask("pairs", np.arange(3.0))
    with pytest.raises(
        VectorError, match=r"left vectors have 2 dimensions, right vectors 3: .* use one model for both"
    ):
        osp.PairVectors.of(task, np.ones((3, 2), np.float32), np.ones((3, 3), np.float32))


def test_documents_cannot_ask_in_the_place_of_queries_of_another_model(two_models, tmp_path):
    adapter = osp.adapt(*two_models, **SHORT)
    with pytest.raises(VectorError, match="give vectors of some queries to try it with"):
        osp.export(adapter.scorer, two_models[1].documents, f"faiss:{tmp_path / 'index.faiss'}")


def test_an_adapter_of_other_widths_is_refused(two_models):
    adapter = osp.adapt(*two_models, **SHORT)
    task, vectors = turned(two_models)
    with pytest.raises(VectorError, match="vectors have 24 dimensions, the adapter was trained on 10"):
        osp.compare(task, vectors, [adapter.scorer])
