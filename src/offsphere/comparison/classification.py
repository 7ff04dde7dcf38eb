"""Classes from vectors: by the nearest neighbours, by a linear probe, and from the names of the classes alone.

Each with lengths and without, so that one sees what length is worth to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Flags, Index, Vectors
from offsphere.base.errors import ParameterError
from offsphere.base.extras import load_extra
from offsphere.base.plain import plain
from offsphere.encode.embedded_labels import EmbeddedLabels
from offsphere.ranking.search import search
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, DOT
from offsphere.statistics.estimate import Estimate
from offsphere.vectors.lengths import lengths

NEIGHBOURS = 20
STEPS = 1_000  # of the solver, at most
SCORERS = {"cosine": Scorer(COSINE), "dot": Scorer(DOT)}


@dataclass(frozen=True, slots=True, eq=False)
class Accuracy:
    """How often one method names the right class; ``right`` says of which items."""

    method: str
    vectors: str  # cosine or dot product, directions or vectors as they are
    accuracy: Estimate
    right: Flags


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Classification:
    """What each method reaches on one data set.

    Attributes:
        name: Of the data.
        classes: How many classes there are.
        learned: How many items were learned from.
        judged: How many items were judged by.
        rows: The accuracies.

    Example:
        >>> import offsphere as osp
        >>> osp.Classification("pets", 2, 14, 6, [])
        Classification(pets: 6 items, 2 classes)
    """

    name: str
    classes: int
    learned: int
    judged: int
    rows: Sequence[Accuracy]

    def __repr__(self) -> str:
        """A line a method."""
        lines = [f"  {row.method} ({row.vectors}): {row.accuracy}" for row in self.rows]
        return "\n".join([f"Classification({self.name}: {self.judged:,} items, {self.classes} classes)", *lines])

    def to_json(self) -> dict[str, Any]:
        """Plain values for machines, without the single items."""
        rows = [{"method": row.method, "vectors": row.vectors, "accuracy": plain(row.accuracy)} for row in self.rows]
        counts = {"classes": self.classes, "learned": self.learned, "judged": self.judged}
        return {"name": self.name, **counts, "rows": rows}


def classify(parts: EmbeddedLabels, *, neighbours: int = NEIGHBOURS) -> Classification:
    """Judge vectors by the classes that can be told from them.

    Args:
        parts: What ``osp.embed_labels`` gives.
        neighbours: How many nearest items vote.

    Returns:
        The accuracy of k-nearest neighbours, of a linear probe (scikit-learn's logistic regression on standardised
        vectors), and of the names of the classes where the model takes texts; each with lengths and without.

    Raises:
        ParameterError: There are no such neighbours, or items of one class alone are learned from.
        MissingExtraError: scikit-learn is not installed.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.data.labelled import LabelledItems
        >>> from offsphere.encode.embedded_labels import EmbeddedLabels
        >>> labels = np.arange(40) % 2
        >>> vectors = (np.eye(2)[labels] + np.random.default_rng(0).normal(0, 0.1, (40, 2))).astype(np.float32)
        >>> items = LabelledItems("two", [str(n) for n in range(40)], ["x"] * 40, labels, ["even", "odd"])
        >>> osp.classify(EmbeddedLabels(items, items, vectors, vectors), neighbours=3).rows[0].accuracy.value
        1.0
    """
    train, test = parts.train.labels, parts.test.labels
    if not 1 <= neighbours <= len(train):
        raise ParameterError(f"neighbours = {neighbours}: there are {len(train):,} items to learn from")
    if len(np.unique(train)) < 2:  # noqa: PLR2004
        raise ParameterError(
            f"{parts.train.name}: items of one class alone are learned from: nothing can be told apart"
        )
    told = {
        **_by_neighbours(parts, neighbours),
        **_by_probe(parts),
        **(_by_names(parts.test_vectors, parts.class_vectors) if parts.class_vectors is not None else {}),
    }
    rows = [
        Accuracy(method, form, _accuracy(classes == test), classes == test) for (method, form), classes in told.items()
    ]
    return Classification(parts.test.name, len(parts.test.classes), len(train), len(test), rows)


def _by_neighbours(parts: EmbeddedLabels, k: int) -> Mapping[tuple[str, str], Index]:
    """The class that most of the k nearest have; of several such, the first."""
    tops = search(parts.test_vectors, parts.train_vectors, list(SCORERS.values()), k)
    classes = len(parts.train.classes)
    told = {}
    for name, top in zip(SCORERS, tops, strict=True):
        votes = parts.train.labels[top.documents]  # (items, k)
        counts = np.stack([(votes == number).sum(axis=1) for number in range(classes)], axis=1)
        told[f"{k} nearest neighbours", name] = counts.argmax(axis=1)
    return told


def _by_probe(parts: EmbeddedLabels) -> Mapping[tuple[str, str], Index]:
    """The class that a logistic regression on standardised vectors gives, and on standardised directions."""
    linear, prepare, pipes = (load_extra(f"sklearn.{name}") for name in ("linear_model", "preprocessing", "pipeline"))
    told = {}
    for form, train, test in (
        ("directions", _directions(parts.train_vectors), _directions(parts.test_vectors)),
        ("as they are", np.asarray(parts.train_vectors), np.asarray(parts.test_vectors)),
    ):
        probe = pipes.make_pipeline(prepare.StandardScaler(), linear.LogisticRegression(max_iter=STEPS))
        probe.fit(train.astype(np.float64), parts.train.labels)
        told["linear probe", form] = probe.predict(test.astype(np.float64))
    return told


def _by_names(vectors: Vectors, classes: Vectors) -> Mapping[tuple[str, str], Index]:
    """The class whose name is nearest; what several templates say of a class is averaged, directions for cosine."""
    rows = np.asarray(vectors, np.float64)
    directions = classes / np.linalg.norm(classes, axis=2, keepdims=True)
    told = {"cosine": _directions(directions.mean(axis=1)), "dot": classes.mean(axis=1)}
    return {("zero-shot", name): (rows @ means.T).argmax(axis=1) for name, means in told.items()}


def _directions(vectors: Vectors) -> Array:
    rows = np.asarray(vectors, np.float64)
    sizes = lengths(rows)[:, None]
    return np.divide(rows, sizes, out=np.zeros_like(rows), where=sizes > 0)


def _accuracy(right: Flags) -> Estimate:
    """The share of right answers, with Wilson's interval (1927)."""
    from scipy.stats import binomtest

    share = binomtest(int(right.sum()), len(right)).proportion_ci(method="wilson")
    return Estimate(float(right.mean()), float(share.low), float(share.high))
