"""Whole trainings of small models: every recipe, resuming after a kill, two processes, what is saved."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from sentence_transformers import SentenceTransformer

import offsphere as osp
from offsphere.errors import OffsphereError
from offsphere.learn.encoders.dynamics import TextProbe, raw_vectors
from offsphere.learn.encoders.judging import Judge, encoded
from offsphere.learn.encoders.models import forget
from offsphere.learn.encoders.prepare import prepare, settle
from offsphere.learn.encoders.recipe import RECIPES, EncoderRecipe
from offsphere.learn.encoders.setup import Material, Setup
from offsphere.learn.encoders.texts import TextPairs, fewer_documents
from offsphere.learn.encoders.training import fit
from offsphere.learn.encoders.views import augmented, cropped
from offsphere.scorer import Scorer
from offsphere.similarity import Polar
from tests.learn.encoders.conftest import words_task

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def load(folder):
    return SentenceTransformer(str(folder), device="cpu")


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_learns_in_twenty_steps(name, words, dropout_folder):
    recipe = osp.recipe_with(
        name, steps=20, batch=16, rate=2e-3, evaluate_every=5, patience=9, dynamics_every=0, queue=16, epochs=4
    )
    material = Material.of(words)
    setup = Setup.of(load(dropout_folder), material, recipe, 0).with_negatives()
    found = fit(setup.model, recipe, setup.pairs, material.judge, 0)
    losses = [loss for _, loss, _ in found.run.history[1:]]
    assert found.run.steps == 20
    assert losses[-1] < losses[0]
    if name == "clip":
        assert found.loss.objective.current_scale != pytest.approx(1 / 0.07, rel=1e-4)


@pytest.mark.parametrize("normalize", ["query", "document", "none", "both"])
def test_a_saved_model_ranks_and_scores_as_in_training(normalize, words, transformer_folder, tmp_path):
    test = words_task(40, 60, seed=5, name="test")
    found = osp.train(
        words, load(transformer_folder), tmp_path / "m", test=test, normalize=normalize, steps=12, batch=16, rate=1e-3
    )
    loaded = SentenceTransformer(str(tmp_path / "m"), device="cpu")  # nothing of ours
    queries, documents = loaded.encode_query(test.query_texts), loaded.encode_document(test.document_texts)
    found.model.eval()
    loss = osp.ContrastiveLoss(found.model, normalize).train()
    raw = [
        raw_vectors(found.model, side, name)
        for side, name in ((test.query_texts, "query"), (test.document_texts, "document"))
    ]
    trained = loss.objective.scored(raw[0], "query") @ loss.objective.scored(raw[1], "document").T
    np.testing.assert_allclose(loaded.similarity(queries, documents), trained.detach(), rtol=1e-4, atol=1e-5)
    order = np.argsort(-trained.detach().numpy(), axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(np.argsort(-(queries @ documents.T), axis=1, kind="stable")[:, :10], order)
    measured = osp.compare(test, encoded(loaded, test), [Scorer(Polar(0, 0))])
    assert found.outcome.rows[1].value == pytest.approx(measured["dot"].value)


def run_script(code, *arguments, ok=True, environment=None):
    import os

    settings = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **(environment or {})}
    found = subprocess.run(  # what it writes is looked at when it fails
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, env=settings, check=False
    )
    if ok:
        assert found.returncode == 0, found.stderr[-3000:]
    return found


TRAIN = """
import os, signal, sys
from pathlib import Path
from sentence_transformers import SentenceTransformer
import offsphere as osp
from tests.learn.encoders.conftest import words_task

folder, out, kill, limit = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
recipe = sys.argv[5] if len(sys.argv) > 5 else "magnitude"

def before_step(step):
    if kill and step == kill:
        os.kill(os.getpid(), signal.SIGKILL)
    if limit and step == limit:  # from now on a file may not become larger than this
        import resource
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))

osp.train(
    words_task(), SentenceTransformer(folder, device="cpu"), out, recipe=recipe, normalize="learn", steps=18, batch=16,
    rate=1e-3, evaluate_every=4, patience=9, dynamics_every=3, queue=32, epochs=4, before_step=before_step,
)
"""


@pytest.mark.parametrize("recipe", ["magnitude", "moco"])
def test_a_killed_training_goes_on_and_ends_in_the_same_weights(recipe, dropout_folder, tmp_path):
    """With dropout, learned exponents, a queue: everything that could be lost."""
    options = [0, recipe]
    run_script(TRAIN, dropout_folder, tmp_path / "whole", 0, *options)
    killed = run_script(TRAIN, dropout_folder, tmp_path / "killed", 11, *options, ok=False)
    assert killed.returncode == -9
    assert (tmp_path / "killed" / "checkpoints" / "checkpoint-8" / "offsphere.json").is_file()
    run_script(TRAIN, dropout_folder, tmp_path / "killed", 0, *options)
    assert_same_training(tmp_path / "whole", tmp_path / "killed")


def assert_same_training(one, other):
    states = [load_file(next(folder.rglob("model.safetensors"))) for folder in (one, other)]
    assert set(states[0]) == set(states[1])
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name
    records = [json.loads((folder / "training.json").read_text()) for folder in (one, other)]
    for key in ("history", "best", "best_step", "steps", "cosine"):
        assert str(records[0]["runs"][0][key]) == str(records[1]["runs"][0][key])
    import pyarrow.parquet as pq

    tables = [pq.read_table(folder / "dynamics.parquet").to_pylist() for folder in (one, other)]
    assert str(tables[0]) == str(tables[1])
    assert not (other / "checkpoints").exists()


def test_a_disk_that_is_full_keeps_the_checkpoint_before(dropout_folder, tmp_path):
    run_script(TRAIN, dropout_folder, tmp_path / "whole", 0, 0)
    full = run_script(TRAIN, dropout_folder, tmp_path / "full", 0, 10, ok=False)
    assert full.returncode == 1
    assert "checkpoint-8 is whole" in full.stderr
    assert "goes on from there" in full.stderr
    run_script(TRAIN, dropout_folder, tmp_path / "full", 0, 0)
    assert_same_training(tmp_path / "whole", tmp_path / "full")


GATHERED = """
import sys
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from offsphere.learn.encoders.contrastive import ContrastiveLoss
from offsphere.learn.regularizers import VRNS
from tests.learn.encoders.test_contrastive import DOCUMENTS, NEGATIVES, QUERIES

folder, out, mini_batch, momentum, normalize, loss = sys.argv[1:7]
torch.set_num_threads(1)
model = SentenceTransformer(folder, device="cpu").double()
many = distributed.is_torchelastic_launched()
if many:
    distributed.init_process_group("gloo")
rank, world = (distributed.get_rank(), distributed.get_world_size()) if many else (0, 1)
made = ContrastiveLoss(
    model, normalize, loss, regularizers=[VRNS(50, 2.0)], mini_batch=int(mini_batch) or None,
    momentum=float(momentum) or None, queue=10,
).double().train()
model.eval()
if many:
    made.model = DistributedDataParallel(model, find_unused_parameters=True)
size = len(QUERIES) // world
rows = slice(rank * size, (rank + 1) * size)
values = []
for step in range(2):
    made.zero_grad()
    columns = [{**model.preprocess(texts[rows])} for texts in (QUERIES, DOCUMENTS, NEGATIVES)]
    value = made(columns, None)
    value.backward()
    values.append(value.detach())
total = torch.stack(values)
if many:
    distributed.all_reduce(total)
    total /= world
if rank == 0:
    own = {name.replace("model.module.", "model."): part.grad for name, part in made.named_parameters()}
    save_file({**{name: part for name, part in own.items() if part is not None}, "value": total}, out)
if many:
    distributed.destroy_process_group()
"""


@pytest.mark.parametrize(
    "options",
    [["0", "0", "learn", "clip"], ["2", "0", "query", "simclr"], ["0", "0.9", "both", "infonce"]],
    ids=["plain", "cached", "momentum"],
)
def test_two_processes_are_one_with_the_joined_batch(transformer_folder, tmp_path, options):
    script = tmp_path / "gathered.py"
    script.write_text(GATHERED)
    run_script(GATHERED, transformer_folder, tmp_path / "one", *options)
    launch = "import sys; from torch.distributed.run import main; main(sys.argv[1:])"
    processes = ["--standalone", "--nproc_per_node", "2", str(script)]
    run_script(launch, *processes, transformer_folder, tmp_path / "two", *options)
    one, two = load_file(tmp_path / "one"), load_file(tmp_path / "two")
    assert set(one) == set(two)
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, atol=1e-9, rtol=1e-7, msg=name)


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


def test_pace_trains_cosine_first(words, transformer):
    """In its first half the loss cannot see length, in the second it can."""
    recipe = osp.recipe_with("pace", steps=8, batch=16, dynamics_every=0)
    material = Material.of(words)
    setup = Setup.of(transformer, material, recipe, 0)
    seen = []
    loss = osp.ContrastiveLoss.forward

    def watched(self, columns, labels=None):
        seen.append(self.current.normalization.exponents)
        return loss(self, columns, labels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(osp.ContrastiveLoss, "forward", watched)
        fit(setup.model, recipe, setup.pairs, material.judge, 0)
    assert [(one.query, one.document) for one in seen] == [(1.0, 1.0)] * 4 + [(0.0, 0.0)] * 4


def test_learned_exponents_move_at_their_own_rate_and_without_decay(words, transformer):
    recipe = EncoderRecipe(normalize="learn", steps=10, batch=16, rate=1e-9, own_rate=0.05, dynamics_every=5)
    material = Material.of(words)
    setup = Setup.of(transformer, material, recipe, 0)
    before = {name: value.clone() for name, value in setup.model.state_dict().items()}
    found = fit(setup.model, recipe, setup.pairs, material.judge, 0, probe=TextProbe.of(words))
    assert found.dynamics[0]["document_exponent"] == pytest.approx(0.5)
    assert abs(found.dynamics[-1]["document_exponent"] - 0.5) > 0.01
    for name, value in setup.model.state_dict().items():
        torch.testing.assert_close(value, before[name], atol=1e-6, rtol=0)


def test_a_loss_that_is_no_number_keeps_the_best_state(words, transformer):
    recipe = EncoderRecipe(normalize="none", scale="fixed", steps=20, batch=16, rate=1e30, clip=1e30, warmup=0.0)
    material = Material.of(words)
    setup = Setup.of(transformer, material, recipe, 0)
    found = fit(setup.model, recipe, setup.pairs, material.judge, 0)
    assert found.run.broke
    assert "lower the rate" in found.run.stopped
    assert all(bool(value.isfinite().all()) for value in setup.model.state_dict().values())


def test_hard_negatives_are_judged_ones_then_what_the_model_ranks_high(words, transformer):
    material = Material.of(words)
    recipe = EncoderRecipe(hard_negatives=2, batch=16)
    setup = Setup.of(transformer, material, recipe, 0).with_negatives()
    vectors = encoded(setup.model, words)
    for (query, document), negatives in zip(setup.pairs.pairs, setup.pairs.negatives, strict=True):
        ranked = np.argsort(-(vectors.queries[query] @ vectors.documents.T))[:33]
        assert document not in negatives
        assert set(negatives.tolist()) <= set(ranked.tolist())
    columns = setup.pairs.dataset().column_names
    assert columns == ["anchor", "positive", "negative_1", "negative_2", "label"]


def test_queries_that_are_judged_by_are_not_learned_from(words):
    shared = words.only(np.arange(5))
    material = Material.of(words, judged=[shared])
    learned = {words.query_texts[row] for row in material.rows}
    assert not learned & set(shared.query_texts)
    assert not learned & set(material.judge.task.query_texts)


def test_fewer_documents_keep_what_is_judged(words):
    small = fewer_documents(words.only(np.arange(10)), 20, 0)
    assert len(small.document_ids) == 20
    whole = words.only(np.arange(10))
    for query in range(10):
        one, other = (
            {task.document_texts[d] for q, d in zip(task.judgments.queries, task.judgments.documents) if q == query}  # noqa: B905
            for task in (small, whole)
        )
        assert one == other


def test_views_are_made_of_the_words_of_the_text():
    rng = np.random.default_rng(0)
    text = " ".join(f"w{number}" for number in range(40))
    for _ in range(50):
        assert set(augmented(text, rng).split()) <= set(text.split())
        crop = [int(word[1:]) for word in cropped(text, rng).split()]
        assert crop == sorted(crop)
        assert max(crop) - min(crop) < 20
    assert cropped("", rng) == ""
    one, other = (TextPairs.views([text] * 3, EncoderRecipe(views="crops", epochs=2), seed) for seed in (0, 0))
    assert one.queries == other.queries
    assert len(one) == 2  # the same text once, in both epochs
    assert one.queries[0] != one.queries[1]


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


def load_static():
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    from tests.learn.encoders.conftest import tokenizer

    torch.manual_seed(0)
    return SentenceTransformer(modules=[StaticEmbedding(tokenizer(), embedding_dim=16)], device="cpu")


def test_checkpoints_of_another_configuration_are_refused(words, tmp_path):
    class StopError(Exception):
        pass

    def stop(step):
        if step == 5:
            raise StopError

    options = {"steps": 8, "batch": 16, "evaluate_every": 2, "dynamics_every": 0}
    with pytest.raises(StopError):
        osp.train(words, load_static(), tmp_path / "m", before_step=stop, **options)
    with pytest.raises(OffsphereError, match="batch 16 there, 8 here"):
        osp.train(words, load_static(), tmp_path / "m", **{**options, "batch": 8})
    assert osp.train(words, load_static(), tmp_path / "m", **options).record.run.steps == 8


def test_documents_that_are_cut_are_counted(words, transformer):
    long = fewer_documents(words, 100, 0)
    setup = Setup.of(transformer, Material.of(long), EncoderRecipe(max_tokens=4, batch=16), 0)
    assert setup.counts["documents_cut"] == 100
    assert any("100 of 100 documents are longer than the 4 tokens" in note for note in setup.notes)


def test_the_card_says_how_to_score_and_what_lengths_are_like(words, transformer_folder, tmp_path):
    test = words_task(40, 60, seed=5, name="test")
    osp.train(words, load(transformer_folder), tmp_path / "m", test=test, normalize="query", steps=4, batch=16)
    card = (tmp_path / "m" / "README.md").read_text()
    assert "score by `dot`" in card
    assert "**document**: length is kept" in card
    assert "| document length |" in card
    assert "| trained, as trained |" in card
    assert "ContrastiveLoss" in card  # and what sentence-transformers writes


def test_a_judge_measures_as_compare_does(words, transformer):
    prepare(transformer, "query")
    one, other = Judge(words, "ndcg@10").values(transformer)
    table = osp.compare(words, encoded(transformer, words), [Scorer(Polar(0, 0))], metric="ndcg@10")
    assert one == pytest.approx(table["dot"].value)
    assert other == pytest.approx(table["cosine"].value)


def test_in_ones_own_trainer_with_ones_own_data(transformer, words, tmp_path):
    """The documentation's way: prepare, loss, callback, and the trainer as it is."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments

    osp.prepare(transformer, "learn")
    loss = osp.ContrastiveLoss(transformer, "learn", mini_batch=4)
    dynamics = osp.Dynamics(osp.TextProbe.of(words), loss, every=2, folder=tmp_path)
    pairs = TextPairs.of(words, np.arange(40)).dataset().remove_columns("label")
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
    found = osp.train(words, transformer, steps=4, batch=16, precision="bf16", rate=1e-3, dynamics_every=0)
    assert found.record.run.steps == 4
    assert not found.record.run.broke


def test_nothing_is_pushed_that_cannot_be(words, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(OffsphereError, match="could not be pushed to nobody/nothing"):
        osp.train(words, load_static(), steps=2, batch=16, push_to_hub="nobody/nothing")


def test_train_itself_runs_in_two_processes(transformer_folder, tmp_path):
    """Each with its own half of every batch; one of them writes."""
    script = tmp_path / "train.py"
    script.write_text(TRAIN)
    launch = "import sys; from torch.distributed.run import main; main(sys.argv[1:])"
    processes = ["--standalone", "--nproc_per_node", "2", str(script)]
    run_script(launch, *processes, transformer_folder, tmp_path / "m", 0, 0)
    record = json.loads((tmp_path / "m" / "training.json").read_text())
    assert record["runs"][0]["steps"] == 18
    assert record["runs"][0]["best"] >= record["runs"][0]["start"]
    from offsphere.encode.sentence import load_sentence_transformer

    assert load_sentence_transformer(str(tmp_path / "m")).encode_query(["red cat"]).shape == (1, 32)


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
    found = osp.train(words, model, tmp_path / "m", steps=2, batch=16)
    assert {value.dtype for value in found.model.parameters()} == {torch.float32}


@pytest.mark.parametrize("stop", ["worn out", "last step"])
def test_a_training_that_was_killed_after_its_last_step_is_not_gone_on_with(words, dropout_folder, tmp_path, stop):
    """It was killed while the test corpus was encoded; the same command finds that all is done."""
    options = {"steps": 8, "batch": 16, "evaluate_every": 2, "dynamics_every": 0, "seed": 1}
    options |= {"patience": 1, "rate": 1e-9} if stop == "worn out" else {"patience": 9, "rate": 1e-3}
    whole = osp.train(words, load(dropout_folder), tmp_path / "whole", **options)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("offsphere.learn.encoders.train.settle", killed)
        with pytest.raises(KeyboardInterrupt):
            osp.train(words, load(dropout_folder), tmp_path / "killed", **options)
    again = osp.train(words, load(dropout_folder), tmp_path / "killed", **options)
    assert again.record.run.steps == whole.record.run.steps
    assert again.record.run.stopped == whole.record.run.stopped
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, again.model.state_dict()[name]), name


def test_what_is_stopped_by_is_not_judged_by(words):
    test = words_task(40, 60, seed=5, name="test")
    with pytest.raises(OffsphereError, match="judged by too"):
        Material.of(words, held_out=test, judged=[test])
    part = test.only(np.arange(20))
    material = Material.of(words, held_out=test, judged=[part])
    assert not set(material.judge.task.query_texts) & set(part.query_texts)


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
    assert [type(stage).__name__ for stage in transformer] == ["Transformer", "Pooling", "Dense", "Normalize"]
    once = transformer.encode_document(["red cat"])
    prepare(transformer, "both", (0.5, 0.5))
    np.testing.assert_array_equal(transformer.encode_document(["red cat"]), once)
    prepare(transformer, "query", "none")
    settle(transformer)
    assert [type(stage).__name__ for stage in transformer] == ["Transformer", "Pooling", "Dense", "Router"]


def test_results_of_other_judgments_are_not_taken_again(words):
    from dataclasses import replace

    from offsphere.learn.encoders.ablating import _digest

    material = Material.of(words)
    own = words.judgments
    other = replace(words, judgments=replace(own, documents=np.roll(own.documents, 1)))
    assert _digest("wordllama", material, [words]) != _digest("wordllama", material, [other])


def test_cosine_and_dot_are_names_of_normalisations_too(words, transformer_folder):
    for name, other in (("cosine", "both"), ("dot", "none")):
        assert EncoderRecipe(normalize=name).exponents == EncoderRecipe(normalize=other).exponents
