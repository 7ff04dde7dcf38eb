"""Static models whose files are damaged or do not fit together are refused before compiled code reads them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import Unigram, WordLevel
from tokenizers.pre_tokenizers import Whitespace

from offsphere.base.errors import DataError, OffsphereError
from offsphere.encode import load_encoder
from offsphere.encode.static import load_model2vec
from tests.processes import run_command

WORDS = 12
TABLE = np.random.default_rng(0).standard_normal((WORDS, 5)).astype(np.float32)


def save_model(folder, **tensors):
    """A model2vec folder of twelve words whose tensors are these; without any, a table with a row a word."""
    folder.mkdir(exist_ok=True)
    words = Tokenizer(WordLevel({"[UNK]": 0, **{f"w{n}": n for n in range(1, WORDS)}}, unk_token="[UNK]"))
    words.pre_tokenizer = Whitespace()
    words.save(str(folder / "tokenizer.json"))
    save_file({"embeddings": TABLE} | tensors, folder / "model.safetensors")
    (folder / "config.json").write_text('{"model_type": "model2vec", "normalize": false}')
    return folder


HUGE = np.full((WORDS, 5), 1e300)
REFUSED = {
    "a table shorter than the vocabulary": ({"embeddings": TABLE[:4]}, r"token 'w11' of number 11, and .* knows 4"),
    "a mapping shorter than the vocabulary": ({"mapping": np.arange(5)}, "token 'w11' of number 11"),
    "a mapping beyond the table": ({"mapping": np.arange(WORDS) + 1}, "gives token 11 row 12 of a table of 12 rows"),
    "a mapping far beyond": ({"mapping": np.full(WORDS, 2**62)}, "gives token 0 row 4611686018427387904"),
    "a mapping before the table": ({"mapping": -np.arange(WORDS)}, "gives token 1 row -1"),
    "a mapping of fractions": ({"mapping": np.linspace(0, 1, WORDS)}, "expected a whole number a token"),
    "a mapping of pairs": ({"mapping": np.zeros((WORDS, 1), np.int64)}, "expected a whole number a token"),
    "fewer weights than tokens": ({"weights": np.ones(3, np.float32)}, "3 weights for 12 tokens"),
    "weights that are none": ({"weights": np.full(WORDS, np.nan)}, "'weights' holds numbers that are not finite"),
    "a table with a hole": ({"embeddings": np.where(TABLE > 1, np.nan, TABLE)}, "numbers that are not finite"),
    "a table too large for float32": ({"embeddings": HUGE}, "more than float32 can hold"),
    "a table of one axis": ({"embeddings": TABLE[:, 0].copy()}, "expected numbers of 2 axes"),
    "a table of flags": ({"embeddings": TABLE > 0}, "expected numbers of 2 axes"),
    "a table of no width": ({"embeddings": TABLE[:, :0].copy()}, "holds no numbers"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_numbers_that_do_not_fit_together_are_refused(tmp_path, what):
    tensors, message = REFUSED[what]
    with pytest.raises(DataError, match=message):
        load_model2vec(save_model(tmp_path, **tensors), "mine")


def test_the_command_ends_with_one_line_where_it_once_read_beyond_the_table(tmp_path):
    (tmp_path / "pairs.csv").write_text("sentence1,sentence2,score\nw1,w11,1\nw2,w10,2\nw3,w9,3\n")
    short = {"embeddings": TABLE[:4], "mapping": np.full(WORDS, 1 << 40)}
    for name, tensor in short.items():
        save_model(tmp_path / name, **{name: tensor})
        result = run_command("embed", tmp_path / "pairs.csv", "--model", tmp_path / name, "--out", tmp_path / "out")
        assert result.returncode == 2
        assert result.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()


CONFIGS = {
    None: "config.json does not exist",
    "[1, 2]": "expected a JSON object, found list",
    "{": "not JSON",
    '{"max_length": "many"}': "'max_length' is 'many'",
    '{"max_length": true}': "'max_length' is True",
    '{"max_length": 0}': "'max_length' is 0",
    '{"max_length": -5}': "'max_length' is -5",
    '{"max_length": 99999999999}': "'max_length' is 99999999999",
    '{"normalize": "yes"}': "'normalize' is 'yes'",
}


@pytest.mark.parametrize("content", CONFIGS)
def test_a_configuration_that_is_none_is_one_line(tmp_path, content):
    save_model(tmp_path)
    (tmp_path / "config.json").unlink()
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(DataError, match=CONFIGS[content]):
        load_encoder(str(tmp_path))


def test_a_damaged_tokenizer_is_one_line(tmp_path):
    words = (save_model(tmp_path) / "tokenizer.json").read_text()
    empty = json.loads(words)
    empty["model"]["vocab"], empty["added_tokens"] = {}, []
    for content in ("", "{}", words[:100], words.replace("WordLevel", "Unheard"), "\x00" * 50, json.dumps(empty)):
        (tmp_path / "tokenizer.json").write_text(content)
        with pytest.raises(DataError, match=r"tokenizer\.json is (no tokenizer|a tokenizer without a vocabulary)"):
            load_encoder(str(tmp_path))
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        load_model2vec(tmp_path, "mine")


def test_damaged_weights_of_a_model2vec_folder_are_named(tmp_path):
    weights = save_model(tmp_path) / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7])
    with pytest.raises(DataError, match=r"model\.safetensors"):
        load_encoder(str(tmp_path))


class Beyond:
    """A tokenizer that gives tokens which its vocabulary does not have."""

    def encode_batch_fast(self, texts, add_special_tokens):
        return [type("Encoding", (), {"ids": [1, 2**32 - 1]})() for _ in texts]


def test_a_token_beyond_the_table_never_reaches_compiled_code(tmp_path):
    encoder = load_model2vec(save_model(tmp_path), "mine")
    encoder.tokenizer = Beyond()
    with pytest.raises(OffsphereError, match=r"gives token 4,294,967,295, and its table knows 12"):
        encoder.encode(["w1"], "query")
    with pytest.raises(OffsphereError, match="its files do not belong together"):
        encoder.count_tokens(["w1"])


def test_a_tokenizer_that_fails_on_a_text_is_one_line(tmp_path):
    save_model(tmp_path)
    words = json.loads((tmp_path / "tokenizer.json").read_text())
    words["model"]["unk_token"] = "[NONE]"
    (tmp_path / "tokenizer.json").write_text(json.dumps(words))
    encoder = load_model2vec(tmp_path, "mine")
    with pytest.raises(OffsphereError, match="the tokenizer of mine fails on a text"):
        encoder.encode(["never seen"], "query")


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "int8", "bfloat16"])
def test_tables_of_every_precision_are_read_as_torch_reads_them(tmp_path, kind):
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file as save_tensors

    save_model(tmp_path)
    table = (torch.from_numpy(TABLE) * 20).to(getattr(torch, kind))
    save_tensors({"embeddings": table}, tmp_path / "model.safetensors")
    rows = load_model2vec(tmp_path, "mine").encode([f"w{n}" for n in range(1, WORDS)], "query")
    np.testing.assert_array_equal(rows, table.to(torch.float32).numpy()[1:])


def test_the_unknown_token_of_a_unigram_tokenizer_is_left_out_as_model2vec_does(tmp_path):
    model2vec = pytest.importorskip("model2vec")
    words = Tokenizer(Unigram([("<unk>", 0.0), *((f"w{n}", -1.0) for n in range(1, 10))], unk_id=0))
    words.pre_tokenizer = Whitespace()
    oracle = model2vec.StaticModel(TABLE[:10], words, normalize=False)
    oracle.save_pretrained(tmp_path)
    texts = ["w1 zzz w2", "zzz", "w3"]
    np.testing.assert_allclose(load_model2vec(tmp_path, "mine").encode(texts, "query"), oracle.encode(texts), atol=1e-6)
