from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import spearmanr

from offsphere.auditing.study.meta_analysis import meta_analysis
from offsphere.auditing.study.study_row import StudyRow


def change(gain, p=0.5, value=0.5):
    return {"value": value, "gain": gain, "low": gain - 0.02, "high": gain + 0.02, "p": p}


def row(task, dot, *, model="m", d=0.0, symmetric=False, curve=0.0, whiten=(0.01, 0.3), **more):
    return StudyRow(
        task=task, model=model, metric="ndcg@10", units=200, documents=1_000, kind="ranking", split=None,
        symmetric=symmetric, declared=None, worth=0.01, cosine=0.5,
        scorers={"cosine": change(0.0, None), "dot": change(dot, 0.001), "whiten": change(*whiten)},
        recommended="cosine", recommended_row="cosine", choice=change(0.004), length_variation=0.2, d=d,
        d_adjusted=None, d_within=None, gini=0.4, gini_by_chance=0.3, wanted_again=0.2, hub_skewness=2.0,
        ceiling=change(curve), ceiling_kind="length", ceiling_length=change(curve), ceiling_most=0.05, **more,
    )  # fmt: skip


def planted(tasks=14, models=2, seed=3, noise=0.01):
    """The gain of the dot product follows what a curve of length is worth, and not Cohen's d."""
    rng = np.random.default_rng(seed)
    rows = []
    for task in range(tasks):
        worth, effect = rng.normal(0, 0.1), rng.normal()
        for model in range(models):
            gain = worth + rng.normal(0, noise)
            rows.append(row(f"t{task}", gain, model=f"m{model}", d=effect + rng.normal(0, 0.1), curve=worth))
    return rows


def test_what_predicts_is_told_from_what_does_not():
    found = {each.name: each for each in meta_analysis(planted()).predictors}
    assert found["curve_gain"].correlation.low > 0
    assert found["curve_gain"].explained > 0.5
    assert not found["d"].correlation.excludes_zero
    sentences = " ".join(meta_analysis(planted()).sentences)
    assert "What a curve of today's lengths is worth predicts what the dot product gains" in sentences
    assert "Cohen's d of the lengths of relevant documents does not predict" in sentences


def test_the_correlation_is_that_of_scipy_and_its_interval_is_over_tasks():
    rows = planted()
    (found,) = (each for each in meta_analysis(rows).predictors if each.name == "d")
    x, y = [each.d for each in rows], [each.dot["gain"] for each in rows]
    assert found.correlation.value == pytest.approx(spearmanr(x, y).statistic)
    copied = [row(each.task, each.dot["gain"], d=each.d, model=f"{each.model}{n}") for each in rows for n in range(5)]
    (again,) = (each for each in meta_analysis(copied).predictors if each.name == "d")
    wide = found.correlation.high - found.correlation.low
    assert again.correlation.high - again.correlation.low == pytest.approx(wide, rel=0.05)  # copies are no evidence


def test_a_predictor_of_noise_is_seldom_called_one():
    claims = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = [row(f"t{n}", rng.normal(0, 0.1), d=rng.normal()) for n in range(10)]
        sentences = " ".join(meta_analysis(rows).sentences)
        claims += "relevant documents predicts" in sentences
    assert claims <= 6


def test_one_task_that_carries_everything_is_noticed():
    rows = [row(f"t{n}", 0.001 * (-1) ** n, d=0.01 * n) for n in range(8)] + [row("far", 0.5, d=5.0)]
    (found,) = (each for each in meta_analysis(rows).predictors if each.name == "d")
    assert found.without_one[0] < 0.1
    assert "does not predict" in next(s for s in meta_analysis(rows).sentences if s.startswith("Cohen's d of the"))


def test_symmetry_is_told_apart():
    rows = [row(f"s{n}", -0.3, symmetric=True) for n in range(3)] + [row(f"a{n}", 0.05) for n in range(3)]
    meta = meta_analysis(rows)
    assert meta.symmetric.mean.value == pytest.approx(-0.3)
    assert meta.asymmetric.mean.value == pytest.approx(0.05)
    assert any(s.startswith("Where the sides could be exchanged") and "-0.3000" in s for s in meta.sentences)
    alone = meta_analysis(rows[3:]).sentences
    assert "Whether symmetry decides cannot be told: there are only tasks with two roles." in alone


def test_safe_is_what_is_surely_worse_nowhere():
    rows = [row(f"t{n}", 0.1 - 0.05 * n) for n in range(6)]
    scorers = {each.name: each for each in meta_analysis(rows).scorers}
    assert scorers["whiten"].safe
    assert not scorers["dot"].safe
    assert any(
        sentence.startswith("Safe everywhere: whiten gains +0.0100") for sentence in meta_analysis(rows).sentences
    )
    bad = [*rows, row("bad", 0.0, whiten=(-0.2, 0.001))]
    assert any(
        sentence.startswith("Nothing is safe everywhere but cosine") for sentence in meta_analysis(bad).sentences
    )


def test_tasks_count_alike_however_many_models_they_have():
    rows = [row("many", 0.4, model=f"m{n}") for n in range(8)] + [row("one", -0.4)]
    assert meta_analysis(rows).dot.mean.value == pytest.approx(0.0, abs=1e-9)


def test_too_few_tasks_are_said_to_be_too_few():
    meta = meta_analysis([row("t", 0.1)])
    assert meta.sentences[0] == "One task is too few to say anything of others: give at least 5."
    assert all(each.correlation.low is None for each in meta.predictors)
    json.dumps(meta.to_json(), allow_nan=False)
