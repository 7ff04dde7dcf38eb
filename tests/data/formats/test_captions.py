"""A folder of pictures with captions is a task in both directions; what is missing or broken is named."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image as Pillow

from offsphere import load_task
from offsphere.base.errors import DataError
from offsphere.data.load import splits_of


@pytest.fixture
def photos(tmp_path):
    """Three pictures, one of them with two captions."""
    folder = tmp_path / "photos"
    (folder / "trip").mkdir(parents=True)
    for name, colour in (("cat.png", "red"), ("trip/dog.jpg", "green"), ("trip/sea.png", "blue")):
        Pillow.new("RGB", (20, 20), colour).save(folder / name)
    write(folder, [("cat.png", "a cat"), ("trip/dog.jpg", "a dog"), ("trip/dog.jpg", "the dog"), ("trip/sea.png", "x")])
    return folder


def write(folder, lines, name="captions.jsonl"):
    (folder / name).write_text("\n".join(json.dumps({"image": i, "caption": c}) for i, c in lines))


def test_captions_ask_for_their_pictures_and_pictures_for_their_captions(photos):
    task = load_task(photos)
    assert list(task.query_texts) == ["a cat", "a dog", "the dog", "x"]
    assert list(task.document_ids) == ["cat.png", "trip/dog.jpg", "trip/sea.png"]
    assert task.document_texts[1].pixels()[0, 0].tolist() == pytest.approx([0, 128, 0], abs=3)
    assert [rows.tolist() for rows in task.positives()] == [[0, 1, 2, 3], [0, 1, 1, 2]]
    turned = load_task(photos, reverse=True)
    assert list(turned.query_ids) == list(task.document_ids)
    assert [rows.tolist() for rows in turned.positives()] == [[0, 1, 1, 2], [0, 1, 2, 3]]
    assert {side.stored_as for side in task.sides}.isdisjoint(side.stored_as for side in turned.sides)


def test_a_table_says_the_same(photos):
    wanted = load_task(photos).digest()
    (photos / "captions.jsonl").unlink()
    rows = ["image\tcaption", "cat.png\ta cat", "trip/dog.jpg\ta dog", "trip/dog.jpg\tthe dog", "trip/sea.png\tx"]
    (photos / "captions.tsv").write_text("\n".join(rows))
    assert load_task(photos).digest() == wanted


def test_splits_have_pictures_of_their_own(photos):
    lines = [("cat.png", "a", "train"), ("trip/dog.jpg", "b", "test"), ("trip/sea.png", "c", "test")]
    rows = [json.dumps({"image": i, "caption": c, "split": s}) for i, c, s in lines]
    (photos / "captions.jsonl").write_text("\n".join(rows))
    assert splits_of(photos) == ["train", "test"]
    assert load_task(photos).document_ids == ["trip/dog.jpg", "trip/sea.png"]
    train = load_task(photos, "train")
    assert train.document_ids == ["cat.png"]
    assert [side.stored_as for side in train.sides] == ["queries-train", "documents-train"]
    with pytest.raises(DataError, match="no split 'dev': there are train, test"):
        load_task(photos, "dev")
    (photos / "captions.jsonl").write_text("\n".join([*rows, json.dumps({"image": "cat.png", "caption": "d"})]))
    with pytest.raises(DataError, match=r"captions\.jsonl:4: there is no split"):
        load_task(photos)


def test_a_picture_that_is_not_there_is_named_and_may_be_ignored(photos):
    write(photos, [("cat.png", "a cat"), ("gone.png", "nothing")])
    with pytest.raises(DataError, match=r"captions\.jsonl:2: .*'gone\.png' \(1 such in all\).*--ignore-missing"):
        load_task(photos)
    task = load_task(photos, ignore_missing=True)
    assert (task.units, task.ignored) == (1, 1)
    write(photos, [("gone.png", "nothing")])
    with pytest.raises(DataError, match="none of its 1 pictures is there"):
        load_task(photos, ignore_missing=True)


def test_a_broken_picture_is_named_and_may_be_ignored(photos):
    (photos / "cat.png").write_text("no picture")
    with pytest.raises(DataError, match=r"cat\.png is no picture that can be read: .*--ignore-broken"):
        load_task(photos)
    noise = Pillow.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8))
    noise.save(photos / "trip" / "sea.png")
    content = (photos / "trip" / "sea.png").read_bytes()
    (photos / "trip" / "sea.png").write_bytes(content[: len(content) // 2])
    task = load_task(photos, ignore_broken=True)
    assert list(task.query_texts) == ["a dog", "the dog"]
    assert task.warnings() == ["2 pictures cannot be read and are left out: cat.png, trip/sea.png"]


def test_unusual_pictures_are_told_of_once(photos):
    Pillow.new("RGBA", (9, 9), (1, 2, 3, 4)).save(photos / "cat.png")
    Pillow.new("CMYK", (9, 9)).save(photos / "trip" / "dog.jpg")
    assert load_task(photos).warnings() == [
        "1 pictures are CMYK: they are converted to RGB",
        "1 pictures are transparent: they are laid on white",
    ]


@pytest.mark.parametrize("name", ["../secret.png", "/etc/secret.png", "a/../../b.png", ""])
def test_nothing_outside_the_folder_is_opened(photos, name):
    write(photos, [(name, "a cat")])
    with pytest.raises(DataError, match=r"is no path inside .* nothing else is opened"):
        load_task(photos)


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ({"caption": "a"}, "there is no image"),
        ({"image": "cat.png"}, "there is no caption"),
        ({"image": True, "caption": "a"}, "there is no image"),
        ({"image": "cat.png", "caption": "a", "split": 3}, "the split is 3"),
    ],
)
def test_a_line_that_lacks_something_is_named(photos, line, match):
    (photos / "captions.jsonl").write_text(json.dumps(line))
    with pytest.raises(DataError, match=rf"captions\.jsonl:1: {match}"):
        load_task(photos)


def test_pictures_may_be_rows_of_an_array(tmp_path):
    np.savez(tmp_path / "images.npz", images=np.arange(3 * 12, dtype=np.uint8).reshape(3, 2, 2, 3))
    write(tmp_path, [(2, "last"), (0, "first")])
    task = load_task(tmp_path)
    assert task.document_texts[0].pixels().min() == 24
    write(tmp_path, [(3, "beyond"), (0, "first")])
    with pytest.raises(DataError, match="judgment for unknown document '3'"):
        load_task(tmp_path)


def test_the_open_clip_art(real_data):
    task = load_task(real_data / "openclipart")
    assert (task.units, len(task.document_ids)) == (578, 578)
    assert load_task(real_data / "openclipart", "train").units == 2_349
    assert task.document_texts[0].pixels().shape == (64, 64, 3)
