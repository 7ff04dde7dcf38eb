"""What a training starts from: data put apart, hard negatives, views, and the model made ready."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.learning.data.text_views import augment, crop, view_pairs
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learning.encoders.judging import encode_task
from offsphere.learning.encoders.prepare import prepare, settle
from offsphere.learning.encoders.trainable import forget
from offsphere.learning.encoders.training_dataset import training_dataset
from tests.learning.encoders.conftest import words_task
from tests.learning.encoders.trainings import load


def test_hard_negatives_are_judged_ones_then_what_the_model_ranks_high(words, transformer):
    recipe = EncoderRecipe(hard_negatives=2, batch=16)
    setup = EncoderSetup.of(transformer, text_data(words), recipe, 0).with_negatives()
    vectors = encode_task(setup.model, words)
    pairs = setup.pairs
    for query, document, negatives in zip(pairs.queries, pairs.documents, pairs.negatives, strict=True):
        ranked = np.argsort(-(vectors.queries[query] @ vectors.documents.T))[:33]
        assert document not in negatives
        assert set(negatives.tolist()) <= set(ranked.tolist())
    columns = training_dataset(pairs).column_names
    assert columns == ["anchor", "positive", "negative_1", "negative_2", "label"]


def test_queries_that_are_judged_by_are_not_learned_from(words):
    shared = words.only(np.arange(5))
    data = text_data(words, judged=[shared])
    learned = {words.query_texts[row] for row in data.rows}
    assert not learned & set(shared.query_texts)
    assert not learned & set(data.held_out.task.query_texts)


def test_what_is_stopped_by_is_not_judged_by(words):
    test = words_task(40, 60, seed=5, name="test")
    with pytest.raises(OffsphereError, match="judged by too"):
        text_data(words, held_out=test, judged=[test])
    part = test.only(np.arange(20))
    data = text_data(words, held_out=test, judged=[part])
    assert not set(data.held_out.task.query_texts) & set(part.query_texts)


def test_fewer_documents_keep_what_is_judged(words):
    small = words.only(np.arange(10)).with_fewer_documents(20, 0)
    assert len(small.document_ids) == 20
    whole = words.only(np.arange(10))
    for query in range(10):
        among_few, among_all = (
            {task.document_texts[d] for q, d in zip(task.judgments.queries, task.judgments.documents) if q == query}  # noqa: B905
            for task in (small, whole)
        )
        assert among_few == among_all


def test_views_are_made_of_the_words_of_the_text():
    rng = np.random.default_rng(0)
    text = " ".join(f"w{number}" for number in range(40))
    for _ in range(50):
        assert set(augment(text, rng).split()) <= set(text.split())
        numbers = [int(word[1:]) for word in crop(text, rng).split()]
        assert numbers == sorted(numbers)
        assert max(numbers) - min(numbers) < 20
    assert crop("", rng) == ""
    pairs, again = (view_pairs([text] * 3, "crops", 2, seed) for seed in (0, 0))
    assert pairs.sources[0].queries == again.sources[0].queries
    assert len(pairs) == 2  # the same text once, in both epochs
    assert pairs.sources[0].queries[0] != pairs.sources[0].queries[1]


def test_documents_that_are_cut_are_counted(words, transformer):
    long = words.with_fewer_documents(100, 0)
    setup = EncoderSetup.of(transformer, text_data(long), EncoderRecipe(max_tokens=4, batch=16), 0)
    assert setup.counts["documents_cut"] == 100
    assert any("100 of 100 documents are longer than the 4 tokens" in note for note in setup.notes)


def test_from_scratch_forgets_a_transformer_and_a_table(transformer, static):
    """Only what starts at zero or one is as it was."""
    for model in (transformer, static):
        before = {name: value.clone() for name, value in model.state_dict().items()}
        forget(model, 3)
        after = model.state_dict()
        moved = {name for name, value in after.items() if not torch.equal(value, before[name])}
        wanted = {name for name, value in before.items() if value.is_floating_point() and value.std() > 1e-6}
        assert moved >= wanted
        forget(model, 3)
        assert all(torch.equal(value, after[name]) for name, value in model.state_dict().items())


def test_a_model_saved_in_half_precision_is_trained_in_single(words, transformer_folder, tmp_path):
    model = load(transformer_folder).bfloat16()
    trained = osp.train(words, model, tmp_path / "m", steps=2, batch=16)
    assert {value.dtype for value in trained.model.parameters()} == {torch.float32}


def test_a_settled_model_is_a_plain_one(transformer):
    import pickle

    prepare(transformer, "both", "both")
    osp.ContrastiveLoss(transformer, "both")
    settle(transformer)
    pickle.loads(pickle.dumps(transformer))  # what several processes that encode do with it
    transformer.train()
    lengths = transformer(transformer.preprocess(["red cat"]))["sentence_embedding"].norm(dim=1)
    torch.testing.assert_close(lengths.detach(), torch.ones(1))


def test_prepare_keeps_other_stages_and_can_be_done_again(transformer):
    from sentence_transformers.base.modules import Dense, Normalize

    transformer.append(Normalize())
    transformer.append(Dense(32, 8))
    transformer.append(Normalize())
    prepare(transformer, "both", (0.5, 0.5))
    kept = ["Transformer", "Pooling", "Normalize", "Dense"]  # what the Dense works on is normalised, as it was
    assert [type(stage).__name__ for stage in transformer] == [*kept, "Normalize"]
    once = transformer.encode_document(["red cat"])
    prepare(transformer, "both", (0.5, 0.5))
    np.testing.assert_array_equal(transformer.encode_document(["red cat"]), once)
    prepare(transformer, "query", "none")
    settle(transformer)
    assert [type(stage).__name__ for stage in transformer] == [*kept, "Router"]


def test_cosine_and_dot_are_names_of_normalisations_too():
    for name, meaning in (("cosine", "both"), ("dot", "none")):
        assert EncoderRecipe(normalize=name).exponents == EncoderRecipe(normalize=meaning).exponents
