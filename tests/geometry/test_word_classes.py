"""Functional against meaningful tokens, however a tokenizer writes them."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.geometry.word_classes import FUNCTIONAL, word_classes

SENTENCE = ["The", "old", "bank", "of", "the", "river", "is", "not", "far", "."]
FUNCTION_WORDS = [True, False, False, True, True, False, True, True, False, True]


@pytest.mark.parametrize("mark", ["", "\u0120", "\u2581"])
def test_tokenizers_agree_on_what_a_function_word_is(mark):
    functional, semantic = word_classes([f"{mark}{word}" for word in SENTENCE])
    assert functional.tolist() == FUNCTION_WORDS
    assert (functional ^ semantic).all()


def test_pieces_of_words_and_numbers_are_neither():
    functional, semantic = word_classes(["##the", "##ing", "1990", "4th"])
    assert not functional.any()
    assert not semantic.any()
    functional, semantic = word_classes(["\u2581bank", "the", "ing"])  # where a mark says which begin a word
    assert functional.tolist() == [False, False, False]
    assert semantic.tolist() == [True, False, False]


def test_closed_classes_of_another_source_are_in_the_list():
    """Of scikit-learn's stop words, which somebody else collected, most are functional; none of ours means a thing."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    assert len(FUNCTIONAL & ENGLISH_STOP_WORDS) / len(FUNCTIONAL) > 0.85
    nouns = ["bank", "river", "guitar", "woman", "dog", "plane", "egg", "ball", "runs", "green", "quickly"]
    assert not np.any(word_classes(nouns)[0])
