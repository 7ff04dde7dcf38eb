from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import ParameterError
from offsphere.scoring.names import parse_similarity
from offsphere.scoring.similarity import (
    COSINE,
    FAMILIES,
    Angular,
    Form,
    NormMix,
    Overlap,
    Polar,
    RadialConfidence,
    Tanh,
)
from tests.oracles import FORMULAS

NAMES = list(FORMULAS)
LENGTH = st.floats(0.01, 100)


@pytest.mark.parametrize("name", NAMES)
@given(cosine=st.floats(-1, 1), query=LENGTH, document=LENGTH)
def test_value_is_the_formula(name, cosine, query, document):
    dot = np.array([cosine * query * document])
    value = parse_similarity(name)(dot, np.array([query]), np.array([document]))
    assert np.allclose(value, FORMULAS[name](dot, query, document), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), query=LENGTH)
def test_ranking_key_orders_as_the_value(name, data, query):
    similarity = parse_similarity(name)
    cosines = np.array(data.draw(st.lists(st.floats(-1, 1), min_size=8, max_size=8)))
    lengths = np.array(data.draw(st.lists(LENGTH, min_size=8, max_size=8)))
    dot = cosines * query * lengths
    value = similarity(dot, np.full(8, query), lengths)
    weight, offset = similarity.document_terms(lengths)
    factor = similarity.query_factor(np.array([query]))[0]
    if similarity.form is Form.AFFINE:
        key = dot * weight + factor * offset
    elif similarity.form is Form.RATIO:
        key = dot / (factor + offset)
    else:
        key = -(np.abs(factor - offset) + similarity.weight * np.arccos(np.clip(dot * weight / factor, -1, 1)))
    apart = np.subtract.outer(value, value) > 1e-6
    assert (np.subtract.outer(key, key)[apart] > 0).all()


@given(cosine=st.floats(-1, 1), lengths=st.tuples(LENGTH, LENGTH))
def test_overlap_and_tanh_rise_together(cosine, lengths):
    a, b = (np.array([length]) for length in lengths)
    dot = cosine * a * b
    x = Overlap()(dot, a, b)
    # overlap = x / (1 - |x|) and tanh(2x) of the same x
    ratio = x / (1 + np.abs(x))
    assert np.allclose(np.tanh(2 * ratio), Tanh()(dot, a, b))


@given(cosines=st.lists(st.floats(-1, 1), min_size=2, max_size=20))
def test_on_unit_vectors_overlap_and_tanh_rise_with_cosine(cosines):
    ascending, ones = np.sort(cosines), np.ones(len(cosines))
    for similarity in (Overlap(), Tanh()):
        assert (np.diff(similarity(ascending, ones, ones)) >= 0).all()


def test_equal_rankings_have_equal_keys():
    assert Angular().ranks_as == NormMix(1).ranks_as == RadialConfidence(0).ranks_as == COSINE.ranks_as
    assert Tanh().ranks_as == Overlap().ranks_as != COSINE.ranks_as
    assert NormMix(0.5).ranks_as != COSINE.ranks_as
    for level, equal in {"query": True, "order": True, "value": False}.items():
        assert (Angular().agreement_key(level) == COSINE.agreement_key(level)) is equal
        assert (Tanh().agreement_key(level) == Overlap().agreement_key(level)) is equal


def test_every_family_knows_its_parameters_and_their_ranges():
    for family in (family for family in FAMILIES.values() if family.by_name):
        similarity = family()
        assert set(similarity.parameters) == set(similarity.ranges)
        assert similarity.formula
        assert parse_similarity(similarity.name) == similarity


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NormMix(1.5), r"norm-mix: alpha = 1.5 is not a finite number in \[0, 1\]"),
        (lambda: RadialConfidence(-1), "radial-confidence: half = -1"),
        (lambda: Polar(float("nan"), 1), "polar: query = nan"),
    ],
)
def test_parameters_out_of_range_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
