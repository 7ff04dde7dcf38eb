"""The loss in the trainer's shape against sentence-transformers' own losses, and against itself in other modes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Normalize
from sentence_transformers.sentence_transformer.losses import MatryoshkaLoss, MultipleNegativesRankingLoss

from offsphere.base.errors import OffsphereError
from offsphere.learning.encoders.contrastive import ContrastiveLoss, NotFiniteError
from offsphere.learning.encoders.prepare import prepare, settle
from offsphere.learning.encoders.text_keys import BatchKeys, row_keys
from offsphere.learning.objective.regularizers import VRNS, Uniformity

QUERIES = ["what runs", "who sleeps near the river", "a red cat", "old house", "what grows", "the bird sings"]
DOCUMENTS = [
    "the dog runs in the city",
    "the old dog sleeps near a river",
    "the cat is red and small",
    "a house above the city",
    "the tree grows near the house and the river",
    "a blue bird sings in the tree",
]
NEGATIVES = [
    "the dog waits",
    "a river falls",
    "a red bird",
    "a new house",
    "the city sleeps",
    "a cat sings under the tree",
]


def features(model, *columns, tasks=("query", "document", "document", "document")):
    batch = []
    for texts, task in zip(columns, tasks, strict=False):
        batch.append({**model.preprocess(list(texts)), "task": task})
    return batch


def gradients(model, loss, *columns, labels=None):
    """In double precision, so that what is the same is the same."""
    loss.double()
    loss.zero_grad()
    value = loss(features(model, *columns), labels)
    value.backward()
    grads = {name: parameter.grad.clone() for name, parameter in loss.named_parameters() if parameter.grad is not None}
    return float(value.detach()), grads


def assert_same(first, second, tolerance=1e-9):
    assert first[0] == pytest.approx(second[0], abs=tolerance)
    assert set(first[1]) == set(second[1])
    for name, gradient in first[1].items():
        torch.testing.assert_close(gradient, second[1][name], atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("columns", [(QUERIES, DOCUMENTS), (QUERIES, DOCUMENTS, NEGATIVES)], ids=["pairs", "triplets"])
def test_cosine_is_multiple_negatives_ranking(transformer, columns):
    theirs = gradients(transformer, MultipleNegativesRankingLoss(transformer, scale=20.0), *columns)
    ours = gradients(transformer, ContrastiveLoss(transformer, "both", scale="fixed"), *columns)
    assert_same(ours, theirs)


@pytest.mark.parametrize("direction", ["doc_to_query"])
def test_clip_is_both_directions_of_multiple_negatives_ranking(transformer, direction):
    peer = MultipleNegativesRankingLoss(
        transformer, directions=("query_to_doc", direction), partition_mode="per_direction"
    )
    theirs = gradients(transformer, peer, QUERIES, DOCUMENTS)
    assert_same(gradients(transformer, ContrastiveLoss(transformer, "both", "clip"), QUERIES, DOCUMENTS), theirs)


def test_dot_is_multiple_negatives_ranking_with_dot(transformer):
    from sentence_transformers.util import dot_score

    peer = MultipleNegativesRankingLoss(transformer, scale=2.0, similarity_fct=dot_score)
    ours = ContrastiveLoss(transformer, "none", scale="fixed", temperature=0.5)
    theirs = gradients(transformer, peer, QUERIES, DOCUMENTS, NEGATIVES)
    assert_same(gradients(transformer, ours, QUERIES, DOCUMENTS, NEGATIVES), theirs)


@pytest.mark.parametrize("loss", ["infonce", "clip", "simclr", "dcl", "dhel", "siglip", "spectral"])
@pytest.mark.parametrize("normalize", ["both", "query", "learn"])
def test_cached_mode_gives_the_gradients_of_plain_mode(dropout_folder, monkeypatch, loss, normalize):
    """With dropout, in parts of four texts and of two anchors, with regularisers: nothing differs."""
    from offsphere.learning.encoders import contrastive

    monkeypatch.setattr(contrastive, "ROWS", 2)
    results = []
    for mini_batch in (None, 2):
        model = SentenceTransformer(str(dropout_folder), device="cpu")
        prepare(model, normalize)  # with stages that must not be seen
        model.eval()  # dropout draws differ between one forward and three; that they are replayed is tested below
        options = {"regularizers": [VRNS(50, 3.0), Uniformity(0.2)], "mini_batch": mini_batch}
        criterion = ContrastiveLoss(model, normalize, loss, **options)
        columns = (QUERIES, DOCUMENTS) if loss == "spectral" else (QUERIES, DOCUMENTS, NEGATIVES)
        results.append(gradients(model, criterion, *columns))
    assert_same(*results)


def test_cached_mode_replays_dropout(dropout_folder):
    """With as many texts at a time as there are, both modes draw the same, and must agree while training too."""
    results = []
    for mini_batch in (None, 6):
        model = SentenceTransformer(str(dropout_folder), device="cpu")
        model.train()
        criterion = ContrastiveLoss(model, "query", mini_batch=mini_batch)
        torch.manual_seed(3)
        results.append(gradients(model, criterion, QUERIES, DOCUMENTS))
    assert_same(*results)


def test_slices_with_cosine_are_matryoshka_loss(transformer):
    inner = MultipleNegativesRankingLoss(transformer, scale=20.0)
    peer = MatryoshkaLoss(transformer, inner, matryoshka_dims=[32, 16, 8])
    ours = ContrastiveLoss(transformer, "both", dimensions=[32, 16, 8])
    value, grads = gradients(transformer, ours, QUERIES, DOCUMENTS)
    theirs = gradients(transformer, peer, QUERIES, DOCUMENTS)
    assert_same((value, grads), theirs)


@pytest.mark.parametrize("mini_batch", [None, 4])
def test_slices_keep_their_length(transformer, mini_batch):
    """Made twice as long, documents are worth more under a dot product; MatryoshkaLoss would not notice."""
    columns = features(transformer, QUERIES, DOCUMENTS)
    ours = ContrastiveLoss(
        transformer, "none", scale="fixed", temperature=1.0, dimensions=[32, 8], mini_batch=mini_batch
    )
    vectors = [transformer(dict(part))["sentence_embedding"].detach() for part in columns]
    by_hand = 0.0
    for width in (32, 8):
        scores = vectors[0][:, :width] @ vectors[1][:, :width].T
        by_hand += float(torch.nn.functional.cross_entropy(scores, torch.arange(6)))
    assert float(ours(columns, None).detach()) == pytest.approx(by_hand, rel=1e-5)
    wrapped = MatryoshkaLoss(
        transformer, ContrastiveLoss(transformer, "none", mini_batch=mini_batch), matryoshka_dims=[32, 8]
    )
    with pytest.raises(OffsphereError, match="dimensions="):
        wrapped(features(transformer, QUERIES, DOCUMENTS), None)


def test_a_slice_has_a_calibrated_scale_of_its_own(transformer):
    loss = ContrastiveLoss(transformer, "none", dimensions=[32, 8]).train()
    loss(features(transformer, QUERIES, DOCUMENTS), None)
    lengths = [float(loss.objective._scale(width)) for width in (32, 8)]
    assert lengths[1] > 1.5 * lengths[0]  # shorter vectors, larger scale


def test_a_model_that_still_ends_in_normalize_is_told(transformer):
    transformer.append(Normalize())
    with pytest.warns(UserWarning, match="prepare"):
        ContrastiveLoss(transformer, "query")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ContrastiveLoss(transformer, "both")


@pytest.mark.parametrize("normalize", ["both", "none", "query", "document", "half", "learn", (1.2, 0.3)], ids=str)
def test_a_prepared_model_scores_as_it_is_trained(transformer, normalize, tmp_path):
    """In training the loss sees raw vectors; encoded, they are what the loss scored."""
    transformer.append(Normalize())
    prepare(transformer, normalize)
    loss = ContrastiveLoss(transformer, normalize).train()
    if loss.objective.normalization.raw is not None:
        loss.objective.normalization.raw.data = torch.tensor([0.7, -0.4])
    transformer.train()
    raw = [transformer(part)["sentence_embedding"] for part in features(transformer, QUERIES, DOCUMENTS)]
    sides = loss.objective.scored_sides(loss._batch([[raw[0]], [raw[1]]], context(transformer))[0])
    transformer.eval()
    queries, documents = transformer.encode_query(QUERIES), transformer.encode_document(DOCUMENTS)
    np.testing.assert_allclose(queries, sides.queries.detach(), atol=2e-4)
    np.testing.assert_allclose(documents, sides.documents.detach(), atol=2e-4)
    settle(transformer)
    transformer.save_pretrained(str(tmp_path / "m"), create_model_card=False)
    from offsphere.encode.sentence import load_sentence_transformer

    plain = normalize in ("both", "none", "query", "document")
    loaded = SentenceTransformer(str(tmp_path / "m")) if plain else load_sentence_transformer(str(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.encode_query(QUERIES), queries)
    np.testing.assert_array_equal(loaded.encode_document(DOCUMENTS), documents)
    assert loaded.similarity_fn_name == ("cosine" if normalize == "both" else "dot")


def context(model):
    from offsphere.learning.encoders.contrastive import Context

    return Context(BatchKeys.of(features(model, QUERIES, DOCUMENTS), None))


@pytest.mark.parametrize("kind", ["transformer", "static"])
@pytest.mark.parametrize("entering", ["both", "query", (0.5, 1.0)], ids=str)
def test_token_vectors_are_divided_in_training_and_in_what_is_saved(request, kind, entering, tmp_path):
    model = request.getfixturevalue(kind)
    untouched = model.encode_document(DOCUMENTS)
    prepare(model, "none", entering)
    model.eval()
    queries, documents = model.encode_query(QUERIES), model.encode_document(DOCUMENTS)
    assert np.array_equal(documents, untouched) == (entering == "query")
    if kind == "static":  # by hand: the mean of divided rows
        table = model[0].embedding.weight.detach().numpy()
        exponent = {"both": 1, "query": 1}.get(entering, 0.5) if isinstance(entering, str) else entering[0]
        ids = model[0].tokenizer.encode(QUERIES[0], add_special_tokens=False).ids
        rows = table[ids] / np.linalg.norm(table[ids], axis=1, keepdims=True) ** exponent
        np.testing.assert_allclose(queries[0], rows.mean(axis=0), rtol=1e-5)
    settle(model)
    np.testing.assert_allclose(model.encode_query(QUERIES), queries, atol=1e-6)
    model.save_pretrained(str(tmp_path / "m"), create_model_card=False)
    loaded = SentenceTransformer(str(tmp_path / "m"))
    np.testing.assert_allclose(loaded.encode_query(QUERIES), queries, atol=1e-6)
    np.testing.assert_allclose(loaded.encode_document(DOCUMENTS), documents, atol=1e-6)


def test_the_same_text_is_no_negative(transformer):
    """A pair that stands twice would be its own negative; the loss must be that of the pair with the others."""
    doubled = ContrastiveLoss(transformer, "both")
    once = float(doubled(features(transformer, QUERIES[:3], DOCUMENTS[:3]), None).detach())
    again = [*range(3), 0]
    columns = [[QUERIES[row] for row in again], [DOCUMENTS[row] for row in again]]
    vectors = [transformer(part)["sentence_embedding"] for part in features(transformer, *columns)]
    scores = 20 * torch.nn.functional.normalize(vectors[0]) @ torch.nn.functional.normalize(vectors[1]).T
    scores[0, 3] = scores[3, 0] = -torch.inf
    by_hand = float(torch.nn.functional.cross_entropy(scores, torch.arange(4)).detach())
    assert float(doubled(features(transformer, *columns), None).detach()) == pytest.approx(by_hand, rel=1e-5)
    assert once != pytest.approx(by_hand)


def test_numbers_in_the_data_say_what_belongs_together(transformer):
    loss = ContrastiveLoss(transformer, "both", known=np.array([[0, 1], [2, 7]]))
    labels = torch.tensor([[0, 0, 5], [1, 1, 6], [2, 2, 7], [3, 3, 8]])
    columns = features(transformer, QUERIES[:4], DOCUMENTS[:4], NEGATIVES[:4])
    ignored = BatchKeys.of(columns, labels).false_negatives(loss.known)
    assert ignored.pairs.T.tolist() == [[0, 1]]
    assert ignored.hard.T.tolist() == [[2, 2]]


@pytest.mark.parametrize("kind", ["transformer", "static"])
def test_texts_are_told_apart_by_their_tokens_in_their_order(request, kind):
    model = request.getfixturevalue(kind)
    texts = ["the cat", "cat the", "the cat", "the", "the cat cat", "a dog runs near the river"]
    keys = row_keys(model.preprocess(texts)).tolist()
    assert keys[0] == keys[2]
    assert len(set(keys)) == 5
    assert row_keys(model.preprocess(texts[:1])).tolist() == keys[:1]  # whatever it is padded to
    if kind == "transformer":
        model.tokenizer.padding_side = "left"
        assert row_keys(model.preprocess(texts)).tolist() == keys


def test_a_momentum_encoder_follows_and_its_queue_gives_negatives(transformer):
    loss = ContrastiveLoss(transformer, "both", momentum=0.5, queue=8).train()
    start = [parameter.clone() for parameter in transformer.parameters()]
    value, grads = gradients(transformer, loss, QUERIES, DOCUMENTS)
    vectors = [transformer(part)["sentence_embedding"] for part in features(transformer, QUERIES, DOCUMENTS)]
    scores = 20 * torch.nn.functional.normalize(vectors[0]) @ torch.nn.functional.normalize(vectors[1]).T
    assert value == pytest.approx(float(torch.nn.functional.cross_entropy(scores, torch.arange(6)).detach()), rel=1e-5)
    assert not any(name.startswith("momentum") for name in grads)
    with torch.no_grad():
        for parameter in transformer.parameters():
            parameter.add_(1.0)
    loss(features(transformer, NEGATIVES[:4], DOCUMENTS[:4]), None)
    for slow, before in zip(loss.momentum.copy.parameters(), start, strict=True):
        torch.testing.assert_close(slow, before.double() + 0.5)
    assert int(loss.momentum.filled) == 10
    queue, _ = loss.momentum.queue
    assert queue.shape == (8, 32)
    torch.testing.assert_close(queue[2:6], vectors[1][2:6].detach())  # the oldest are overwritten


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("momentum", [None, 0.9])
def test_the_loss_sees_lengths_behind_every_stage(transformer, training, momentum):
    """In training and in evaluation, by the model and by its slow copy: each side is divided once."""
    prepare(transformer, "half")
    loss = ContrastiveLoss(transformer, "half", scale="fixed", temperature=1.0, momentum=momentum, queue=4)
    transformer.train(training)
    loss.train(training)
    with torch.no_grad():
        value = float(loss(features(transformer, QUERIES, DOCUMENTS), None))
    assert transformer.training == training
    transformer.eval()
    queries, documents = transformer.encode_query(QUERIES), transformer.encode_document(DOCUMENTS)
    scores = torch.tensor(queries @ documents.T)
    assert value == pytest.approx(float(torch.nn.functional.cross_entropy(scores, torch.arange(6))), rel=1e-4)


def test_bad_input_is_told(transformer, static):
    with pytest.raises(OffsphereError, match="at least two"):
        ContrastiveLoss(transformer)(features(transformer, QUERIES), None)
    with pytest.raises(OffsphereError, match="static"):
        ContrastiveLoss(static, mini_batch=4)
    with pytest.raises(OffsphereError, match="between 1 and the model's 32"):
        ContrastiveLoss(transformer, dimensions=[64])
    with pytest.raises(OffsphereError, match="anchors"):
        ContrastiveLoss(transformer, family="clip", momentum=0.9)
    with torch.no_grad():
        next(iter(transformer.parameters())).fill_(float("nan"))
    with pytest.raises(NotFiniteError, match="lower the rate"):
        ContrastiveLoss(transformer)(features(transformer, QUERIES, DOCUMENTS), None)
