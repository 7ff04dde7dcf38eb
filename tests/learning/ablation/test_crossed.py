"""Crossed fields: every combination once, trained as its fields say, in the order typed, for adapters and encoders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.learning.ablation.crossed import read_cross
from offsphere.learning.ablation.variant_choice import VariantRequest, choose_adapters, choose_encoders
from tests.learning.conftest import hidden

ASKED = {"vrns": [0.0, 30.0], "batch": [16, 64, 256]}


@pytest.mark.parametrize("recipe", [osp.Recipe(), osp.EncoderRecipe()])
def test_every_combination_is_a_variant_with_those_fields(recipe):
    variants = osp.cross(recipe, ASKED)
    assert [(variant.recipe.vrns, variant.recipe.batch) for variant in variants] == [
        (vrns, batch) for vrns in (0, 30) for batch in (16, 64, 256)
    ]
    assert all(
        variant.recipe == replace(recipe, vrns=variant.recipe.vrns, batch=variant.recipe.batch) for variant in variants
    )
    names = [variant.name for variant in variants]
    assert len(set(names)) == 6
    assert not any("," in name for name in names)


def test_temperature_and_rate_go_into_the_trials():
    variants = osp.cross(osp.EncoderRecipe(), {"temperature": [0.02, 0.1], "rate": [1e-4, 1e-3]})
    assert [variant.budget for variant in variants] == [
        [(0.02, 1e-4)], [(0.02, 1e-3)], [(0.1, 1e-4)], [(0.1, 1e-3)]
    ]  # fmt: skip
    (one, _) = osp.cross(osp.Recipe(), {"batch": [8, 16]}, [(0.05, 0.01), (0.1, 0.01)])
    assert one.budget == [(0.05, 0.01), (0.1, 0.01)]


def test_what_is_typed_is_read_by_the_types_of_the_fields():
    read = read_cross(["vrns=0,30", "normalize=both;1,0.5", "pooling=mean,cls"], osp.EncoderRecipe)
    assert read == {"vrns": [0.0, 30.0], "normalize": ["both", (1.0, 0.5)], "pooling": ["mean", "cls"]}
    assert [variant.name for variant in osp.cross(osp.EncoderRecipe(), {"normalize": read["normalize"]})] == [
        "normalize both", "normalize 1/0.5"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["vrns"], "write a field and its values"),
        (["vrns="], "write a field and its values"),
        (["vrms=0,30"], "did you mean vrns"),
        (["batch=16,many"], "batch = 'many'"),
        (["batch=16", "batch=64"], "has batch twice"),
    ],
)
def test_what_cannot_be_crossed_is_said(texts, reason):
    with pytest.raises(OffsphereError, match=reason):
        read_cross(texts, osp.Recipe)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"batch": [16, 16]}, "stands there twice"), ({"batch": []}, "no values"), ({}, "at least one field"),
     ({"batch": list(range(2, 503))}, "501 combinations")],
)  # fmt: skip
def test_values_that_make_no_table_are_refused(fields, reason):
    with pytest.raises(OffsphereError, match=reason):
        osp.cross(osp.Recipe(), fields)


def test_a_cross_may_be_cut_by_names_for_both_kinds():
    wanted = ["vrns 30 + batch 64", "vrns 0 + batch 64"]
    adapters = choose_adapters(osp.Recipe(), VariantRequest(crossed=ASKED, names=wanted)).variants
    encoders = choose_encoders(osp.EncoderRecipe(), VariantRequest(crossed=ASKED, names=wanted))
    assert [variant.name for variant in adapters] == [variant.name for variant in encoders] == wanted[::-1]
    with pytest.raises(OffsphereError, match="give one of them"):
        choose_adapters(osp.Recipe(), VariantRequest(crossed=ASKED, sweep="batch"))


def test_vrns_lowers_the_variance_of_negatives_batch_by_batch():
    """One table of both switches; nothing stops early, so that every variant has all of its steps."""
    base = osp.Recipe(epochs=12, hard_negatives=0, temperature=0.05, rate=0.01, patience=None)
    ablation = osp.ablate(hidden(seed=0), variants=osp.cross(base, {"vrns": [0.0, 30.0], "batch": [8, 16]}), seeds=3)
    findings = {finding.claim: finding.verdict for finding in ablation.findings}
    assert findings["VRNS lowers the variance of negatives, at batch 8"] == "holds"
    assert findings["VRNS lowers the variance of negatives, at batch 16"] in ("holds", "not judged", "not decided")
    steps = {}
    for row in ablation.dynamics:
        steps[row["variant"]] = row["step"]
    assert (
        steps["vrns 0 + batch 8"] == steps["vrns 30 + batch 8"] == pytest.approx(2 * steps["vrns 0 + batch 16"], abs=24)
    )


def test_a_training_without_patience_takes_all_of_its_steps():
    task, vectors = hidden(seed=0)
    options = {"batch": 32, "epochs": 60, "hard_negatives": 0, "rate": 1e-9}  # which learns nothing
    impatient = osp.adapt(task, vectors, patience=1, **options).record.run
    patient = osp.adapt(task, vectors, patience=None, **options).record.run
    assert impatient.steps < patient.steps
    assert patient.stopped == "all steps done"
    assert np.isclose(impatient.start, patient.start)
