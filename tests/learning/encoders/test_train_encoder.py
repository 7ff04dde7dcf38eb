"""Whole trainings of small models: every recipe, what is saved, what is told, and one's own trainer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.learning.data.task_sources import TextSource
from offsphere.learning.data.training_pairs import TrainingPairs
from offsphere.learning.encoders.encoder_dynamics import TextProbe, raw_vectors
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learning.encoders.fit import fit
from offsphere.learning.encoders.judging import TaskJudge, encode_task
from offsphere.learning.encoders.named_recipes import RECIPES
from offsphere.learning.encoders.prepare import prepare
from offsphere.learning.encoders.training_dataset import training_dataset
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import Polar
from tests.learning.encoders.conftest import words_task
from tests.learning.encoders.trainings import load, load_static


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_learns_in_twenty_steps(name, words, dropout_folder):
    recipe = osp.recipe_with(
        name, steps=20, batch=16, rate=2e-3, evaluate_every=5, patience=9, dynamics_every=0, queue=16, epochs=4
    )
    setup = EncoderSetup.of(load(dropout_folder), text_data(words), recipe, 0).with_negatives()
    trained = fit(setup.model, recipe, setup.pairs, setup.judge, 0)
    losses = [loss for _, loss, _ in trained.run.history[1:]]
    assert trained.run.steps == 20
    assert losses[-1] < losses[0]
    if name == "clip":
        assert trained.loss.objective.current_scale != pytest.approx(1 / 0.07, rel=1e-4)


@pytest.mark.parametrize("normalize", ["query", "document", "none", "both"])
def test_a_saved_model_ranks_and_scores_as_in_training(normalize, words, transformer_folder, tmp_path):
    test = words_task(40, 60, seed=5, name="test")
    trained_encoder = osp.train(
        words, load(transformer_folder), tmp_path / "m", test=test, normalize=normalize, steps=12, batch=16, rate=1e-3
    )
    loaded = SentenceTransformer(str(tmp_path / "m"), device="cpu")  # nothing of ours
    queries, documents = loaded.encode_query(test.query_texts), loaded.encode_document(test.document_texts)
    trained_encoder.model.eval()
    loss = osp.ContrastiveLoss(trained_encoder.model, normalize).train()
    raw = [
        raw_vectors(trained_encoder.model, side, name)
        for side, name in ((test.query_texts, "query"), (test.document_texts, "document"))
    ]
    trained = loss.objective.scored_vectors(raw[0], "query") @ loss.objective.scored_vectors(raw[1], "document").T
    np.testing.assert_allclose(loaded.similarity(queries, documents), trained.detach(), rtol=1e-4, atol=1e-5)
    order = np.argsort(-trained.detach().numpy(), axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(np.argsort(-(queries @ documents.T), axis=1, kind="stable")[:, :10], order)
    measured = osp.compare(test, encode_task(loaded, test), [Scorer(Polar(0, 0))])
    assert trained_encoder.outcome.rows[1].value == pytest.approx(measured["dot"].value)


def test_dynamics_are_what_anybody_would_measure(words, transformer):
    """Against vectors by the plain model, and against the measurement of layers."""
    from offsphere.encode.sentence import SentenceEncoder
    from offsphere.geometry.layers import measure_layers

    probe = TextProbe.of(words, 1)
    queries, documents = transformer.encode(probe.queries), transformer.encode(probe.documents)
    prepare(transformer, "both")
    loss = osp.ContrastiveLoss(transformer, "both")
    transformer.train()
    rows = probe.measure(transformer, loss, layers=True)
    assert transformer.training
    first = rows[0]
    assert first["query_length"] == pytest.approx(np.linalg.norm(queries, axis=1).mean(), rel=1e-4)
    assert first["document_length"] == pytest.approx(np.linalg.norm(documents, axis=1).mean(), rel=1e-4)
    units = documents / np.linalg.norm(documents, axis=1, keepdims=True)
    others = ~np.eye(len(units), dtype=bool)
    assert first["document_anisotropy"] == pytest.approx((units @ units.T)[others].mean(), abs=1e-4)
    cosines = (queries / np.linalg.norm(queries, axis=1, keepdims=True)) @ units.T
    assert first["negative_variance"] == pytest.approx(cosines[others].var(), rel=1e-3)
    assert first["alignment"] == pytest.approx(2 - 2 * np.diag(cosines).mean(), rel=1e-4)
    layers = measure_layers(SentenceEncoder("m", "m", keep_normalize=True, model=transformer), probe.documents).layers
    assert [row["layer"] for row in rows[1:]] == [0, 1, 2]
    for row, layer in zip(rows[1:], layers, strict=True):
        assert row["token_anisotropy"] == pytest.approx(layer.anisotropy)
        assert row["token_self_adjusted"] == pytest.approx(layer.self_adjusted)
        assert row["token_intra_adjusted"] == pytest.approx(layer.intra_adjusted)
    assert first["token_length"] == pytest.approx(layers[-1].mean_length)


def test_classes_of_words_are_means_over_their_tokens(transformer):
    """Against the self-similarity of single tokens, sorted into classes by hand."""
    from offsphere.encode.sentence import SentenceEncoder
    from offsphere.geometry.layers import measure_layers

    texts = ["the cat sleeps in a house", "a dog runs near the river", "the cat and the dog", "the river near a city"]
    probe = TextProbe(texts, texts[::-1], [])
    prepare(transformer, "both")
    row = probe.measure(transformer, osp.ContrastiveLoss(transformer, "both"))[0]
    layers = measure_layers(SentenceEncoder("m", "m", keep_normalize=True, model=transformer), texts)
    values = dict(zip(layers.tokens, layers.layers[-1].self_adjusted_by_token.tolist(), strict=True))
    assert set(values) == {"the", "a", "near", "cat", "dog", "river"}  # those that stand in two texts
    functional = np.mean([values[word] for word in ("the", "a", "near")])
    semantic = np.mean([values[word] for word in ("cat", "dog", "river")])
    assert row["token_self_functional"] == pytest.approx(functional, abs=1e-5)
    assert row["token_self_semantic"] == pytest.approx(semantic, abs=1e-5)
    assert row["token_self_gap"] == pytest.approx(semantic - functional, abs=1e-5)


def test_others_of_a_probe_are_wanted_by_nobody(words):
    """Of documents that no held-out query wants, those that a query learned from wants are left out."""
    from offsphere.learning.encoders.encoder_setup import text_data

    data = text_data(words)
    probe = TextProbe.of_data(data)
    documents = words.sides[1].items
    wanted = {documents[row] for row in words.positives()[1].tolist()}
    assert probe.others
    assert not wanted & set(probe.others)
    assert wanted & set(TextProbe.of(data.held_out.task).others)


def test_pace_trains_cosine_first(words, transformer):
    """In its first half the loss cannot see length, in the second it can."""
    recipe = osp.recipe_with("pace", steps=8, batch=16, dynamics_every=0)
    setup = EncoderSetup.of(transformer, text_data(words), recipe, 0)
    seen = []
    loss = osp.ContrastiveLoss.forward

    def watched(self, columns, labels=None):
        seen.append(self.current.normalization.exponents)
        return loss(self, columns, labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(osp.ContrastiveLoss, "forward", watched)
        fit(setup.model, recipe, setup.pairs, setup.judge, 0)
    assert [(exponents.query, exponents.document) for exponents in seen] == [(1.0, 1.0)] * 4 + [(0.0, 0.0)] * 4


def test_learned_exponents_move_at_their_own_rate_and_without_decay(words, transformer):
    recipe = EncoderRecipe(normalize="learn", steps=10, batch=16, rate=1e-9, own_rate=0.05, dynamics_every=5)
    setup = EncoderSetup.of(transformer, text_data(words), recipe, 0)
    before = {name: value.clone() for name, value in setup.model.state_dict().items()}
    trained = fit(setup.model, recipe, setup.pairs, setup.judge, 0, probe=TextProbe.of(words))
    assert trained.dynamics[0]["document_exponent"] == pytest.approx(0.5)
    assert abs(trained.dynamics[-1]["document_exponent"] - 0.5) > 0.01
    for name, value in setup.model.state_dict().items():
        torch.testing.assert_close(value, before[name], atol=1e-6, rtol=0)


def test_a_loss_that_is_no_number_keeps_the_best_state(words, transformer):
    recipe = EncoderRecipe(normalize="none", scale="fixed", steps=20, batch=16, rate=1e30, clip=1e30, warmup=0.0)
    setup = EncoderSetup.of(transformer, text_data(words), recipe, 0)
    trained = fit(setup.model, recipe, setup.pairs, setup.judge, 0)
    assert trained.run.broke
    assert "lower the rate" in trained.run.stopped
    assert all(bool(value.isfinite().all()) for value in setup.model.state_dict().values())


def test_bad_input_is_told(words, transformer, tmp_path):
    with pytest.raises(OffsphereError, match="a batch has 500"):
        osp.train(words, transformer, batch=500)
    with pytest.raises(OffsphereError, match="did you mean temperature"):
        osp.train(words, transformer, temperatur=1)
    with pytest.raises(OffsphereError, match="did you mean simcse"):
        osp.train(words, transformer, recipe="simcs")
    with pytest.raises(OffsphereError, match="no texts"):
        osp.train(osp.RankingTask.from_judgments({"q": {"d": 1.0}}, ["d"]), transformer)
    with pytest.raises(OffsphereError, match="no pooling"):
        osp.train(words, load_static(), pooling="cls")
    with pytest.raises(OffsphereError, match="from_scratch"):
        EncoderRecipe(cut=3)
    options = {"steps": 6, "batch": 16, "evaluate_every": 3}
    osp.train(words, load_static(), tmp_path / "m", **options)
    with pytest.raises(OffsphereError, match="--restart"):
        osp.train(words, load_static(), tmp_path / "m", **options)
    osp.train(words, load_static(), tmp_path / "m", restart=True, **options)


def test_a_second_training_keeps_out_of_a_folder_where_one_is_at_work(tmp_path, words):
    from offsphere.data.store_writer import locked

    with locked(tmp_path / "m"), pytest.raises(OffsphereError, match="another process is writing to"):
        osp.train(words, load_static(), tmp_path / "m", batch=8, steps=2)


def test_the_card_says_how_to_score_and_what_lengths_are_like(words, transformer_folder, tmp_path):
    test = words_task(40, 60, seed=5, name="test")
    osp.train(words, load(transformer_folder), tmp_path / "m", test=test, normalize="query", steps=4, batch=16)
    card = (tmp_path / "m" / "README.md").read_text()
    assert "score by `dot`" in card
    assert "**document**: length is kept" in card
    assert "| document length |" in card
    assert "| trained, as trained |" in card
    assert "ContrastiveLoss" in card  # and what sentence-transformers writes


def test_the_card_says_where_the_model_is_from_and_whom_to_cite(words, transformer_folder, tmp_path):
    """Read by the hub's own reader of cards; the loss is ours, not the other one of that name."""
    from huggingface_hub import ModelCard

    osp.train(words, str(transformer_folder), tmp_path / "m", recipe="simclr", steps=2, batch=16, max_tokens=16)
    card = ModelCard.load(tmp_path / "m" / "README.md")
    assert {"loss:offsphere.ContrastiveLoss", "offsphere", "sentence-transformers"} <= set(card.data.tags)
    assert "loss:ContrastiveLoss" not in card.data.tags
    assert f"**Base model**: {transformer_folder}" in card.text
    assert "68 pairs of words (train)" not in card.text  # views of every text, which are more
    assert "of words (train)" in card.text
    assert "**Normalisation**: output both, input none" in card.text
    assert "**Recipe**: simclr, after Chen et al. 2020, arXiv:2002.05709; loss simclr, temperature 0.1" in card.text
    for number in ("2002.05709", "2602.09229"):  # recipe and loss are of one paper; normalisation by side
        assert f"eprint = {{{number}}}" in card.text
    assert "@software{offsphere," in card.text


def test_a_name_on_the_hub_is_the_base_model_of_the_card(words, transformer_folder, tmp_path, monkeypatch):
    from huggingface_hub import ModelCard

    from offsphere.learning.encoders import encoder_setup

    monkeypatch.setattr(encoder_setup, "load_model", lambda *_: load(transformer_folder))  # there is no hub here
    osp.train(words, "somebody/some-model", tmp_path / "m", steps=1, batch=16)
    assert ModelCard.load(tmp_path / "m" / "README.md").data.base_model == "somebody/some-model"


def test_files_of_a_saved_model_may_be_read_by_whom_its_neighbours_may(words, transformer_folder, tmp_path):
    osp.train(words, load(transformer_folder), tmp_path / "m", steps=1, batch=16)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "m").iterdir() if path.is_file()}
    assert modes["model.safetensors"] == modes["modules.json"] == modes["config.json"]
    assert modes["model.safetensors"] & 0o044


@pytest.mark.parametrize(("keep", "saved"), [(False, 32), (True, 8)])
def test_a_saved_model_looks_as_far_as_before_unless_asked(words, transformer_folder, tmp_path, keep, saved):
    trained = osp.train(
        words, load(transformer_folder), tmp_path / "m", steps=1, batch=16, max_tokens=8, keep_max_tokens=keep
    )
    assert load(tmp_path / "m").max_seq_length == trained.model.max_seq_length == saved
    told = any("looks at 32, as before" in sentence for sentence in trained.record.said)
    assert told == (not keep)


def test_a_judge_measures_as_compare_does(words, transformer):
    prepare(transformer, "query")
    as_trained, by_cosine = TaskJudge(words, "ndcg@10").values(transformer)
    table = osp.compare(words, encode_task(transformer, words), [Scorer(Polar(0, 0))], metric="ndcg@10")
    assert as_trained == pytest.approx(table["dot"].value)
    assert by_cosine == pytest.approx(table["cosine"].value)


def test_in_ones_own_trainer_with_ones_own_data(transformer, words, tmp_path):
    """The documentation's way: prepare, loss, callback, and the trainer as it is."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments

    osp.prepare(transformer, "learn")
    loss = osp.ContrastiveLoss(transformer, "learn", mini_batch=4)
    dynamics = osp.Dynamics(osp.TextProbe.of(words), loss, every=2, folder=tmp_path)
    pairs = training_dataset(TrainingPairs.of(TextSource(words), np.arange(40))).remove_columns("label")
    trainer = SentenceTransformerTrainer(
        model=transformer,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path / "t"),
            max_steps=5,
            per_device_train_batch_size=8,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            dataloader_pin_memory=False,
            router_mapping={"anchor": "query", "positive": "document"},
            learning_rate_mapping={r"^objective\.": 0.05},
        ),
        train_dataset=Dataset.from_dict(pairs.to_dict()),
        loss=loss,
        callbacks=[dynamics],
    )
    trainer.train()
    assert [row["step"] for row in dynamics.rows] == [0, 2, 4, 5]
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "dynamics.parquet").num_rows == 4
    exponents = loss.objective.normalization.exponents
    assert abs(exponents.document - 0.5) > 0.005
    raw = raw_vectors(transformer, words.query_texts[:3], "query")
    expected = raw / raw.norm(dim=1, keepdim=True) ** round(exponents.query, 4)
    np.testing.assert_allclose(transformer.encode_query(words.query_texts[:3]), expected, rtol=1e-4, atol=1e-5)


def test_bfloat16_trains(words, transformer):
    trained = osp.train(words, transformer, steps=4, batch=16, precision="bf16", rate=1e-3, dynamics_every=0)
    assert trained.record.run.steps == 4
    assert not trained.record.run.broke


def test_a_training_in_bfloat16_measures_in_it_from_the_start_and_is_judged_as_it_is_saved(words, transformer):
    texts = words.document_texts[:5]
    setup = EncoderSetup.of(
        transformer, text_data(words), EncoderRecipe(steps=2, batch=16, precision="bf16", rate=1e-12, patience=None), 0
    )
    seen = []

    class Looking(TaskJudge):
        def values(self, model):
            seen.append(model.encode(texts))
            return TaskJudge.values(self, model)

    full = setup.model.encode(texts)
    fitted = fit(setup.model, setup.recipe, setup.pairs, Looking(setup.judge.task, setup.judge.metric), 0)
    first, *later = seen
    assert later
    for vectors in later:  # nothing was learned at such a rate
        np.testing.assert_allclose(vectors, first, rtol=1e-5, atol=1e-6)
    assert np.abs(first - full).max() > 1e-5  # bfloat16 has eight bits
    np.testing.assert_allclose(fitted.model.encode(texts), full, rtol=1e-5, atol=1e-6)


def test_nothing_is_pushed_that_cannot_be(words, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(OffsphereError, match="could not be pushed to nobody/nothing"):
        osp.train(words, load_static(), steps=2, batch=16, push_to_hub="nobody/nothing")


def test_prompts_are_put_before_the_texts_that_are_learned_from(words, transformer):
    recipe = EncoderRecipe(prompts=("what ", "the "), steps=1, batch=16, hard_negatives=1, dynamics_every=0)
    setup = EncoderSetup.of(transformer, text_data(words), recipe, 0).with_negatives()
    first = []
    loss = osp.ContrastiveLoss.forward

    def watched(self, columns, labels=None):
        first.extend(setup.model.tokenizer.decode(column["input_ids"][0][:1]) for column in columns)
        return loss(self, columns, labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(osp.ContrastiveLoss, "forward", watched)
        fit(setup.model, recipe, setup.pairs, setup.judge, 0)
    assert first == ["what", "the", "the"]
