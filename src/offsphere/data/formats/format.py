"""The face of every format of data on disk: it recognises a folder or file as its own, and loads a task from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from offsphere.data.labelled import LabelledItems
from offsphere.data.task import Task


class Source(NamedTuple):
    """What a user asks for: a folder or a file, and how to read it."""

    path: Path
    split: str | None = None
    ignore_missing: bool = False  # go on without judgments of unknown queries or documents
    vectors: Path | None = None  # a folder whose vectors name queries and documents, where the data does not
    documents: Sequence[str] | None = None  # ids of all documents, where neither names them
    ignore_broken: bool = False  # go on without pictures that cannot be read
    settings: Mapping[str, str] = MappingProxyType({})  # how to read it, as it stands behind the name


class Format(NamedTuple):
    """One format; ``offsphere.data.load`` lists them all."""

    expects: str  # what the data looks like, for somebody whose data is in no known format
    recognise: Callable[[Path], bool]  # whether a folder or file that is there is in this format
    load: Callable[[Source], Task]
    splits: Callable[[Path], Sequence[str]] = lambda _: ()  # the parts that a folder in this format has, by name
    labelled: Callable[[Source], LabelledItems] | None = None  # the items with their classes, where there are classes
    splits_a_file: bool = False  # whether one file may have several parts
    settings: Sequence[str] = ()  # what can be set behind the name of the data
