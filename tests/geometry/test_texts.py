from __future__ import annotations

import numpy as np

from offsphere import measure
from offsphere.encode.encoder import Tokens
from offsphere.geometry.frequency import frequency_bias
from offsphere.geometry.texts import text_numbers


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
    (found,) = text_numbers([["a", "b c"]], lambda texts: Tokens.of([[5], [5, 7]]))
    assert found.counted == found.frequency_of == "tokens"
    assert found.tokens.tolist() == [1, 2]


def test_bands_hold_the_cosines_of_their_own_documents():
    rng = np.random.default_rng(0)
    vectors = rng.normal(0.3, 1, (50, 6)).astype(np.float32)
    frequency = rng.normal(-8, 1, 50)
    frequency[7] = np.nan
    found = frequency_bias("document", vectors, frequency, "words", None)
    assert [band.documents for band in found.bands] == [10, 10, 10, 10, 9]
    order = np.argsort(frequency)[:10]  # what is no number comes last
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    own = (units[order] @ units[order].T)[np.triu_indices(10, 1)]
    assert np.isclose(found.bands[0].within, own.mean(), atol=1e-6)
    everything = np.delete(units, 7, axis=0)
    assert np.isclose(found.bands[0].with_all, (units[order] @ everything.T).mean(), atol=1e-6)


def test_length_follows_text_in_the_static_model(real_data, tmp_path):
    """What papers.md and we found before: vectors of a mean of tokens get shorter with the text."""
    from offsphere import embed, load_task

    task = load_task(real_data / "cranfield")
    found = measure(embed(task, "wordllama", tmp_path / "vectors"), task, ["lengths", "frequency"])
    document = found.lengths[1]
    assert document.counted == "tokens"
    assert document.with_characters.spearman.high < -0.3
    assert document.empty == 2
    assert sum(band.documents for band in found.frequency[0].bands) == 1_398
