"""An image is an item: known by its content, read when it is needed, and never made of a string."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

import offsphere as osp
from offsphere.base.errors import DataError
from offsphere.data.items import as_items, digest_of_items, is_empty, kinds_of, texts_alone


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cat.png"
    Pillow.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)).save(path)
    return path


def test_a_path_an_array_and_a_picture_of_pillow_have_the_same_pixels(file):
    images = as_items([file, np.asarray(Pillow.open(file)), Pillow.open(file)])
    for image in images:
        np.testing.assert_array_equal(image.pixels(), np.arange(48).reshape(4, 4, 3))


def test_a_string_is_a_text_whatever_it_looks_like(file):
    assert as_items([str(file), "http://localhost/cat.png"]) == [str(file), "http://localhost/cat.png"]
    assert kinds_of([str(file)]) == ["text"]
    with pytest.raises(DataError, match="a str is no image"):
        osp.Image.of(str(file))


def test_images_are_known_by_content_and_not_by_where_they_lie(file, tmp_path):
    copy = tmp_path / "copy.png"
    copy.write_bytes(file.read_bytes())
    assert osp.Image.of(file) == osp.Image.of(copy)
    assert len({osp.Image.of(file), osp.Image.of(copy)}) == 1
    array = np.zeros((2, 2), np.uint8)
    assert osp.Image.of(array) != osp.Image.of(array.reshape(1, 4))
    assert osp.Image.of(file) != "cat.png"


def test_an_image_is_read_when_it_is_needed():
    image = osp.Image.of(Path("not/there.png"))
    assert image.name == "there.png"
    with pytest.raises(DataError, match=r"not/there\.png does not exist"):
        image.pixels()


def test_an_image_goes_to_another_process(file):
    image = pickle.loads(pickle.dumps(osp.Image.of(file)))
    assert image.pixels().shape == (4, 4, 3)


def test_a_digest_tells_a_text_from_an_image_and_that_of_texts_stays(file):
    from offsphere.base.digests import digest_of_texts

    image = osp.Image.of(file)
    assert digest_of_items(["a", "b"]) == digest_of_texts(["a", "b"])
    assert digest_of_items([image]) != digest_of_items([image.digest])


def test_what_takes_texts_alone_names_the_image(file):
    assert not is_empty(osp.Image.of(file))
    with pytest.raises(DataError, match=r"a table takes texts, and cat\.png is an image"):
        texts_alone(["a", osp.Image.of(file)], "a table")


def test_a_task_takes_paths_arrays_and_pictures_and_is_known_again(file):
    from offsphere.data.items import ItemList
    from offsphere.data.judgments import Judgment

    def task(items):
        return osp.RankingTask.build(
            "cats", ItemList(["q"], ["a cat"]), ItemList(["d", "e"], items), [Judgment("q", "d", 1.0)]
        )

    one = task([file, np.zeros((2, 2), np.uint8)])
    assert kinds_of(one.document_texts) == ["image"]
    assert one.digest() == task([osp.Image.of(file, "another name"), np.zeros((2, 2), np.uint8)]).digest()
    assert one.digest() != task([file, np.ones((2, 2), np.uint8)]).digest()
    assert one.info()["document_images"] == 2
    pairs = osp.PairTask("pairs", np.arange(3.0), ["a", "b", "c"], [file] * 3)
    assert kinds_of(pairs.right_texts) == ["image"]
