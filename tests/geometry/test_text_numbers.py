from __future__ import annotations

import numpy as np

from offsphere import measure
from offsphere.encode.encoder import Tokens
from offsphere.geometry.frequency import frequency_bias
from offsphere.geometry.text_numbers import text_numbers


def test_words_are_counted_and_their_frequency_averaged():
    left, right = text_numbers([["The cat", ""], ["the the dog!"]])
    assert left.characters.tolist() == [7, 0]
    assert left.tokens.tolist() == [2, 0]
    assert right.tokens.tolist() == [3]
    the, cat, dog = np.log(3 / 5), np.log(1 / 5), np.log(1 / 5)
    assert np.allclose(left.frequency, [(the + cat) / 2, np.nan], equal_nan=True)
    assert np.allclose(right.frequency, [(2 * the + dog) / 3])
    assert left.counted == "words"


def test_a_models_tokens_are_used_where_they_are_known():
    (numbers,) = text_numbers([["a", "b c"]], lambda texts: Tokens.of([[5], [5, 7]]))
    assert numbers.counted == numbers.frequency_of == "tokens"
    assert numbers.tokens.tolist() == [1, 2]


def test_bands_hold_the_cosines_of_their_own_documents():
    rng = np.random.default_rng(0)
    vectors = rng.normal(0.3, 1, (50, 6)).astype(np.float32)
    frequency = rng.normal(-8, 1, 50)
    frequency[7] = np.nan
    bias = frequency_bias("document", vectors, frequency, "words", None)
    assert [band.documents for band in bias.bands] == [10, 10, 10, 10, 9]
    order = np.argsort(frequency)[:10]  # what is no number comes last
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    within = (units[order] @ units[order].T)[np.triu_indices(10, 1)]
    assert np.isclose(bias.bands[0].within, within.mean(), atol=1e-6)
    everything = np.delete(units, 7, axis=0)
    assert np.isclose(bias.bands[0].with_all, (units[order] @ everything.T).mean(), atol=1e-6)


def test_length_follows_text_in_the_static_model(embedded):
    """What papers.md and we found before: vectors of a mean of tokens get shorter with the text."""
    task, vectors = embedded("cranfield")
    shape = measure(task, vectors, ["lengths", "frequency"])
    document = shape.lengths[1]
    assert document.counted == "tokens"
    assert document.with_characters.spearman.high < -0.3
    assert document.empty == 2
    assert sum(band.documents for band in shape.frequency[0].bands) == 1_398


def test_lengths_are_held_against_the_number_they_name():
    """Vectors whose length is the number of words, and not that of characters."""
    from offsphere.data import PairTask, PairVectors

    rng = np.random.default_rng(0)
    words = rng.integers(1, 30, 200)
    texts = [" ".join(f"{'x' * int(rng.integers(1, 40))}{number % 50}" for number in range(count)) for count in words]
    rows = np.zeros((200, 3), np.float32)
    rows[:, 0] = words
    task = PairTask("words", rng.uniform(0, 5, 200), texts, texts)
    shape = measure(task, PairVectors.of(task, rows, rows), ["lengths", "frequency"])
    assert np.isclose(shape.lengths[0].with_tokens.spearman.value, 1)
    assert shape.lengths[0].with_characters.spearman.value < 0.999
    (numbers,) = text_numbers([texts])
    from scipy.stats import spearmanr

    expected = spearmanr(words, numbers.frequency).statistic
    assert np.isclose(shape.lengths[0].with_frequency.spearman.value, expected, atol=0.02)


def test_the_frequency_correlation_is_over_the_documents_of_positive_pairs():
    from scipy.stats import spearmanr

    from offsphere.geometry.positives import Positives

    rng = np.random.default_rng(0)
    vectors = rng.normal(0.3, 1, (80, 4)).astype(np.float32)
    frequency = rng.normal(-8, 1, 80)
    right = rng.permutation(80)[:50]
    cosines = np.tanh(frequency[right] + 8 + rng.normal(0, 0.5, 50))
    bias = frequency_bias(
        "document", vectors, frequency, "words", Positives(np.arange(50), right, cosines, *np.ones((2, 50)))
    )
    assert np.isclose(bias.positive.spearman.value, spearmanr(frequency[right], cosines).statistic)
    assert sum(band.positives for band in bias.bands) == 50
    first = np.argsort(frequency)[:16]
    assert np.isclose(bias.bands[0].positive.value, cosines[np.isin(right, first)].mean())
