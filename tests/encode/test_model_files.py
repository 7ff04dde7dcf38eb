"""A model is known by all of its files that can change a vector: a change of any is noticed, of its notes is not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from offsphere.base.errors import DataError
from offsphere.encode import load_encoder
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.encode.model_files import digest_of_model
from tests.encode.test_static_files import save_model
from tests.learning.encoders.conftest import save_transformer

TEXTS = ["the red cat sleeps", "a dog", "the old house"]
SIDE = SideItems("document", ["a", "b", "c"], TEXTS)


@pytest.fixture(scope="module")
def transformer(tmp_path_factory):
    return save_transformer(tmp_path_factory.mktemp("model"))


def test_another_pooling_is_another_model(transformer, tmp_path):
    model = shutil.copytree(transformer, tmp_path / "model")
    before = np.array(embed_items(SIDE, load_encoder(str(model)), tmp_path / "store").vectors)
    again = embed_items(SIDE, load_encoder(str(model)), tmp_path / "store")
    np.testing.assert_array_equal(again.vectors, before)
    path = model / "1_Pooling" / "config.json"
    path.write_text(path.read_text().replace('"mean"', '"cls"').replace('"pooling_mode_mean', '"pooling_mode_was'))
    changed = load_encoder(str(model))
    assert not np.allclose(changed.encode(TEXTS, "document"), before)
    with pytest.raises(DataError, match=r"holds vectors of .*model \(\w+\), not .*model \(\w+\): choose another --out"):
        embed_items(SIDE, changed, tmp_path / "store")


def test_every_file_that_is_read_counts_and_no_other(transformer, tmp_path):
    model = shutil.copytree(transformer, tmp_path / "model")
    digest = digest_of_model(model)
    for path in [path for path in model.rglob("*") if path.is_file()]:
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        assert digest_of_model(model) != digest, path
        path.write_bytes(content)
    for name in ("README.md", ".gitattributes", ".cache/huggingface/x.lock", "__pycache__/a.pyc", "checkpoints/a.bin"):
        (model / name).parent.mkdir(parents=True, exist_ok=True)
        (model / name).write_text("notes")
    assert digest_of_model(model) == digest
    (model / "1_Pooling").rename(model / "2_Pooling")
    assert digest_of_model(model) != digest


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_each_file_of_a_model2vec_folder_counts(tmp_path, name):
    save_model(tmp_path)
    before = load_encoder(str(tmp_path)).description.revision
    assert load_encoder(str(tmp_path)).description.revision == before
    path = tmp_path / name
    if name == "config.json":
        path.write_text('{"model_type": "model2vec", "max_length": 3}')
    elif name == "tokenizer.json":
        words = json.loads(path.read_text())
        words["model"]["vocab"]["w1"], words["model"]["vocab"]["w2"] = 2, 1
        path.write_text(json.dumps(words))
    else:
        path.write_bytes(path.read_bytes()[:-1] + b"\x3f")
    assert load_encoder(str(tmp_path)).description.revision != before


def test_wordllama_is_known_by_table_and_tokenizer(wordllama, tmp_path, monkeypatch):
    import importlib.util

    home = Path(importlib.util.find_spec("wordllama").origin).parent
    (tmp_path / "wordllama").mkdir()
    for folder in ("weights", "tokenizers"):
        shutil.copytree(home / folder, tmp_path / "wordllama" / folder)
    (tmp_path / "wordllama" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "wordllama", raising=False)
    assert load_encoder("wordllama").description.revision == wordllama.description.revision
    path = tmp_path / "wordllama" / "tokenizers" / "l2_supercat_tokenizer_config.json"
    path.write_text(path.read_text() + " ")
    assert load_encoder("wordllama").description.revision != wordllama.description.revision
