"""Arrays of pictures with labels: archives as CIFAR's, idx files as MNIST's, Fashion-MNIST as Debian ships it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from offsphere import load_task
from offsphere.base.errors import DataError
from offsphere.base.reading.idx_files import read_idx
from offsphere.data.load import load_labelled, splits_of

FASHION = Path("/usr/share/datasets/fashion-mnist")
PICTURES = np.random.default_rng(0).integers(0, 256, (6, 4, 4, 3), np.uint8)
LABELS = np.array([3, 3, 5, 5, 3, 5])


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.astype(np.uint8).tobytes()


@pytest.mark.parametrize(("pictures", "labels"), [("images", "labels"), ("x", "y")])
def test_an_archive_has_pictures_and_labels(tmp_path, pictures, labels):
    np.savez(tmp_path / "small.npz", **{pictures: PICTURES, labels: LABELS[:, None]})
    items = load_labelled(tmp_path / "small.npz")
    assert (list(items.classes), items.labels.tolist()) == (["3", "5"], [0, 0, 1, 1, 0, 1])
    np.testing.assert_array_equal(items.items[4].pixels(), PICTURES[4])
    assert load_task(tmp_path / "small.npz").units == 6


@pytest.mark.parametrize("order", ["{0}_{1}", "{1}_{0}"])
def test_an_archive_may_have_several_splits(tmp_path, order):
    names = {
        order.format(name, split): array
        for split in ("train", "test")
        for name, array in (("x", PICTURES), ("y", LABELS))
    }
    np.savez(tmp_path / "cifar.npz", **names)
    assert splits_of(tmp_path / "cifar.npz") == ["train", "test"]
    assert load_task(tmp_path / "cifar.npz", "train").split == "train"
    assert load_task(tmp_path / "cifar.npz").split == "test"


def test_a_folder_may_have_an_archive_for_each_split(tmp_path):
    for split in ("train", "test"):
        np.savez(tmp_path / f"{split}.npz", images=PICTURES, labels=LABELS)
    assert splits_of(tmp_path) == ["test", "train"]


def test_idx_files_are_read_packed_or_not(tmp_path):
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(PICTURES[:, :, :, 0]))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(LABELS))
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(PICTURES[:4, :, :, 0])))
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(LABELS[:4])))
    assert splits_of(tmp_path) == ["test", "train"]
    assert len(load_labelled(tmp_path).items) == 4
    np.testing.assert_array_equal(load_labelled(tmp_path, "train").items[5].pixels()[:, :, 1], PICTURES[5, :, :, 0])


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\0\x08", idx(LABELS)[:-1], idx(LABELS) + b"x", b"\0\0\x0d\x01\0\0\0\0", b"\0\0\x08\x01\xff\xff\xff\xff"],
)
def test_an_idx_file_that_is_not_what_it_claims_is_named(tmp_path, content):
    (tmp_path / "labels").write_bytes(content)
    with pytest.raises(DataError, match=str(tmp_path / "labels")):
        read_idx(tmp_path / "labels")


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"images": PICTURES / 255, "labels": LABELS}, "pictures are float64 .*expected uint8"),
        ({"images": PICTURES, "labels": LABELS[:5]}, "for 6 pictures: expected a whole number for each"),
        ({"images": PICTURES, "labels": LABELS / 2}, "labels are float64"),
    ],
)
def test_arrays_that_do_not_fit_are_named(tmp_path, arrays, match):
    np.savez(tmp_path / "odd.npz", **arrays)
    with pytest.raises(DataError, match=rf"odd\.npz: .*{match}"):
        load_task(tmp_path / "odd.npz")


@pytest.mark.skipif(not FASHION.is_dir(), reason="Debian's dataset-fashion-mnist is not installed")
def test_fashion_mnist_as_debian_ships_it():
    items = load_labelled(FASHION)
    assert (len(items.items), len(items.classes)) == (10_000, 10)
    assert np.bincount(items.labels).tolist() == [1_000] * 10  # the README of the package says so
    task = load_task(FASHION)
    assert (task.units, task.warnings()) == (1_000, ["1,000 of 10,000 items ask, drawn at random"])
