"""Pictures in a folder for each class: those of one class are relevant to each other, and none finds itself."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image as Pillow

from offsphere import load_task
from offsphere.base.errors import DataError
from offsphere.data.load import load_labelled, splits_of


def fill(folder, classes):
    shade = 0
    for name, count in classes.items():
        (folder / name).mkdir(parents=True)
        for number in range(count):
            shade += 1
            Pillow.new("L", (6, 6), shade).save(folder / name / f"{number}.png")
    return folder


def test_pictures_ask_for_those_of_their_class(tmp_path):
    folder = fill(tmp_path / "pets", {"cat": 2, "dog": 3})
    (folder / "cat" / "notes.txt").write_text("no picture")
    items = load_labelled(folder)
    assert (list(items.classes), items.labels.tolist()) == (["cat", "dog"], [0, 0, 1, 1, 1])
    task = load_task(folder)
    queries, documents = task.positives()
    assert sorted(zip(queries.tolist(), documents.tolist(), strict=True)) == [
        (one, other) for one in range(5) for other in range(5) if one != other and (one < 2) == (other < 2)
    ]
    assert [rows.tolist() for rows in task.excluded_pairs()] == [[0, 1, 2, 3, 4]] * 2
    vectors = task.vectors(np.eye(5, dtype=np.float32), np.eye(5, dtype=np.float32))
    from offsphere import compare

    assert compare(task, vectors, metric="recall@1").rows[0].value < 1  # its own vector would be found first


def test_splits_are_folders_of_folders(tmp_path):
    fill(tmp_path / "train", {"cat": 3, "dog": 2})
    fill(tmp_path / "test", {"cat": 2, "dog": 2})
    assert splits_of(tmp_path) == ["train", "test"]
    assert len(load_labelled(tmp_path, "train").items) == 5
    assert load_task(tmp_path).units == 4


def test_a_class_with_one_picture_cannot_ask_and_is_counted(tmp_path):
    task = load_task(fill(tmp_path / "pets", {"cat": 2, "emu": 1}))
    assert (task.units, task.left_out, len(task.document_ids)) == (2, 1, 3)
    with pytest.raises(DataError, match="every class has one item"):
        load_task(fill(tmp_path / "zoo", {"cat": 1, "emu": 1}))


def test_a_broken_picture_is_named_and_may_be_left_out(tmp_path):
    folder = fill(tmp_path / "pets", {"cat": 3, "dog": 2})
    (folder / "cat" / "1.png").write_bytes(b"")
    with pytest.raises(DataError, match=r"cat/1\.png is no picture"):
        load_task(folder)
    assert load_labelled(folder, ignore_broken=True).labels.tolist() == [0, 0, 1, 1]


def test_data_without_classes_says_what_has_them(tmp_path):
    (tmp_path / "test.tsv").write_text("score\tsentence1\tsentence2\n1\ta\tb\n2\ta\tc\n3\ta\td\n")
    with pytest.raises(DataError, match="has no classes: give pictures in a folder for each class"):
        load_labelled(tmp_path)
