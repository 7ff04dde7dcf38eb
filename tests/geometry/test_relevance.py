from __future__ import annotations

import numpy as np
import pytest

from offsphere import measure
from offsphere.base.errors import OffsphereError
from offsphere.data import RankingTask, RankingVectors
from offsphere.data.ranking_task import ItemList, Judgment
from offsphere.geometry.relevance import regress_out
from offsphere.statistics.effect import cohen_d


def planted(lengths, relevant, characters=None, queries=100, seed=0):
    """Documents of these lengths in random directions; query q is near its relevant document ``relevant[q]``."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(len(lengths), 12))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    documents = (directions * lengths[:, None]).astype(np.float32)
    near = (directions[relevant] + rng.normal(0, 0.3, (queries, 12))).astype(np.float32)
    ids = [f"d{number}" for number in range(len(lengths))]
    texts = ["x" * int(count) for count in characters] if characters is not None else None
    task = RankingTask.build(
        "planted",
        ItemList([f"q{q}" for q in range(queries)], ["a question"] * queries if texts else None),
        ItemList(ids, texts),
        [Judgment(f"q{q}", ids[d], 1.0) for q, d in enumerate(relevant)],
    )
    return task, RankingVectors.of(task, near, documents)


def test_a_known_effect_is_found_over_the_corpus_and_within_queries():
    rng = np.random.default_rng(0)
    relevant = np.arange(100)
    lengths = rng.normal(10, 1, 2_000)
    lengths[relevant] += 0.7  # a d of 0.7
    task, vectors = planted(lengths, relevant)
    effect = measure(task, vectors, ["relevance"]).relevance
    assert (effect.relevant, effect.others) == (100, 1_900)
    assert effect.d.low < 0.7 < effect.d.high
    assert effect.within.d.low < 0.7 < effect.within.d.high
    assert 0.6 < effect.auc.value < 0.78
    assert 0.6 < effect.within.chance_longer.value < 0.78
    assert effect.sentence.startswith("relevant documents have longer vectors (d = 0.8")
    assert "against those that cosine ranks near them" in effect.sentence
    assert np.isclose(effect.d.value, cohen_d(lengths[:100], lengths[100:]).value, atol=1e-6)


def test_text_length_in_disguise_is_unmasked():
    """Long texts have long vectors and are more often relevant; beyond that, length says nothing."""
    rng = np.random.default_rng(1)
    characters = rng.lognormal(5, 0.6, 3_000).astype(int) + 20
    lengths = 4 + 1.5 * np.log(characters) + rng.normal(0, 0.3, 3_000)
    weights = characters.astype(float) ** 2
    relevant = rng.choice(3_000, 100, replace=False, p=weights / weights.sum())
    task, vectors = planted(lengths, relevant, characters)
    effect = measure(task, vectors, ["relevance"]).relevance
    assert effect.d.low > 0.5
    assert effect.d_adjusted.low < 0 < effect.d_adjusted.high
    assert effect.text_length_explains > 0.8
    assert "only because of their text length" in effect.sentence


def test_what_length_says_beyond_text_length_survives():
    rng = np.random.default_rng(2)
    characters = rng.lognormal(5, 0.6, 3_000).astype(int) + 20
    lengths = 12 - 1.0 * np.log(characters) + rng.normal(0, 0.3, 3_000)
    relevant = np.arange(100)
    lengths[relevant] += 0.3
    task, vectors = planted(lengths, relevant, characters)
    effect = measure(task, vectors, ["relevance"]).relevance
    assert effect.d_adjusted.low > 0.5
    assert effect.d_adjusted.value > effect.d.value
    assert effect.within_adjusted.d.low > 0.5


def test_what_is_regressed_out_is_gone():
    rng = np.random.default_rng(3)
    characters = rng.integers(1, 5_000, 500)
    residuals, explained = regress_out(np.log1p(characters) ** 2 + 3, characters)
    assert np.abs(residuals).max() < 1e-8
    assert np.isclose(explained, 1)


def test_groups_are_told_apart():
    rng = np.random.default_rng(4)
    lengths = rng.normal(10, 1, 1_000)
    lengths[:50] += 2
    lengths[50:100] -= 2
    task, vectors = planted(lengths, np.arange(100))
    groups = {f"q{q}": "up" if q < 50 else "down" for q in range(100)}
    effect = measure(task, vectors, ["relevance"], groups=groups).relevance
    down, up = effect.groups
    assert (down.group, down.queries, up.group) == ("down", 50, "up")
    assert down.d.high < -1 < 1 < up.d.low
    with pytest.raises(OffsphereError, match="none of the 1 queries that were given a group"):
        measure(task, vectors, ["relevance"], groups={"nobody": "x"})


def test_query_length_and_difficulty_correlate_where_planted():
    rng = np.random.default_rng(5)
    task, vectors = planted(np.ones(800) + rng.normal(0, 0.1, 800), np.arange(100))
    noise = np.linspace(0, 1.5, 100)[:, None]  # later queries are harder ...
    harder = vectors.queries + noise * rng.normal(size=vectors.queries.shape)
    longer = harder / np.linalg.norm(harder, axis=1, keepdims=True) * (1 + noise)  # ... and longer
    shape = measure(task, RankingVectors.of(task, longer.astype(np.float32), vectors.documents), ["relevance"])
    assert shape.relevance.query_length_and_ndcg.spearman.high < -0.2


def test_normalised_vectors_are_said_to_be():
    task, vectors = planted(np.ones(300), np.arange(100))
    with pytest.raises(OffsphereError, match="normalised; magnitude was discarded before we saw it"):
        measure(task, vectors, ["relevance"])
    shape = measure(task, vectors)
    assert "magnitude was discarded before we saw it" in shape.skipped["relevance"]
    assert "magnitude was discarded before we saw it" in shape.lengths[1].sentence
    assert [row.scorer for row in shape.hubness] == ["cosine"]


@pytest.mark.parametrize("count", [100, 101])
def test_where_every_document_is_relevant_to_something_rivals_are_left_to_compare(count):
    """No corpus to hold relevant documents against, but each query's relevant one has rivals: a plain loop's d."""
    rng = np.random.default_rng(0)
    lengths = rng.uniform(1, 2, count)
    task, vectors = planted(lengths, np.arange(100))
    effect = measure(task, vectors, ["relevance"]).relevance
    assert np.isnan(effect.d.value)
    assert effect.within.queries == 100
    cosines = vectors.queries @ (vectors.documents / np.linalg.norm(vectors.documents, axis=1, keepdims=True)).T
    means, squares, freedom = [], 0.0, 0
    for query in range(100):
        rivals = [d for d in np.argsort(-cosines[query]) if d != query][:100]
        means.append(lengths[query] - lengths[rivals].mean())
        squares += len(rivals) * lengths[rivals].var()
        freedom += len(rivals) - 1
    assert np.isclose(effect.within.d.value, np.mean(means) / np.sqrt(squares / freedom), rtol=1e-4)
    assert effect.sentence.startswith("relevant documents have neither longer nor shorter vectors that one could see")


def test_one_relevant_document_is_too_few():
    task, vectors = planted(np.random.default_rng(0).uniform(1, 2, 50), np.zeros(100, int))
    with pytest.raises(OffsphereError, match="1 relevant documents; an effect needs two"):
        measure(task, vectors, ["relevance"])


def test_within_queries_is_what_a_plain_loop_finds():
    """Queries of many relevant documents, so that the search must go deep to find a hundred others."""
    rng = np.random.default_rng(6)
    directions = rng.normal(size=(900, 5))
    lengths = rng.uniform(1, 3, 900)
    documents = (directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths[:, None]).astype(np.float32)
    queries = rng.normal(size=(40, 5)).astype(np.float32)
    cosines = queries / np.linalg.norm(queries, axis=1, keepdims=True) @ (documents / lengths[:, None]).T
    relevant = np.argsort(-cosines, axis=1)[:, :120]  # all of them before any other
    judged = {f"q{q}": {f"d{d}": 1.0 for d in row} for q, row in enumerate(relevant)}
    task = RankingTask.from_judgments(judged, [f"d{d}" for d in range(900)])
    effect = measure(task, RankingVectors.of(task, queries, documents), ["relevance"]).relevance
    means, squares, freedom, above = [], 0.0, 0, []
    for q in range(40):
        order = [d for d in np.argsort(-cosines[q]) if d not in set(relevant[q])][:100]
        one, other = lengths[relevant[q]], lengths[order]
        means.append(one.mean() - other.mean())
        squares += ((one - one.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum()
        freedom += len(one) + len(other) - 2
        above.append((one[:, None] > other).mean())
    assert np.isclose(effect.within.d.value, np.mean(means) / np.sqrt(squares / freedom), rtol=1e-4)
    assert np.isclose(effect.within.chance_longer.value, np.mean(above), rtol=1e-4)


def test_correlations_are_with_the_length_they_name():
    from scipy.stats import pearsonr, spearmanr

    rng = np.random.default_rng(7)
    task, vectors = planted(rng.uniform(1, 5, 400), np.arange(100))
    vectors = RankingVectors.of(
        task, vectors.queries * rng.uniform(1, 9, (100, 1)).astype(np.float32), vectors.documents
    )
    shape = measure(task, vectors, ["relevance", "gradients"])
    q, d = vectors.queries.astype(float), vectors.documents[:100].astype(float)
    a, b = np.linalg.norm(q, axis=1), np.linalg.norm(d, axis=1)
    cosines = (q * d).sum(axis=1) / (a * b)
    assert np.isclose(shape.relevance.document_length_and_cosine.spearman.value, spearmanr(b, cosines).statistic)
    assert np.isclose(shape.relevance.log_lengths_and_cosine.pearson.value, pearsonr(np.log(a * b), cosines).statistic)
    sines = np.sqrt(1 - cosines**2)
    assert np.isclose(shape.gradients[0].mean, (sines / a).mean(), rtol=1e-5)
    assert np.isclose(shape.gradients[1].mean, (sines / b).mean(), rtol=1e-5)


def test_documents_without_length_are_left_out():
    rng = np.random.default_rng(8)
    lengths = rng.normal(10, 1, 1_500)
    lengths[:100] += 0.8
    whole = measure(*planted(lengths, np.arange(100)), ["relevance"]).relevance
    lengths[1_400:] = 0
    holed = measure(*planted(lengths, np.arange(100)), ["relevance"]).relevance
    assert holed.others == 1_300
    assert abs(holed.d.value - whole.d.value) < 0.1


def test_an_effect_that_text_length_does_not_touch_is_no_disguise():
    """Text length is drawn apart from everything: whatever the control does, it takes nothing away for certain."""
    disguised = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        lengths = rng.normal(10, 1, 800)
        lengths[:40] += 0.32
        characters = rng.integers(50, 2_000, 800)
        task, vectors = planted(lengths, np.arange(40), characters, queries=40, seed=seed)
        disguised.append(measure(task, vectors, ["relevance"]).relevance.in_disguise)
    assert sum(disguised) <= 1
