"""Length of tokens against frequency and information."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import entropy, spearmanr

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.encode.encoder import Description, Tokens
from offsphere.encode.function import FunctionEncoder
from offsphere.encode.static import StaticEncoder
from offsphere.encode.static_files import TokenTable
from offsphere.geometry.co_occurrence import information, information_by_chance
from tests.cli.running import run


def words_encoder(vectors, names):
    """A static model of whole words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    tokenizer = Tokenizer(WordLevel({name: number for number, name in enumerate(names)} | {"?": len(names)}, "?"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    table = np.vstack([vectors, np.zeros(vectors.shape[1])]).astype(np.float32)
    numbers = TokenTable(table, np.arange(len(table)), np.ones(len(table), np.float32))
    return StaticEncoder(numbers, tokenizer, Description("made", "1", table.shape[1]), unknown=len(names))


def test_information_is_scipys_divergence_of_the_company():
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 12, size).tolist() for size in (30, 1, 0, 44, 7)]
    counts = np.zeros((12, 12))
    for text in texts:
        for place, word in enumerate(text):
            for other in range(max(0, place - 3), min(len(text), place + 4)):
                counts[word, text[other]] += other != place
    expected = [entropy(row, counts.sum(axis=0)) for row in counts]
    np.testing.assert_allclose(information(Tokens.of(texts), np.arange(12), 3), expected, rtol=1e-9)


def test_what_shuffled_texts_seem_to_tell_is_chance():
    """Of texts without any order nothing is left, for rare tokens as for frequent ones."""
    rng = np.random.default_rng(1)
    share = 1 / np.arange(1, 61)
    texts = [rng.choice(60, 40, p=share / share.sum()).tolist() for _ in range(300)]
    tokens, ids = Tokens.of(texts), np.arange(60)
    told, by_chance = information(tokens, ids), information_by_chance(tokens, ids)
    assert told[-5:].mean() > 5 * told[:5].mean()  # rare ones seem to tell much
    assert abs((told - by_chance)[30:].mean()) < 0.2 * told[30:].mean()
    tops = [[2 * number, 2 * number + 1] * 20 for number in range(30)] * 3  # every token has one companion
    paired = Tokens.of(tops)
    assert (information(paired, ids) - information_by_chance(paired, ids)).min() > 1


def test_lengths_that_were_planted_are_found():
    rng = np.random.default_rng(2)
    share = 1 / np.arange(1, 41)
    texts = [rng.choice(40, 30, p=share / share.sum()).tolist() for _ in range(200)]
    tokens, names = Tokens.of(texts), [f"w{number}" for number in range(40)]
    ids, counts = np.unique(tokens.ids, return_counts=True)
    told = information(tokens, ids) - information_by_chance(tokens, ids)
    directions = rng.normal(size=(40, 6))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    sentences = [" ".join(names[word] for word in text) for text in texts]
    by_information = directions * np.sqrt(told - told.min() + 0.01)[:, None]
    words = osp.measure_words(words_encoder(by_information, names), sentences)
    assert words.information.spearman.value > 0.999
    by_frequency = directions / counts[:, None]
    words = osp.measure_words(words_encoder(by_frequency, names), sentences)
    assert words.frequency.spearman.value < -0.999
    assert words.shortest[0].token == names[int(np.argmax(counts))]
    assert words.longest[0].count == counts.min()


def test_taking_frequency_out_is_a_partial_correlation(real_data):
    """Against the definition: the correlation of what is left of both ranks after a straight line in a third."""
    from scipy.stats import rankdata

    task = osp.load_task(real_data / "cranfield")
    encoder = osp.load_encoder("wordllama")
    texts = list(task.document_texts[:400])
    words = osp.measure_words(encoder, texts)
    tokens = encoder.tokens(texts)
    ids, counts = np.unique(tokens.ids, return_counts=True)
    often = counts >= 10
    told = (information(tokens, ids) - information_by_chance(tokens, ids))[often]
    length = np.linalg.norm(encoder.table[ids[often]], axis=1)
    third = np.stack([np.ones(often.sum()), rankdata(counts[often])], axis=1)
    left = [rank - third @ np.linalg.lstsq(third, rank, rcond=None)[0] for rank in (rankdata(length), rankdata(told))]
    assert words.beyond_frequency == pytest.approx(np.corrcoef(*left)[0, 1], abs=1e-4)
    assert words.frequency.spearman.value == pytest.approx(spearmanr(counts[often], length).statistic, abs=1e-6)


@pytest.mark.slow
def test_skip_grams_grow_with_what_a_word_tells(real_data):
    """Oyama et al. 2023, on skip-grams that gensim trains on the same texts."""
    pytest.importorskip("gensim")
    from gensim.models import Word2Vec
    from gensim.utils import simple_preprocess

    task = osp.load_task(real_data / "cranfield")
    sentences = [simple_preprocess(text) for text in task.document_texts]
    model = Word2Vec(sentences, vector_size=100, sg=1, negative=5, window=5, min_count=10, epochs=10, workers=1, seed=0)
    encoder = words_encoder(model.wv.vectors, model.wv.index_to_key)
    words = osp.measure_words(encoder, [" ".join(sentence) for sentence in sentences], least=30)
    assert words.information.spearman.value > 0.5
    assert words.beyond_frequency > 0.3


def test_too_few_tokens_and_models_without_any_are_refused():
    with pytest.raises(OffsphereError, match=r"0 tokens occur 10 times or more in 2 texts: .* give more texts"):
        osp.measure_words(osp.load_encoder("wordllama"), ["a wing", ""])
    with pytest.raises(OffsphereError, match="does not say which tokens"):
        osp.measure_words(FunctionEncoder(lambda texts: np.ones((len(texts), 4)), "ones"), ["a"])


def test_the_command_gives_the_ends_and_asks_for_a_model(real_data):
    found = json.loads(run("measure", real_data / "xquad", "--words", "--model", "wordllama", "--json").stdout)
    assert len(found["words"]["longest"]) == len(found["words"]["shortest"]) == 10
    nobody = run("measure", real_data / "xquad", "--words")
    assert (nobody.returncode, nobody.stderr.count("\n")) == (2, 1)
    assert "--model" in nobody.stderr
