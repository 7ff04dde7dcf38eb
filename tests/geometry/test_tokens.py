from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from offsphere.base.merging import Merging
from offsphere.geometry.frequent_tokens import frequent_tokens
from offsphere.geometry.token_batch import TokenBatch


def random_sentences(seed):
    """Random sentences of random tokens; token 0 is special, and the first of each sentence."""
    rng = np.random.default_rng(seed)
    sentences = [[0, *rng.integers(1, 6, rng.integers(0, 7)).tolist()] for _ in range(rng.integers(4, 9))]
    vectors = [rng.normal(0.3, 1, (len(sentence), 4)).astype(np.float32) for sentence in sentences]
    return sentences, vectors


def state_of(sentences, vectors, chosen):
    batch = TokenBatch(
        np.array([token for s in chosen for token in sentences[s]]),
        np.repeat(np.arange(len(chosen)), [len(sentences[s]) for s in chosen]),
        np.array([token == 0 for s in chosen for token in sentences[s]]),
        np.array(chosen),
    )
    return batch.state(np.concatenate([vectors[s] for s in chosen]))


def cosine(left, right):
    return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))


def expected_cosine(groups):
    """Of one token from each of two different sentences, every sentence and every token in it as likely."""
    cosines = [
        np.mean([cosine(x, y) for x in groups[i] for y in groups[j]])
        for i in range(len(groups))
        for j in range(len(groups))
        if i != j
    ]
    return np.mean(cosines) if cosines else np.nan


@given(st.integers(0, 10_000))
def test_sums_give_what_all_pairs_give(seed):
    sentences, vectors = random_sentences(seed)
    state = state_of(sentences, vectors, range(len(sentences)))
    rows = [v.astype(np.float64) for v in vectors]
    ordinary = [v[1:] for v in rows if len(v) > 1]
    assert np.isclose(state.ordinary.anisotropy, expected_cosine(ordinary), equal_nan=True)
    assert np.isclose(state.everything.anisotropy, expected_cosine(rows), equal_nan=True)
    for sums, groups in ((state.ordinary, ordinary), (state.everything, rows)):
        intra = [np.mean([cosine(x, group.mean(axis=0)) for x in group]) for group in groups]
        if intra:
            assert np.isclose(sums.intra_similarity, np.mean(intra))
            assert np.isclose(sums.mean_length, np.mean([np.linalg.norm(x) for group in groups for x in group]))
    for token, similarity in zip(state.tokens.ids, state.tokens.self_similarity, strict=True):
        occurrences = [
            (s, rows[s][t]) for s, sentence in enumerate(sentences) for t, id_ in enumerate(sentence) if id_ == token
        ]
        pairs = [cosine(x, y) for i, x in occurrences for j, y in occurrences if i != j]
        assert np.isclose(similarity, np.mean(pairs) if pairs else np.nan, equal_nan=True)


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_dimensions_divide_the_self_similarity_of_frequent_tokens_as_all_pairs_do(seed, at_least):
    """Every pair is formed, an occurrence with itself among them, and every dimension's part of its cosine."""
    sentences, vectors = random_sentences(seed)
    state = state_of(sentences, vectors, range(len(sentences)))
    rows = [v.astype(np.float64) for v in vectors]
    means, shares = [], []
    for token in sorted({token for sentence in sentences for token in sentence}):
        units = [
            row / np.linalg.norm(row)
            for sentence, of_sentence in zip(sentences, rows, strict=True)
            for id_, row in zip(sentence, of_sentence, strict=True)
            if id_ == token
        ]
        if len(units) >= at_least:
            parts = np.mean([x * y for x in units for y in units], axis=0)
            means.append(parts.sum())
            shares.append(parts / parts.sum())
    often = state.tokens.counts >= at_least
    assert np.allclose(state.tokens.self_similarity_with_itself[often], means)
    found = frequent_tokens(0, state, np.zeros(len(often), bool), at_least)
    assert found.tokens_with_special == len(means)
    if not means:
        assert found.dimensions is None
        return
    expected = np.mean(shares, axis=0)
    assert np.allclose(state.tokens.dimension_shares(often), expected)
    assert np.isclose(found.with_itself, np.mean(means))
    assert np.allclose(found.dimensions.contributions, np.sort(expected)[::-1])
    assert np.allclose(found.dimensions.contributions, expected[found.dimensions.order])
    assert np.isclose(sum(found.dimensions.contributions), 1)


@given(st.integers(0, 10_000), st.integers(2, 5))
def test_frequent_tokens_are_ordinary_ones_in_two_sentences_that_occur_so_often(seed, at_least):
    sentences, vectors = random_sentences(seed)
    state = state_of(sentences, vectors, range(len(sentences)))
    similar = state.tokens.self_similarity
    compared = (state.tokens.ids != 0) & np.isfinite(similar)
    found = frequent_tokens(0, state, compared, at_least)
    flat = [token for sentence in sentences for token in sentence]
    expected = [
        value
        for token, value in zip(state.tokens.ids, similar, strict=True)
        if token != 0 and flat.count(token) >= at_least and sum(token in sentence for sentence in sentences) > 1
    ]
    assert found.tokens == len(expected)
    assert np.isclose(found.self_similarity, np.mean(expected) if expected else np.nan, equal_nan=True)
    less = found.self_similarity - state.ordinary.anisotropy
    assert np.isclose(found.self_adjusted, less, equal_nan=True)


@given(st.integers(0, 10_000), st.data())
def test_states_of_sentences_merge_associatively_into_that_of_all(seed, data):
    sentences, vectors = random_sentences(seed)
    cuts = sorted(data.draw(st.lists(st.integers(1, len(sentences) - 1), min_size=2, max_size=2)))
    parts = [list(range(a, b)) for a, b in zip([0, *cuts], [*cuts, len(sentences)], strict=True) if b > a]
    states = [state_of(sentences, vectors, part) for part in parts]
    whole = state_of(sentences, vectors, range(len(sentences)))
    merging = Merging()
    for state in states:
        merging.add(state)
    left = states[0]
    for state in states[1:]:
        left = left.merge(state)
    for state in (merging.result(), left):
        assert np.allclose(state.tokens.totals, whole.tokens.totals, atol=1e-10)
        assert np.allclose(state.tokens.self_similarity, whole.tokens.self_similarity, atol=1e-10, equal_nan=True)
        assert np.allclose(state.ordinary.directions.total, whole.ordinary.directions.total, atol=1e-10)
        assert np.isclose(state.everything.intra, whole.everything.intra, atol=1e-10)
        assert (state.probes.rows == whole.probes.rows).all()
        assert (state.probes.vectors == whole.probes.vectors).all()
        assert (state.any_tokens.rows == whole.any_tokens.rows).all()
        assert (state.any_tokens.vectors == whole.any_tokens.vectors).all()
        assert np.allclose(
            state.tokens.self_similarity_with_itself, whole.tokens.self_similarity_with_itself, atol=1e-10
        )


def test_every_token_is_as_likely_to_be_drawn(monkeypatch):
    """Special tokens too, and those of long sentences as those of short ones."""
    monkeypatch.setattr("offsphere.geometry.token_batch.PROBES", 20)
    sentences = [[0, *range(1, length)] for length in (2, 9, 40, 150, 199)]
    lengths = [len(sentence) for sentence in sentences]
    ids = np.concatenate(sentences)
    texts = np.repeat(np.arange(len(lengths)), lengths)
    vectors = np.stack([texts, ids], axis=1).astype(np.float32) + 1
    drawn = np.zeros(len(lengths))
    for seed in range(300):
        sample = TokenBatch(ids, texts, ids == 0, np.arange(len(lengths)), seed).state(vectors).any_tokens
        assert sample.seen == len(ids)
        assert len(np.unique(sample.vectors, axis=0)) == 20
        drawn += np.bincount(sample.vectors[:, 0].astype(int) - 1, minlength=len(lengths))
    expected = drawn.sum() * np.array(lengths) / len(ids)
    assert ((drawn - expected) ** 2 / expected).sum() < chi2.ppf(0.999, len(lengths) - 1)
