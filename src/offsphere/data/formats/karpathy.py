"""The JSON in which Karpathy & Fei-Fei (2015, arXiv:1412.2306) split Flickr8k, Flickr30k and COCO.

A picture has five captions or so. The file stands beside the pictures, or beside the folder of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError
from offsphere.base.reading.json_files import read_json_object
from offsphere.data.captioned import CaptionedImage
from offsphere.data.formats.captions import inside, task_of_file
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.split_files import choose_split
from offsphere.data.image import Image
from offsphere.data.ranking_task import RankingTask

PATTERN = "dataset*.json"  # dataset_coco.json, dataset_flickr30k.json, or dataset.json in a folder of its own
MOST = 1 << 30  # bytes; that of COCO has 144 MB
ALSO_TRAINING = "restval"  # COCO's pictures that are neither validated nor tested on; everybody trains on them
FOLDERS = ("images", "flickr30k-images", "flickr30k_images", "Images")


def is_karpathy(path: Path) -> bool:
    """Whether a folder has such a file, or a file has its name and begins as one."""
    return _file(path) is not None


def load_karpathy(source: Source) -> RankingTask:
    """Read the pictures and captions of a split."""
    path = _file(source.path)
    assert path is not None  # or it would not have been recognised
    entries = list(_entries(path))
    splits = {_split(entry, where): path for entry, where in entries}
    split = choose_split(path, splits, source.split)
    rows = [_row(entry, path.parent, where) for entry, where in entries if _split(entry, where) == split]
    return task_of_file(path, rows, split, source)


def _file(path: Path) -> Path | None:
    files = [path] if path.is_file() and path.match(PATTERN) else sorted(path.glob(PATTERN)) if path.is_dir() else []
    return next((file for file in files if _begins_so(file)), None)


def _begins_so(path: Path) -> bool:
    """Whether a file holds pictures with sentences."""
    try:
        images = read_json_object(path, MOST).get("images")
    except DataError:
        return False
    return isinstance(images, list) and bool(images) and isinstance(images[0], dict) and "sentences" in images[0]


def _entries(path: Path) -> Iterator[tuple[dict[str, Any], str]]:
    for number, entry in enumerate(read_json_object(path, MOST)["images"]):
        where = f"{path}: image {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("filename"), str):
            raise DataError(f"{where}: there is no filename")
        yield entry, where


def _split(entry: dict[str, Any], where: str) -> str:
    split = entry.get("split")
    if not isinstance(split, str):
        raise DataError(f"{where}: there is no split")
    return "train" if split == ALSO_TRAINING else split


def _row(entry: dict[str, Any], folder: Path, where: str) -> CaptionedImage:
    sentences = entry.get("sentences")
    raw = [sentence.get("raw") for sentence in sentences if isinstance(sentence, dict)] if sentences else []
    captions = [caption for caption in raw if isinstance(caption, str)]
    if len(captions) < len(raw):
        raise DataError(f"{where}: a sentence has no raw text")
    below = entry.get("filepath")
    name = f"{below}/{entry['filename']}" if isinstance(below, str) and below else entry["filename"]
    candidates = [inside(folder, name, where), inside(folder, entry["filename"], where)]
    candidates += [folder / below_folder / entry["filename"] for below_folder in FOLDERS]
    path = next((candidate for candidate in candidates if candidate.is_file()), None)
    return CaptionedImage(name, Image(path, name) if path is not None else None, captions, where)


def splits_of_karpathy(path: Path) -> list[str]:
    """The splits of a file, in the order in which they are met."""
    file = _file(path)
    return list(dict.fromkeys(_split(entry, where) for entry, where in _entries(file))) if file is not None else []


FORMAT = Format(
    "Karpathy's JSON of COCO or Flickr30k (dataset_*.json) with the pictures",
    is_karpathy,
    load_karpathy,
    splits_of_karpathy,
    splits_a_file=True,
)
