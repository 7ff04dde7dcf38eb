"""The JSON of Karpathy's splits is read as he wrote it: file names, folders, splits, and five sentences a picture."""

from __future__ import annotations

import json

import pytest
from PIL import Image as Pillow

from offsphere import load_task
from offsphere.base.errors import DataError
from offsphere.data.load import splits_of


def entry(name, split, captions, below=None):
    sentences = [{"raw": caption, "tokens": caption.split(), "imgid": 0, "sentid": 0} for caption in captions]
    return {"filename": name, "split": split, "sentences": sentences, "imgid": 0} | (
        {"filepath": below} if below else {}
    )


@pytest.fixture
def coco(tmp_path):
    """As COCO's: pictures in the folders of its years, and a split that everybody adds to train."""
    for folder, name in (("val2014", "a.jpg"), ("val2014", "b.jpg"), ("train2014", "c.jpg")):
        (tmp_path / folder).mkdir(exist_ok=True)
        Pillow.new("RGB", (8, 8)).save(tmp_path / folder / name)
    images = [
        entry("a.jpg", "test", ["one", "two"], "val2014"),
        entry("b.jpg", "restval", ["three"], "val2014"),
        entry("c.jpg", "train", ["four"], "train2014"),
    ]
    (tmp_path / "dataset_coco.json").write_text(json.dumps({"images": images, "dataset": "coco"}))
    return tmp_path


def test_cocos_folders_and_splits_are_found(coco):
    assert splits_of(coco) == ["test", "train"]
    task = load_task(coco)
    assert (list(task.query_texts), list(task.document_ids)) == (["one", "two"], ["val2014/a.jpg"])
    assert load_task(coco / "dataset_coco.json", "train").query_texts == ["three", "four"]


def test_flickrs_pictures_lie_in_one_folder(tmp_path):
    (tmp_path / "flickr30k-images").mkdir()
    Pillow.new("RGB", (8, 8)).save(tmp_path / "flickr30k-images" / "1.jpg")
    (tmp_path / "dataset_flickr30k.json").write_text(json.dumps({"images": [entry("1.jpg", "test", ["a", "b"])]}))
    assert load_task(tmp_path).units == 2


def test_what_lacks_something_is_named(coco):
    (coco / "val2014" / "a.jpg").unlink()
    with pytest.raises(DataError, match=r"none of its 1 pictures is there"):
        load_task(coco)
    broken = {"images": [entry("a.jpg", "test", ["a"]), {"split": "test", "sentences": []}]}
    (coco / "dataset_coco.json").write_text(json.dumps(broken))
    with pytest.raises(DataError, match=r"dataset_coco\.json: image 1: there is no filename"):
        load_task(coco)
    outside = {"images": [entry("a.jpg", "test", ["a"], "../elsewhere")]}
    (coco / "dataset_coco.json").write_text(json.dumps(outside))
    with pytest.raises(DataError, match="is no path inside"):
        load_task(coco)
