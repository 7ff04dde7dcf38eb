"""Codes are those of the libraries that write them: FAISS, torch, sentence-transformers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offsphere.scoring.stored.codes import CODES, BFloat16, Binary, Float16, Int8

faiss = pytest.importorskip("faiss")


def heavy_tailed(rows=500, dimension=24, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rows, dimension)) * rng.lognormal(0, 1, (rows, 1))).astype(np.float32)


def fitted_int8(rows):
    return Int8.fitted(rows.min(axis=0), rows.max(axis=0))


def faiss_quantizer(rows, kind):
    quantizer = faiss.ScalarQuantizer(rows.shape[1], kind)
    quantizer.train(rows)
    return quantizer


@pytest.mark.parametrize("seed", range(5))
def test_int8_is_the_8_bit_code_of_faiss(seed):
    rows = heavy_tailed(seed=seed)
    rows[:, 3] = 1.5  # a dimension without a range
    quantizer = faiss_quantizer(rows, faiss.ScalarQuantizer.QT_8bit)
    codes = quantizer.compute_codes(rows)
    assert (fitted_int8(rows).codes(rows) == codes).all()
    assert np.allclose(fitted_int8(rows).decoded(rows), quantizer.decode(codes), rtol=1e-5, atol=1e-5)


def test_what_lies_outside_the_range_gets_its_end_as_in_faiss():
    rows = heavy_tailed()
    quantizer = faiss_quantizer(rows, faiss.ScalarQuantizer.QT_8bit)
    assert (fitted_int8(rows).codes(rows * 3) == quantizer.compute_codes(rows * 3)).all()


def test_int8_is_within_a_step_of_sentence_transformers():
    quantize_embeddings = pytest.importorskip("sentence_transformers.quantization").quantize_embeddings
    rows = heavy_tailed()
    theirs = quantize_embeddings(rows, "uint8", calibration_embeddings=rows)
    assert np.abs(fitted_int8(rows).codes(rows).astype(int) - theirs.astype(int)).max() <= 1


def test_float16_is_that_of_faiss_but_for_numbers_that_lie_in_the_middle_of_two():
    rows = heavy_tailed(5_000)
    quantizer = faiss_quantizer(rows, faiss.ScalarQuantizer.QT_fp16)
    theirs = quantizer.decode(quantizer.compute_codes(rows))
    ours = Float16().decoded(rows)
    other = ours != theirs
    assert (np.abs(ours - rows) == np.abs(theirs - rows)).all()
    assert other.mean() < 1e-3


@given(arrays(np.float32, (4, 3), elements=st.floats(-65_504, 65_504, width=32)))
def test_float16_is_that_of_torch(rows):
    import torch

    assert (Float16().decoded(rows) == torch.from_numpy(rows).half().float().numpy()).all()


@given(arrays(np.float32, (4, 3), elements=st.floats(-(2.0**127), 2.0**127, width=32)))
def test_bfloat16_is_that_of_torch(rows):
    import torch

    theirs = torch.from_numpy(rows).to(torch.bfloat16).to(torch.float32).numpy()
    assert (BFloat16().decoded(rows) == theirs).all()


def test_bits_are_those_of_sentence_transformers():
    quantize_embeddings = pytest.importorskip("sentence_transformers.quantization").quantize_embeddings
    rows = heavy_tailed()
    rows[0, :5] = 0
    bits = np.unpackbits(quantize_embeddings(rows, "ubinary"), axis=1)
    assert ((Binary().decoded(rows) > 0) == bits).all()


@pytest.mark.parametrize("name", CODES)
def test_what_was_read_back_is_written_the_same_again(name):
    rows = heavy_tailed()
    code = CODES[name].fitted(rows.min(axis=0), rows.max(axis=0))
    once = code.decoded(rows)
    again = code.decoded(once)
    assert once.dtype == np.float32
    if name == "int8":  # the middle of the last step lies half a step outside the range
        assert (code.codes(once) == code.codes(rows)).all()
    else:
        assert (again == once).all()
