"""Pictures with classes, and their vectors: what is learned from, what is judged, and the classes in words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Index, Vectors
from offsphere.base.errors import DataError, NoSuchSplitError, ParameterError
from offsphere.base.progress import Progress
from offsphere.base.short_repr import short_repr
from offsphere.data.labelled import LabelledItems
from offsphere.data.load import load_labelled, splits_of
from offsphere.data.vector_files import of_split
from offsphere.encode.embedding import SideItems, default_folder, embed_items
from offsphere.encode.encoder import Encoder, check_kinds
from offsphere.encode.runtime import USUAL, Runtime
from offsphere.encode.sources import load_encoder

KEPT = 0.3  # of each class, to judge by, where the data has no split for that
TEMPLATE = "a photo of a {}"  # as CLIP is asked (Radford et al. 2021, arXiv:2103.00020)
MOST_LEARNED = 10_000  # items that are learned from, drawn at random beyond that


class EmbeddedLabels(NamedTuple):
    """Items to learn from and items to judge by, each with their vectors; and a vector a class from its name."""

    train: LabelledItems
    test: LabelledItems
    train_vectors: Vectors
    test_vectors: Vectors
    class_vectors: Vectors | None = None  # (classes, templates, dimension)

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)


def embed_labels(
    data: str | Path,
    model: str | Encoder,
    *,
    split: str | None = None,
    train_split: str = "train",
    out: str | Path | None = None,
    classes: Sequence[str] | None = None,
    templates: Sequence[str] = (TEMPLATE,),
    most: int = MOST_LEARNED,
    ignore_broken: bool = False,
    runtime: Runtime = USUAL,
    seed: int = 0,
    progress: Progress | None = None,
) -> EmbeddedLabels:
    """Read pictures with their classes and encode them; also the names of the classes, where the model takes texts.

    Args:
        data: What ``load_labelled`` takes: folders of classes, arrays with labels, a table of the hub.
        model: What ``load_encoder`` accepts, or an encoder.
        split: What is judged; test unless said.
        train_split: What is learned from. Data without splits is dealt out, three tenths of each class to judge by.
        out: The folder of the stores; one in the user's cache where it is not given.
        classes: Names of the classes in words, in their order, where those of the data are numbers.
        templates: What the model is told of a class, with ``{}`` for its name.
        most: How many items are learned from at most.
        ignore_broken: Go on without pictures that cannot be read.
        runtime: Who computes, in which numbers and in how many processes, where sentence-transformers runs the model.
        seed: Which items are drawn.
        progress: Called with how many items of a part are done, and how many there are.

    Returns:
        The items and their vectors, for ``osp.classify``.

    Raises:
        DataError: The data has no classes, or not as many as there are names.
        ParameterError: A template has no ``{}``.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.encode.function import FunctionEncoder
        >>> def shades(pictures):
        ...     return [np.asarray(picture).reshape(-1)[:4] for picture in pictures]
        >>> shades.kinds = ("image",)
        >>> folder = Path(tempfile.mkdtemp())
        >>> images = np.random.default_rng(0).integers(0, 256, (20, 2, 2), np.uint8)
        >>> np.savez(folder / "noise.npz", images=images, labels=np.arange(20) % 2)
        >>> parts = osp.embed_labels(folder / "noise.npz", FunctionEncoder(shades, "shades"), out=folder / "vectors")
        >>> len(parts.train.items), parts.test_vectors.shape
        (14, (6, 4))
    """
    for template in templates:
        if "{}" not in template:
            raise ParameterError(f"the template {template!r} has no {{}} for the name of a class")
    encoder = load_encoder(model, runtime=runtime) if isinstance(model, str) else model
    train, test = _parts(data, split, train_split, ignore_broken=ignore_broken, seed=seed)
    train, test = _one_numbering(_at_most(train, most, seed), test)
    names = _named(test, classes)
    folder = Path(out) if out is not None else default_folder(test.name, encoder.description.model)
    check_kinds(encoder, test.items[:1])
    vectors = [
        embed_items(SideItems("document", part.ids, part.items), encoder, folder / name, progress=progress).vectors
        for part, name in ((train, "labelled-train"), (test, of_split("labelled", test.split)))
    ]
    return EmbeddedLabels(train, test, vectors[0], vectors[1], _class_vectors(encoder, names, templates))


def _parts(
    data: str | Path, split: str | None, train_split: str, *, ignore_broken: bool, seed: int
) -> tuple[LabelledItems, LabelledItems]:
    """What is learned from, and what is judged."""
    test = load_labelled(data, split, ignore_broken=ignore_broken)
    if test.split is not None:
        if test.split == train_split:
            raise NoSuchSplitError(
                f"{data} has {', '.join(splits_of(data)) or train_split} alone: judge by another split"
            )
        return load_labelled(data, train_split, ignore_broken=ignore_broken), test
    random = np.random.default_rng(seed)
    kept: list[Index] = []
    for number in range(len(test.classes)):
        rows = random.permutation(np.flatnonzero(test.labels == number))
        kept.append(rows[: round(KEPT * len(rows))])  # none of a class with one item: it is learned from
    judged = np.sort(np.concatenate(kept))
    if not len(judged):
        raise DataError(f"{data}: every class has one item, so that none is left to judge by")
    return test.only(np.setdiff1d(np.arange(len(test.items)), judged)), test.only(judged)


def _one_numbering(train: LabelledItems, test: LabelledItems) -> tuple[LabelledItems, LabelledItems]:
    """The train and the test part with the classes of the train part; a class that was never seen cannot be told."""
    if list(train.classes) == list(test.classes):
        return train, test
    numbers = {name: number for number, name in enumerate(train.classes)}
    unknown = [name for name in test.classes if name not in numbers]
    if unknown:
        raise DataError(
            f"{test.name}: the class {unknown[0]!r} of {test.split} is not among those that are learned from"
        )
    labels = np.array([numbers[name] for name in test.classes], np.int64)[test.labels]
    return train, LabelledItems(test.name, test.ids, test.items, labels, train.classes, test.split, test.notes)


def _at_most(items: LabelledItems, most: int, seed: int) -> LabelledItems:
    if len(items.items) <= most:
        return items
    return items.only(np.sort(np.random.default_rng(seed).permutation(len(items.items))[:most]))


def _named(items: LabelledItems, classes: Sequence[str] | None) -> Sequence[str]:
    if classes is not None and len(classes) != len(items.classes):
        raise DataError(f"{items.name} has {len(items.classes)} classes, and {len(classes)} names are given")
    return classes if classes is not None else [name.replace("_", " ") for name in items.classes]


def _class_vectors(encoder: Encoder, names: Sequence[str], templates: Sequence[str]) -> Vectors | None:
    if "text" not in encoder.kinds:
        return None
    texts = [template.replace("{}", name) for name in names for template in templates]
    return encoder.encode(texts, "query").reshape(len(names), len(templates), -1)
