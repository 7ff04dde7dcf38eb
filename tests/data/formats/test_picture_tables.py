"""Tables of datasets with pictures, saved in a folder or as the hub has them (parquet files)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image as Pillow

from offsphere import load_task
from offsphere.base.errors import DataError
from offsphere.data.formats.format import Source
from offsphere.data.formats.hub import load_hub, load_hub_labelled
from offsphere.data.load import load_labelled, splits_of

datasets = pytest.importorskip("datasets")

PICTURES = [Pillow.new("RGB", (5, 5), (shade, 0, 0)) for shade in (10, 20, 30, 40)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def table(**columns):
    features = {"image": datasets.Image()}
    features |= {"captions": datasets.List(datasets.Value("string"))} if "captions" in columns else {}
    features |= {"label": datasets.ClassLabel(names=["cat", "dog"])} if "label" in columns else {}
    return datasets.Dataset.from_dict({"image": PICTURES, **columns}, features=datasets.Features(features))


def test_captions_of_a_saved_table(tmp_path):
    captions = [["a", "b"], ["c"], ["d"], ["e"]]
    tables = datasets.DatasetDict({"train": table(captions=captions), "test": table(captions=captions)})
    tables.save_to_disk(tmp_path / "photos")
    assert sorted(splits_of(tmp_path / "photos")) == ["test", "train"]
    task = load_task(tmp_path / "photos")
    assert list(task.query_texts) == list("abcde")
    assert task.positives()[1].tolist() == [0, 0, 1, 2, 3]
    assert task.document_texts[2].pixels()[0, 0].tolist() == [30, 0, 0]


def test_classes_of_a_table_as_the_hub_has_it(tmp_path):
    folder = tmp_path / "hub"
    folder.mkdir()
    table(label=[1, 0, 1, 0]).to_parquet(folder / "test.parquet")
    items = load_hub_labelled(str(folder), Source(folder))
    assert (list(items.classes), items.labels.tolist()) == (["cat", "dog"], [1, 0, 1, 0])
    np.testing.assert_array_equal(items.items[3].pixels(), np.asarray(PICTURES[3]))
    assert load_hub(str(folder), Source(folder)).units == 4


def test_a_table_without_pictures_captions_or_bytes_says_so(tmp_path):
    datasets.Dataset.from_dict({"text": ["a"]}).save_to_disk(tmp_path / "texts")
    with pytest.raises(DataError, match="without a column of pictures"):
        load_task(tmp_path / "texts")
    table().save_to_disk(tmp_path / "bare")
    with pytest.raises(DataError, match=r"neither captions .* nor classes"):
        load_labelled(tmp_path / "bare")
    PICTURES[0].save(tmp_path / "cat.png")
    only_named = datasets.Dataset.from_dict(
        {"image": [{"bytes": None, "path": str(tmp_path / "cat.png")}], "caption": ["a"]},
        features=datasets.Features({"image": datasets.Image(decode=False), "caption": datasets.Value("string")}),
    )
    from offsphere.data.formats.picture_tables import task_of_tables

    with pytest.raises(DataError, match="row 0: the picture's bytes are not in the table"):
        task_of_tables("named", {"test": only_named}, Source(tmp_path))


def test_an_offset_that_leads_out_of_a_table_never_reaches_who_maps_it(tmp_path):
    """The process once ended with a segmentation fault."""
    table(label=[1, 0, 1, 0]).save_to_disk(tmp_path / "photos")
    (file,) = (tmp_path / "photos").glob("*.arrow")
    content = file.read_bytes()
    size = len(load_labelled(tmp_path / "photos").items[0].source())
    offsets = np.arange(5, dtype=np.int32) * size  # where the bytes of each picture begin; all are as large
    assert content.count(offsets.tobytes()) == 1
    file.write_bytes(
        content.replace(offsets.tobytes(), (offsets + (1 << 30) * (offsets > 0)).astype(np.int32).tobytes())
    )
    with pytest.raises(DataError, match="not an Arrow file"):
        load_task(tmp_path / "photos")


@pytest.mark.parametrize("name", ["../photos/data.arrow", "..", "/etc/passwd", 3, None])
def test_a_table_names_files_beside_it_alone(tmp_path, name):
    table(label=[1, 0, 1, 0]).save_to_disk(tmp_path / "photos")
    state = tmp_path / "photos" / "state.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"_data_files": [{"filename": name}]}))
    with pytest.raises(DataError, match=r"state\.json lists .*: expected names of what lies beside it"):
        load_task(tmp_path / "photos")
