"""What was seen of an engine or of a collection: a part for each metric, and what its answers are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Rows, Vectors
from offsphere.base.plain import plain
from offsphere.base.short_repr import short_repr
from offsphere.engines.collection import CollectionFacts, Hits
from offsphere.engines.metric import Metric
from offsphere.engines.trials.score_forms import EXACT, ScoreForm, Values, fit_scores

QUERIES = 20
SCORED = 40  # of each answer, that a formula is fitted to
MOST_ASKED = 100_000  # documents
UNREADABLE = "cannot be read back"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricProbe:
    """What an engine does under one of its metrics."""

    metric: str  # as it was set
    index: str
    form: ScoreForm | None  # what its scores follow; nothing where no formula fits
    stored: str  # what became of the vectors
    augmentation: str  # whether numbers were added to them
    returned: Sequence[tuple[int, int]]  # how many documents came for each k that was asked for; none for one refused
    largest_k: int | None  # that is taken, of those up to MOST_ASKED; nothing where that was not tried
    recall: float  # of the exact ten best
    ties: str
    zero: str  # what becomes of a vector of length zero

    __repr__ = short_repr

    @property
    def as_set(self) -> bool:
        """Whether it really ranks by the metric that was set."""
        return self.form is not None and self.form.metric == Metric(self.metric).value_name

    @property
    def keeps_length(self) -> bool | None:
        """Whether lengths survive; nothing where vectors cannot be read back."""
        return None if self.stored == UNREADABLE else self.stored != "normalised"

    @property
    def quantised(self) -> bool:
        """Whether scores are rougher than float32."""
        return self.form is not None and self.form.error > EXACT

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values, for JSON."""
        form = self.form
        more = {"as_set": self.as_set, "keeps_length": self.keeps_length, "quantised": self.quantised}
        formula = form.inverse if form is not None else None
        values: dict[str, Any] = plain(asdict(self))
        return values | more | {"formula": formula}


class Probe(NamedTuple):
    """What an engine, or a collection of it, really does.

    Example:
        >>> import tempfile
        >>> import offsphere as osp
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     seen = osp.probe(f"faiss:{folder}/any.faiss")
        >>> seen.engine, [part.metric for part in seen.metrics]
        ('FAISS', ['inner product', 'euclidean'])
    """

    target: str
    engine: str
    metrics: Sequence[MetricProbe]
    facts: CollectionFacts | None = None  # of an existing collection
    unknown: str = ""  # why no more than these is told of it

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values, for JSON."""
        facts = plain(asdict(self.facts)) if self.facts is not None else None
        return {
            "target": self.target,
            "engine": self.engine,
            "facts": facts,
            "unknown": self.unknown,
            "metrics": [probed.to_json() for probed in self.metrics],
        }


def form_of(hits: Hits, queries: Rows, rows: Mapping[str, Vectors]) -> ScoreForm | None:
    """Find the formula that all scores of all answers follow.

    Args:
        hits: The answers.
        queries: What was asked with.
        rows: The vectors by their ids, of all documents that came.

    Returns:
        The formula; nothing where none that we know fits.
    """
    pairs = [(query, rows[name]) for query, answer in zip(queries, hits.ids, strict=True) for name in answer]
    if not pairs:
        return None
    left, right = (np.stack(side) for side in zip(*pairs, strict=True))
    return fit_scores(np.concatenate([np.asarray(scores) for scores in hits.scores]), Values.of(left, right))


def recall_of(hits: Hits, metric: Metric, queries: Rows, rows: Rows, ids: Sequence[str], k: int = 10) -> float:
    """Tell the share of the exact answer; documents that score the same as its last are as good.

    Args:
        hits: The answers.
        metric: By which the exact answer is found.
        queries: What was asked with.
        rows: All vectors.
        ids: Theirs.
        k: How many documents of each answer count.
    """
    row_of = {name: row for row, name in enumerate(ids)}
    shares = []
    for query, answer in zip(queries, hits.ids, strict=True):
        values = metric.compute(query[None], rows[None])[0] * (-1 if metric.is_distance else 1)
        last = np.sort(values)[-min(k, len(values))]
        good = sum(values[row_of[name]] >= last - 1e-5 * np.abs(values).max() for name in answer[:k])
        shares.append(good / min(k, len(values)))
    return float(np.mean(shares))
