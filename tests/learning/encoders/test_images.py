"""Training on images, and on texts with images: through the same trainer, with the same objective."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

import offsphere as osp
from offsphere.base.errors import DataError, ParameterError, UnknownNameError
from offsphere.learning.encoders.lora import add_lora, merge_lora
from offsphere.learning.encoders.trainable import load_model
from tests.cli.running import printed
from tests.learning.encoders.painted import SIDE, caption_task, class_task, painted
from tests.learning.encoders.test_resuming import assert_same_training
from tests.learning.encoders.trainings import load, run_script
from tests.tiny_vision import save_clip, save_siglip, save_vit

QUICK = {"batch": 8, "steps": 6, "rate": 3e-3, "dynamics_every": 3, "evaluate_every": 3, "hard_negatives": 0}


def tower(kind="resnet"):
    return osp.image_tower(kind, SIDE, 16)


def towers(folder):
    return osp.two_towers(load(folder), tower("vit"))


@pytest.mark.parametrize(
    ("recipe", "normalize"), [("simclr", "both"), ("moco", "both"), ("magnitude", "query"), ("simclr", "learn")]
)
def test_an_image_tower_learns_from_two_views(recipe, normalize, tmp_path):
    queue = {"queue": 32} if recipe == "moco" else {}
    trained = osp.train(
        class_task(), tower(), tmp_path / "out", recipe=recipe, views="augmented", normalize=normalize, **QUICK, **queue
    )
    assert trained.record.run.steps > 0
    assert {"negative_variance", "positive_mean"} <= trained.record.dynamics[0].keys()
    if normalize != "learn":  # else a stage of offsphere's own is in it
        pictures = [image.picture() for image in painted(5)[0]]
        plain = SentenceTransformer(str(tmp_path / "out"), device="cpu")
        assert np.allclose(plain.encode_query(pictures), trained.model.encode_query(pictures), atol=1e-6)


@pytest.mark.parametrize("recipe", ["simcse", "dpr", "contriever", "e5", "gte", "pace"])
def test_recipes_that_were_made_for_texts_train_a_tower_of_pictures(recipe):
    """The others are tried above and below; what is saved holds nothing of how it was trained."""
    model = tower()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    trained = osp.train(
        class_task(), model, recipe=recipe, **QUICK, **({"queue": 32} if recipe == "contriever" else {})
    )
    after = trained.model.state_dict()
    assert {name for name in after if not name.startswith("1.")} >= set(before)
    assert trained.record.run.steps == QUICK["steps"]
    assert trained.record.run.best_step == 0 or any(not torch.equal(after[name], before[name]) for name in before)
    assert not any("lora_" in name for name in after)


def test_thin_matrices_beside_convolutions_add_up_to_the_same_tower():
    model = tower()
    add_lora(model, 2)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "lora_" in name:
                value.normal_(0, 0.1, generator=torch.Generator().manual_seed(len(name)))
    pictures = [image.picture() for image in painted(5)[0]]
    beside, plain = model.encode(pictures), tower().encode(pictures)
    assert merge_lora(model)
    assert np.allclose(model.encode(pictures), beside, atol=1e-4)
    assert not np.allclose(beside, plain, atol=1e-2)


def test_a_training_makes_two_views_of_a_picture_alike():
    options = QUICK | {"steps": 24, "evaluate_every": 24, "dynamics_every": 24, "batch": 16}
    rows = osp.train(class_task(96), tower(), recipe="simclr", **options).record.dynamics
    assert rows[-1]["negative_mean"] < rows[0]["negative_mean"] - 0.1


@pytest.mark.parametrize("normalize_input", ["both", "document"])
def test_pictures_are_divided_while_they_are_learned_from_and_for_good_when_saved(normalize_input, tmp_path):
    """Twice the contrast gives the same vector on a side whose input is normalised, and another on the other side."""
    recipe = osp.recipe_with("simclr", normalize="none", normalize_input=normalize_input, **QUICK)
    osp.train(class_task(), tower(), tmp_path / "out", recipe=recipe)
    encoder = osp.load_encoder(str(tmp_path / "out"))
    flat = np.random.default_rng(0).integers(96, 160, (SIDE, SIDE, 3), np.uint8)
    strong = (127.5 + 2 * (flat - 127.5)).clip(0, 255)
    images = [osp.Image.of(flat), osp.Image.of(np.rint(strong).astype(np.uint8))]
    for side in ("query", "document"):
        first, second = encoder.encode(images, side)
        # pixels are whole numbers, which costs a twentieth; what is not divided differs by more than half
        assert (np.abs(first - second).max() < 0.1 * np.abs(first).max()) == (
            normalize_input == "both" or side == "document"
        )


def test_a_projection_head_is_trained_dropped_and_both_are_measured(tmp_path):
    trained = osp.train(class_task(), tower(), tmp_path / "out", recipe="simclr", projection=8, **QUICK)
    assert trained.model.get_embedding_dimension() == 16
    assert any("with the projection head" in line and "without it" in line for line in trained.record.said)
    plain = SentenceTransformer(str(tmp_path / "out"), device="cpu")
    assert [type(stage).__name__ for stage in plain] == ["Transformer", "Pooling", "Normalize"]


@pytest.mark.parametrize(("recipe", "frozen"), [("clip", "text"), ("siglip", None), ("magnitude", "text")])
def test_two_towers_rank_in_plain_sentence_transformers_as_they_were_trained(
    recipe, frozen, transformer_folder, tmp_path
):
    model = towers(transformer_folder)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    task = caption_task()
    trained = osp.train(task, model, tmp_path / "out", recipe=recipe, frozen=frozen, augment="crops", **QUICK)
    plain = SentenceTransformer(str(tmp_path / "out"), device="cpu")
    texts, images = task.sides[0].items, [image.picture() for image in task.sides[1].items]
    scores = plain.similarity(
        plain.encode_query([{"text": text} for text in texts]), plain.encode_document(images)
    ).numpy()
    vectors = osp.embed(task, osp.load_encoder(str(tmp_path / "out"), keep_normalize=True), tmp_path / "vectors")
    (top,) = osp.search(vectors.queries, vectors.documents, [osp.parse_scorer("dot")], k=10)
    best = np.take_along_axis(scores, top.documents, axis=1)
    assert np.allclose(best, -np.sort(-scores, axis=1)[:, :10], atol=1e-5)
    changed = {name for name, value in trained.model.state_dict().items() if not torch.equal(value, before[name])}
    learned = trained.record.run.best_step > 0  # else the start was best, and is what was kept
    assert any("sub_modules.image" in name for name in changed) == learned
    assert any("sub_modules.text" in name for name in changed) == (learned and frozen is None)


@pytest.mark.parametrize(
    ("save", "task", "recipe"),
    [(save_clip, caption_task, "clip"), (save_siglip, caption_task, "siglip"), (save_vit, class_task, "simclr")],
)
@pytest.mark.slow
def test_a_pretrained_model_is_trained_by_its_folder(save, task, recipe, tmp_path):
    """As the hub lays it out; what is saved gives the same in plain sentence-transformers."""
    trained = osp.train(task(), str(save(tmp_path / "hub")), tmp_path / "out", recipe=recipe, **QUICK)
    assert trained.record.run.steps == QUICK["steps"]
    plain = SentenceTransformer(str(tmp_path / "out"), device="cpu")
    for side in task().sides:
        given = [{"text": item} if isinstance(item, str) else item.picture() for item in side.items[:5]]
        assert np.allclose(plain.encode(given), trained.model.encode(given), atol=1e-6)


def test_captions_and_images_are_learned_the_other_way_round(transformer_folder):
    trained = osp.train(caption_task().turned(), towers(transformer_folder), recipe="clip", **QUICK)
    assert trained.record.run.steps > 0


def test_the_command_trains_on_folders_of_pictures(tmp_path):
    images, words = painted(48)
    for number, (image, name) in enumerate(zip(images, words, strict=True)):
        folder = tmp_path / "painted" / ("train" if number < 24 else "test") / name.split()[0]
        folder.mkdir(parents=True, exist_ok=True)
        image.picture().save(folder / f"{number}.png")
    options = [
        "--recipe",
        "simclr",
        "--steps",
        "3",
        "--batch",
        "8",
        "--set",
        "projection=8",
        "--out",
        tmp_path / "model",
    ]
    place = ["--model", f"scratch:resnet:{SIDE}:16", "--out", tmp_path / "model"]
    said = printed("train", tmp_path / "painted", *place, *options)
    assert "The model is in" in said
    assert SentenceTransformer(str(tmp_path / "model"), device="cpu").get_embedding_dimension() == 16


KILLED = """
import os, signal, sys
import offsphere as osp
from tests.cli.running import printed
from tests.learning.encoders.painted import SIDE, class_task

def before_step(step):
    if int(sys.argv[2]) and step == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

osp.train(
    class_task(64), osp.image_tower("resnet", SIDE, 16), sys.argv[1], recipe="simclr", projection=8, batch=8, steps=12,
    rate=3e-3, evaluate_every=4, dynamics_every=4, patience=9, before_step=before_step,
)
"""


@pytest.mark.slow
def test_a_killed_image_training_goes_on_and_ends_in_the_same_weights(tmp_path):
    """With random views, batch statistics and a head: everything that could be lost."""
    run_script(KILLED, tmp_path / "whole", 0)
    assert run_script(KILLED, tmp_path / "killed", 7, ok=False).returncode == -9
    run_script(KILLED, tmp_path / "killed", 0)
    assert_same_training(tmp_path / "whole", tmp_path / "killed")


def test_the_grid_trains_on_images():
    recipe = osp.recipe_with("simclr", **QUICK | {"steps": 2, "projection": 8})
    variants = osp.encoder_grid(recipe, [(0.2, 3e-3)])[:2]
    ablation = osp.ablate_encoder(class_task(), f"scratch:resnet:{SIDE}:16", variants=variants, seeds=1)
    assert [row.name for row in ablation.rows] == ["cosine", "dot"]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda _: osp.image_tower("vgg"), UnknownNameError, "vgg"),
        (lambda _: osp.image_tower("vit", 4), ParameterError, "pixels a side"),
        (lambda _: osp.image_tower("vit", 28, 12), ParameterError, "multiple of 8"),
        (lambda _: load_model("scratch:vit:many"), ParameterError, "scratch:KIND:SIZE"),
        (lambda folder: osp.two_towers(tower(), load(folder)), ParameterError, "the text tower takes no texts"),
        (lambda _: osp.train(class_task(), tower(), frozen="image", **QUICK), ParameterError, "no image tower"),
        (lambda folder: osp.train(class_task(), load(folder), recipe="simclr", **QUICK), DataError, "not images"),
        (lambda _: osp.EncoderRecipe(augment="blur"), UnknownNameError, "augment"),
    ],
    ids=["kind", "size", "width", "name", "tower", "frozen", "texts alone", "augment"],
)
def test_what_cannot_be_trained_is_refused(make, error, message, transformer_folder):
    with pytest.raises(error, match=message):
        make(transformer_folder)
