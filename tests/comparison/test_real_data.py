"""``compare`` on real texts, with vectors by latent semantic analysis: real lengths, no model to download."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from offsphere.comparison.candidates import EXPONENTS
from offsphere.comparison.compare_scorers import compare
from offsphere.data import PairVectors, RankingVectors, load_task
from offsphere.scoring.similarity import Polar
from offsphere.statistics.cross_validation import assign_folds


def embedded(texts, fit_on):
    model = TfidfVectorizer(sublinear_tf=True, norm=None, min_df=2).fit(fit_on)
    reduce = TruncatedSVD(64, random_state=0).fit(model.transform(fit_on))
    return [reduce.transform(model.transform(part)).astype(np.float32) for part in texts]


@pytest.mark.parametrize("name", ["scifact", "cranfield", "cisi", "xquad"])
def test_compare_runs_on_every_ranking_set(real_data, name):
    task = load_task(real_data / name)
    queries, documents = embedded([task.query_texts, task.document_texts], task.document_texts)
    vectors = RankingVectors.of(task, queries, documents)
    table = compare(task, vectors, permutations=2_000)
    assert {"cosine", "dot", "polar (tuned)", "whiten(0.5) + cosine", "cosine + csls"} <= {
        name for row in table.rows for name in (row.name, *row.same_ranking_as)
    }
    assert all(0 <= row.low <= row.value <= row.high <= 1 for row in table.rows)
    assert table["cosine"].value > 0.05
    # each fold's reported values are those of the exponent that is best on the other folds
    fixed = compare(task, vectors, [f"polar(1, {exponent:g})" for exponent in EXPONENTS], permutations=10)
    each = np.stack([fixed[Polar(1, exponent).name].values for exponent in EXPONENTS])
    folds = assign_folds(len(task.query_ids), 5, 0)
    for fold in range(5):
        chosen = each[:, folds != fold].mean(axis=1).argmax()
        assert np.allclose(table["polar (tuned)"].values[folds == fold], each[chosen, folds == fold])
    # following the choice is never significantly below cosine, and what it names is what its row deploys
    assert not table.procedure.worse
    assert table[table.procedure.row].scorer.key == table.procedure.scorer.key
    if name == "cranfield":
        assert list(vectors.empty) == ["document '471'", "document '995'"]


def test_compare_runs_on_pairs(real_data):
    task = load_task(real_data / "stsb")
    left, right = embedded([task.left_texts, task.right_texts], [*task.left_texts, *task.right_texts])
    table = compare(task, PairVectors.of(task, left, right), permutations=2_000)
    assert table.metric == "spearman"
    assert table["cosine"].value > 0.3
    assert table["query-normalized"] is not table["cosine"]
    assert not table.procedure.worse
    assert table[table.procedure.row].scorer.key == table.procedure.scorer.key


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scifact", "cranfield", "cisi", "xquad", "hotpotqa", "2wiki", "stsb"])
def test_following_the_choice_is_never_significantly_below_cosine(real_data, name):
    """With a real static model."""
    from offsphere.encode.embedded_task import EmbeddedSource

    if not (real_data / name).is_dir():
        pytest.skip(f"there is no {name}")
    table = compare(*EmbeddedSource(str(real_data / name), "wordllama").load())
    assert not table.procedure.worse
    assert table[table.procedure.row].scorer.key == table.procedure.scorer.key
    assert table.chosen.value >= table["cosine"].value
