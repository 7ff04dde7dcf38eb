"""What to do stands before the first colon that is not inside brackets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.wording.headline import split_headline


@pytest.mark.parametrize(
    ("sentence", "first", "rest"),
    [
        ("Keep cosine: all alike.", "Keep cosine.", "All alike."),
        ("Stop using dot (it loses: a lot): take cosine.", "Stop using dot (it loses: a lot).", "Take cosine."),
        ("No colon here.", "No colon here.", ""),
        ("At 10:30 nothing.", "At 10:30 nothing.", ""),
    ],
)
def test_a_sentence_is_divided_at_its_colon(sentence, first, rest):
    assert split_headline(sentence) == (first, rest)


@given(st.text(alphabet="ab :()[].", max_size=40))
def test_nothing_is_lost(sentence):
    first, rest = split_headline(sentence)
    together = f"{first[:-1]}: {rest}" if rest or first != sentence else first
    assert together.casefold().rstrip() == sentence.casefold().rstrip()
