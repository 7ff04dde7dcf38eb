"""Pictures from the command line: captions in both directions, a model for each side, sweeps."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np
import pytest
import torch
from PIL import Image as Pillow

import offsphere as osp
from offsphere import load_encoder, load_task
from offsphere.base.errors import OffsphereError
from offsphere.base.reading.parquet_files import read_rows
from tests.cli.running import printed, run, run_here
from tests.learning.encoders.conftest import save_transformer
from tests.learning.encoders.painted import SIDE, painted
from tests.tiny_vision import save_clip, save_siglip

COUNT = 24


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """Pictures with two captions each; half of them are learned from."""
    folder = tmp_path_factory.mktemp("photos")
    images, words = painted(COUNT)
    with (folder / "captions.jsonl").open("w") as file:
        for number, (image, text) in enumerate(zip(images, words, strict=True)):
            image.picture().save(folder / f"{number}.png")
            split = "test" if number % 2 else "train"
            for caption in (f"{text} {number}", f"{number} {text}"):
                line = {"image": f"{number}.png", "caption": caption, "split": split}
                file.write(json.dumps(line) + "\n")
    return folder


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    """Two CLIPs of one width that agree in nothing."""
    folders = [save_clip(tmp_path_factory.mktemp(name), seed) for seed, name in enumerate(("first", "second"))]
    return [str(folder) for folder in folders]


def bare_sides(photos, text_model, image_model):
    """Directions of the test captions and pictures by transformers' own classes, and the picture of each caption."""
    from transformers import AutoModel, AutoProcessor

    lines = [json.loads(line) for line in (photos / "captions.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line["split"] == "test"]
    names = list(dict.fromkeys(line["image"] for line in lines))
    sides = []
    for folder, given, method in (
        (text_model, {"text": [line["caption"] for line in lines], "padding": True}, "get_text_features"),
        (image_model, {"images": [Pillow.open(photos / name) for name in names]}, "get_image_features"),
    ):
        inputs = AutoProcessor.from_pretrained(folder)(**given, return_tensors="pt")
        with torch.inference_mode():
            rows = getattr(AutoModel.from_pretrained(folder).eval(), method)(**inputs).pooler_output
        sides.append(torch.nn.functional.normalize(rows.double()).numpy())
    return *sides, np.array([names.index(line["image"]) for line in lines])


def recall(scores, relevant, k=3):
    """The mean share of relevant ones among the first k, by plain sorting."""
    first = np.argsort(-scores, axis=1)[:, :k]
    return np.mean([flags[row].sum() / flags.sum() for flags, row in zip(relevant, first, strict=True)])


@pytest.mark.parametrize(
    ("command", "query_model", "reverse"),
    [("compare", 0, False), ("compare", 0, True), ("compare", 1, False), ("audit", 1, True)],
)
def test_both_directions_and_two_models_have_the_value_of_bare_transformers(
    command, query_model, reverse, photos, clips, tmp_path
):
    asking, answering = clips[query_model], clips[0]
    options = ["--model", answering, "--vectors", tmp_path / "vectors", "--metric", "recall@3", "--json"]
    options += ["--query-model", asking] if query_model else []
    options += ["--reverse"] if reverse else []
    said = json.loads(printed(command, photos, *options))
    table = said["comparison"] if command == "audit" else said
    value = next(row["value"] for row in table["scorers"] if row["name"] == "cosine")
    texts, images, own = bare_sides(photos, *((answering, asking) if reverse else (asking, answering)))
    relevant = own[:, None] == np.arange(len(images))[None, :]
    expected = recall(images @ texts.T, relevant.T) if reverse else recall(texts @ images.T, relevant)
    assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("reverse", [False, True], ids=["texts ask", "images ask"])
def test_measure_tells_each_kind_by_its_own_model(reverse, photos, clips, tmp_path):
    """The mean length of a side is that of the model that was named for it, whoever made the vectors."""
    models = ["--model", clips[0], "--query-model", clips[1], *(["--reverse"] if reverse else [])]
    printed("embed", photos, *models, "--out", tmp_path / "vectors")
    said = printed("measure", photos, *models, "--vectors", tmp_path / "vectors", "--section", "lengths", "--json")
    lengths = {side["side"]: side["mean"] for side in json.loads(said)["lengths"]}
    task = load_task(photos, reverse=reverse)
    for side, items, folder in zip(("query", "document"), task.sides, (clips[1], clips[0]), strict=True):
        rows = load_encoder(folder).encode(items.items, side)
        assert lengths[side] == pytest.approx(np.linalg.norm(rows, axis=1).mean(), rel=1e-4)


@pytest.mark.parametrize("command", ["compare", "audit"])
def test_models_of_two_widths_are_one_line(command, photos, clips, tmp_path):
    wide = str(save_siglip(tmp_path / "wide"))
    options = ["--model", clips[0], "--query-model", wide, "--vectors", tmp_path / "vectors"]
    with pytest.raises(OffsphereError, match=r"32 dimensions.* 16.*offsphere adapt") as raised:
        run_here(command, photos, *options)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("reverse", [False, True], ids=["texts ask", "images ask"])
def test_a_map_between_models_of_two_widths_is_learned_by_adapt(reverse, photos, clips, tmp_path):
    """Texts by one model, images by another: what is saved has the value that was printed."""
    texts, images = clips[0], str(save_siglip(tmp_path / "wide"))
    asking, answering = (images, texts) if reverse else (texts, images)
    options = ["--model", answering, "--query-model", asking, "--vectors", tmp_path / "vectors", "--json"]
    options += ["--out", tmp_path / "adapter", "--batch", "8", "--epochs", "2", *(["--reverse"] if reverse else [])]
    said = json.loads(printed("adapt", photos, *options))
    name, value = next((row["name"], row["value"]) for row in said["comparison"]["scorers"] if "untied" in row["name"])
    again = ["--vectors", tmp_path / "vectors", "--scorer", tmp_path / "adapter", "--json"]
    rows = json.loads(printed("compare", photos, *again, *(["--reverse"] if reverse else [])))["scorers"]
    assert next(row["value"] for row in rows if row["name"] == name) == pytest.approx(value)
    assert osp.Adapter.load(tmp_path / "adapter").query.widths == ((32 if reverse else 16), 16)
    start = next(row for row in said["comparison"]["scorers"] if "closed form" in row["name"])
    again[3] = tmp_path / "adapter" / "closed-form"  # what it is held against can be exported as well
    rows = json.loads(printed("compare", photos, *again, *(["--reverse"] if reverse else [])))["scorers"]
    assert next(row["value"] for row in rows if row["name"] == start["name"]) == pytest.approx(start["value"])


@pytest.mark.slow
def test_a_sweep_over_pictures_of_classes(tmp_path):
    """One tower a value, the probe measured while it learns, and the page drawn."""
    images, words = painted(48)
    for number, (image, name) in enumerate(zip(images, words, strict=True)):
        folder = tmp_path / "painted" / ("train" if number < 24 else "test") / name.split()[0]
        folder.mkdir(parents=True, exist_ok=True)
        image.picture().save(folder / f"{number}.png")
    fields = [f"--set={field}" for field in ("projection=8", "rate=0.003", "dynamics_every=2", "evaluate_every=4")]
    place = ["--model", f"scratch:resnet:{SIDE}:16", "--recipe", "simclr", "--steps", "4", "--out", tmp_path / "sweep"]
    said = json.loads(
        printed("sweep", tmp_path / "painted", *place, *fields, "--over", "batch", "--values", "4,8", "--json")
    )
    assert [row["name"] for row in said["rows"]] == ["batch 4", "batch 8"]
    assert "<svg" in (tmp_path / "sweep" / "sweep.html").read_text()
    dynamics = read_rows(tmp_path / "sweep" / "dynamics.parquet")
    assert {row["step"] for row in dynamics} >= {0, 2, 4}
    assert all(np.isfinite(row["negative_variance"]) for row in dynamics)


@pytest.mark.parametrize("command", ["sweep", "train", "ablate"])
@pytest.mark.slow
def test_towers_learn_from_pictures_that_ask_for_captions(command, photos, tmp_path):
    texts = save_transformer(tmp_path / "texts")
    options = ["--model", f"{texts}+scratch:vit:{SIDE}:16", "--recipe", "clip", "--steps", "2", "--reverse", "--json"]
    options += ["--set=batch=4", "--set=frozen=text", "--out", tmp_path / "out"]
    options += {
        "sweep": ["--over", "temperature", "--values", "0.05,0.1"],
        "train": [],
        "ablate": ["--encoder", "--only", "cosine;dot", "--rate", "0.001"],
    }[command]
    said = json.loads(printed(command, photos, *options))
    if command == "train":
        assert said["plan"]["data"]["name"].endswith("reversed")
    else:
        assert len(said["rows"]) == 2


def damaged(photo):
    """Files by name that no picture can be read from: cut off, no picture, and one that would fill the memory."""
    whole = photo.read_bytes()
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    return {"cut.png": whole[: len(whole) // 2], "words.png": b"no picture at all", "bomb.png": whole[:8] + chunk}


def unusual(photo):
    """Pictures by name that are converted: animated, printed colours, 16 bits, clear, and one of a single pixel."""
    return {
        "moving.gif": [photo, {"save_all": True, "append_images": [photo.rotate(90)]}],
        "printed.jpg": [photo.convert("CMYK"), {}],
        "deep.png": [Pillow.fromarray(np.arange(144, dtype=np.uint16).reshape(12, 12) * 450), {}],
        "clear.png": [photo.convert("RGBA"), {}],
        "one.png": [photo.resize((1, 1)), {}],
    }


def test_a_folder_of_odd_pictures(tmp_path):
    """Broken ones stop the command in one line that names them, or are counted; unusual ones are encoded, and told."""
    folder, photo = tmp_path / "photos", painted(1)[0][0].picture()
    folder.mkdir()
    photo.save(folder / "plain.png")
    for name, (picture, options) in unusual(photo).items():
        picture.save(folder / name, **options)
    for name, content in damaged(folder / "plain.png").items():
        (folder / name).write_bytes(content)
    names = ["plain.png", *unusual(photo), *damaged(folder / "plain.png")]
    lines = [json.dumps({"image": name, "caption": f"the caption of {name}"}) for name in names]
    (folder / "captions.jsonl").write_text("\n".join(lines) + "\n")
    options = ["--model", str(save_clip(tmp_path / "clip")), "--out", str(tmp_path / "vectors")]
    stopped = run("embed", str(folder), *options)
    assert stopped.returncode == 2
    assert "Traceback" not in stopped.stderr
    assert any(name in stopped.stderr for name in damaged(folder / "plain.png"))
    went = run("embed", str(folder), *options, "--ignore-broken")
    assert went.returncode == 0, went.stderr
    assert "3 pictures" in went.stdout + went.stderr
    assert all(word in went.stdout + went.stderr for word in ("animated", "CMYK", "16", "transparent"))
    rows = osp.open_store(tmp_path / "vectors" / "documents")
    assert len(rows.ids) == 6
    assert np.isfinite(rows.vectors).all()
