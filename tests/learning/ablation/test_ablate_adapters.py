"""The grid: what must train alike is one, values have the statistics they claim, claims are judged right way round."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.stats import bootstrap

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.data.judgments import Judgments
from offsphere.learning.ablation.variants import Variant, grid, sweep
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.data.task_sources import VectorSource
from offsphere.learning.data.training_data import divide
from tests.learning.conftest import hidden

TRIAL = [(0.05, 0.03)]


@pytest.mark.parametrize(
    ("output", "input_of_one", "input_of_merged"),
    [("both", "none", "both"), ("query", "none", "query"), ("document", "query", "both")],
)
def test_merged_variants_train_alike_to_the_last_digit(hidden_map, output, input_of_one, input_of_merged):
    setup = AdapterSetup.of(hidden_map)
    values = [
        setup.adapt(Recipe(normalize=output, normalize_input=entering, batch=64, epochs=4), [0]).record.run.history
        for entering in (input_of_one, input_of_merged)
    ]
    assert [step for step, _, _ in values[0]] == [step for step, _, _ in values[1]]
    assert np.allclose([value for *_, value in values[0]], [value for *_, value in values[1]], atol=1e-6)


def test_the_grid_has_every_variant_once():
    variants = grid(Recipe(), TRIAL)
    names = [name for variant in variants for name in (variant.name, *variant.same)]
    assert len(names) == len(set(names)) == 42
    assert len(variants) == 35
    assert variants[0].name == "cosine"
    assert variants[0].same == ("cosine + input query", "cosine + input document", "cosine + input both")
    assert len(grid(Recipe(), TRIAL, full=True)) == 136
    assert sum(1 + len(variant.same) for variant in grid(Recipe(), TRIAL, full=True)) == 192


def test_pairs_have_one_map_and_variants_with_two():
    variants = grid(Recipe(), TRIAL, pairs=True)
    assert variants[0].recipe.sides == "tied"
    assert {variant.recipe.sides for variant in variants if "untied" in variant.name} == {"untied"}


def test_a_sweep_of_temperatures_is_in_powers_of_two():
    values = [variant.budget[0][0] for variant in sweep(Recipe(), "temperature")]
    assert np.allclose(np.diff(np.log2(values)), 1)


def test_what_was_kept_is_not_taken_for_a_task_that_must_not_find_other_documents(tmp_path):
    train, (task, vectors) = hidden(), hidden(seed=1)
    first = np.argmax(vectors.queries @ vectors.documents.T, axis=1)  # what every query finds first by the dot product
    every = np.arange(task.units)
    excluded = Judgments.of(every, first, np.ones(task.units), task.units, len(task.document_ids))
    asked = {"variants": [Variant("dot", Recipe(normalize="none", epochs=1), TRIAL)], "seeds": 1}

    def value(test, keep):
        return osp.ablate(train, test, keep=keep, **asked).to_json()["rows"]

    kept = value((task, vectors), tmp_path / "kept")
    restricted = replace(task, excluded=excluded)
    again = value((restricted, vectors), tmp_path / "kept")
    assert timeless(again) == timeless(value((restricted, vectors), tmp_path / "fresh"))
    assert timeless(again) != timeless(kept)


def timeless(rows):
    return [{name: value for name, value in row.items() if name != "seconds"} for row in rows]


@pytest.mark.parametrize(("batch", "judged"), [(64, False), (8, True)])
def test_an_ablation_judges_claims_only_where_it_calls_its_runs_long_enough(batch, judged):
    recipe = Recipe(batch=batch, epochs=40, hard_negatives=0)
    variants = [Variant("cosine", recipe, TRIAL), Variant("dot", replace(recipe, normalize="none"), TRIAL)]
    ablation = osp.ablate(hidden(seed=0), variants=variants, seeds=1)
    assert ablation.findings
    assert any("too few to judge claims by" in note for note in ablation.notes) == (not judged)
    by_metric = [claim for claim in ablation.findings if not claim.quantity]
    assert by_metric
    assert all((claim.verdict == "not judged") == (not judged) for claim in by_metric)


@pytest.fixture(scope="module")
def ablated():
    test = hidden(seed=0)
    variants = [
        Variant("cosine", Recipe(batch=64, epochs=8, hard_negatives=0), [(0.05, 0.01), (0.05, 0.03)]),
        Variant("dot", Recipe(batch=64, epochs=8, hard_negatives=0, normalize="none"), TRIAL),
    ]
    return osp.ablate(test, variants=variants, seeds=3), variants


def test_values_are_means_over_seeds_with_intervals_over_queries(ablated):
    """Trained again by hand, and resampled by scipy."""
    result, variants = ablated
    train, test = (part.embedded for part in divide(VectorSource(*hidden(seed=0)), 0)[:2])
    setup = AdapterSetup.of(train, judged=[test])
    each = {}
    for variant, row in zip(variants, result.rows, strict=True):
        options = {"temperature": row.temperature, "rate": row.rate}
        adapters = [osp.adapt(*train, recipe=variant.recipe, seed=0, **options)]
        adapters += [setup.adapt(osp.Recipe(**{**vars_of(variant.recipe), **options}), [seed]) for seed in (1, 2)]
        tables = [osp.compare(*test, [adapter.scorer]) for adapter in adapters]
        each[row.name] = np.stack(
            [table[adapter.scorer.name].values for table, adapter in zip(tables, adapters, strict=True)]
        )
        measured = row.results[0]
        assert measured.value == pytest.approx(each[row.name].mean())
        assert measured.spread == pytest.approx(each[row.name].mean(axis=1).std(ddof=1))
        theirs = bootstrap(
            (each[row.name].mean(axis=0),), np.mean, method="percentile", n_resamples=4_000, rng=0
        ).confidence_interval
        assert measured.low == pytest.approx(theirs.low, abs=0.01)
        assert measured.high == pytest.approx(theirs.high, abs=0.01)
    dot = result.rows[1].results[0]
    assert dot.difference == pytest.approx(each["dot"].mean() - each["cosine"].mean())


def vars_of(recipe):
    return {field.name: getattr(recipe, field.name) for field in fields(recipe)}


def test_a_variant_that_breaks_is_told():
    broken = Variant("broken", Recipe(batch=64, epochs=8, normalize="none", scale="fixed"), [(0.05, 1e30)])
    fine = Variant("fine", Recipe(batch=64, epochs=2), TRIAL)
    ablation = osp.ablate(hidden(), variants=[fine, broken], seeds=1)
    assert any(note.startswith("broken: ") and "not a finite number" in note for note in ablation.notes)


def test_what_cannot_be_judged_is_said_before_anything_is_trained():
    with pytest.raises(OffsphereError, match="use one model for all"):
        osp.ablate(hidden(), also=[hidden(dimension=8)])


def test_queries_for_new_documents_have_a_column_of_their_own(ablated):
    result, _ = ablated
    names = [task["name"] for task in result.tasks]
    assert names == ["task", "task, new documents"]
    train, test = (part.embedded for part in divide(VectorSource(*hidden(seed=0)), 0)[:2])
    new = ~AdapterSetup.of(train, judged=[test]).data.seen_units(VectorSource(*test))
    assert result.tasks[1]["queries"] == new.sum()
    cosine = osp.compare(*test, ["dot"])["cosine"].values
    assert result.untouched[1] == pytest.approx(cosine[new].mean())
