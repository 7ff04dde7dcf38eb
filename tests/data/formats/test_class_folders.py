"""Pictures in a folder for each class: those of one class are relevant to each other, and none finds itself."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image as Pillow

from offsphere import load_task
from offsphere.base.errors import DataError, OffsphereError
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


def test_pictures_are_sorted_in_episodes_and_by_neighbours(tmp_path):
    """Shots and voters come from train, what is sorted from test; without splits no picture is its own shot."""
    classes = {"cat": 6, "dog": 5, "emu": 5}
    fill(tmp_path / "zoo" / "train", classes)
    fill(tmp_path / "zoo" / "test", dict.fromkeys(classes, 3))
    task = load_task(f"{tmp_path}/zoo?ways=3&shots=4&items=2&episodes=9")
    assert (task.units, task.ways, task.split, len(task.query_items), len(task.shot_items)) == (9, 3, "test", 9, 16)
    rows = [np.eye(3, dtype=np.float32)[classes] for classes in (task.query_classes, task.shot_classes)]
    from offsphere import compare

    assert compare(task, task.vectors(*rows), ["dot"])["cosine"].value == 1  # whose vectors are their classes
    votes = load_task(f"{tmp_path}/zoo?knn=3")
    assert (votes.usual_metric, votes.units, votes.judgments.relevant.tolist()[0]) == ("knn@3", 9, 6)
    one = load_task(f"{fill(tmp_path / 'pets', {'cat': 4, 'dog': 4})}?ways=2&shots=2&items=2&episodes=5")
    assert all(not set(one.asked[n]) & set(one.shots[n].ravel()) for n in range(5))
    with pytest.raises(DataError, match="class 'cat' has 4 items, an episode needs 20"):
        load_task(f"{tmp_path}/pets?ways=2")
    with pytest.raises(OffsphereError, match="unknown setting 'shot': did you mean shots"):
        load_task(f"{tmp_path}/pets?shot=2")
