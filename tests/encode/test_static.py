from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from offsphere.encode import load_encoder
from offsphere.encode.static import StaticEncoder, load_model2vec
from tests.encode.conftest import TEXTS


def test_wordllama_is_the_packages_own_mean(wordllama):
    inference = pytest.importorskip("wordllama.inference")
    oracle = object.__new__(inference.WordLlamaInference)
    own_tokenizer = type(wordllama.tokenizer).from_str(wordllama.tokenizer.to_str())
    own_tokenizer.enable_padding()
    oracle.tokenizer = own_tokenizer
    encoded = own_tokenizer.encode_batch(TEXTS, add_special_tokens=False)
    mask = np.array([row.attention_mask for row in encoded], np.float32)
    expected = oracle.avg_pool(wordllama.table[np.array([row.ids for row in encoded])], mask)
    assert np.allclose(wordllama.encode(TEXTS, "query"), expected, atol=1e-5)
    assert (wordllama.count_tokens(TEXTS) == mask.sum(axis=1)).all()


def test_an_empty_text_is_the_zero_vector(wordllama):
    assert not wordllama.encode([""], "query").any()
    assert wordllama.encode(["", "text"], "query")[1].any()


@pytest.mark.parametrize("kind", ["plain", "weights", "mapping"])
@pytest.mark.parametrize("normalize", [False, True])
def test_model2vec_folders_are_read_as_model2vec_does(tmp_path, wordllama, kind, normalize):
    model2vec = pytest.importorskip("model2vec")
    rng = np.random.default_rng(0)
    table, more = wordllama.table, {}
    if kind == "weights":
        more["weights"] = rng.random(len(table)).astype(np.float32)
    if kind == "mapping":
        more["token_mapping"] = rng.integers(0, 100, len(table))
        table = table[:100]
    tokenizer = type(wordllama.tokenizer).from_str(wordllama.tokenizer.to_str())
    oracle = model2vec.StaticModel(table, tokenizer, normalize=normalize, **more)
    oracle.save_pretrained(tmp_path)
    expected = oracle.encode(TEXTS)
    encoder = load_model2vec(Path(tmp_path), "mine", keep_normalize=True)
    assert np.allclose(encoder.encode(TEXTS, "query"), expected, atol=1e-5)
    raw = load_encoder(str(tmp_path))
    assert isinstance(raw, StaticEncoder)
    assert bool(raw.description.removed) == normalize
    rows = raw.encode(TEXTS[:2], "query")
    assert np.ptp(np.linalg.norm(rows, axis=1)) > 1e-3


def test_static_models_need_no_torch():
    import subprocess
    import sys

    code = (
        "import sys; from offsphere.encode import load_encoder; load_encoder('wordllama').encode(['a text'], 'query'); "
        "print('torch' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
