"""``probe``: what an engine really does with vectors, found out by giving it some.

A scratch collection is made for each metric, filled with crafted vectors, asked, read back and removed. Nothing of the
user's is touched; with ``read_only`` only an existing collection is looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Rows, Vectors
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.engines.collection import Collection, CollectionFacts, Hits, IndexKind, Layout
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.score_forms import EXACT, ScoreForm, Values, fit_scores
from offsphere.engines.stored_forms import stored_form_of
from offsphere.engines.strategy import checked_index
from offsphere.engines.target import Target

WIDTH, ROWS, QUERIES = 24, 1_200, 20
SCORED = 40  # of each answer, that a formula is fitted to
LOOKED_AT = 2_000  # vectors of an existing collection
UNIT = 1e-4
TWINS = ("twin b", "twin a")  # in the order in which they are stored


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricProbe:
    """What an engine does under one of its metrics."""

    metric: str  # as it was set
    index: str
    form: ScoreForm | None  # what its scores follow; nothing where no formula fits
    stored: str  # what became of the vectors
    returned: Sequence[tuple[int, int]]  # how many documents came for each k that was asked for
    recall: float  # of the exact ten best
    ties: str
    zero: str  # what becomes of a vector of length zero

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

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values, for JSON."""
        facts = plain(asdict(self.facts)) if self.facts is not None else None
        return {
            "target": self.target,
            "engine": self.engine,
            "facts": facts,
            "metrics": [probed.to_json() for probed in self.metrics],
        }


UNREADABLE = "cannot be read back"


def probe(
    target: str | tuple[Engine, Target],
    *,
    read_only: bool = False,
    index: IndexKind | None = None,
    progress: Progress | None = None,
) -> Probe:
    """Find out what an engine really does: metric, formula of its scores, what it stores, how many documents it gives.

    Args:
        target: As for ``export``. With ``read_only`` its collection is looked at; else a scratch collection beside it
            is made for each metric, and removed. For an engine that we do not know, an ``Engine`` of your own and a
            ``Target`` (see CONTRIBUTING).
        read_only: Whether only to read.
        index: Which index the scratch collections get; what an export takes without.
        progress: Is told how far it is.

    Returns:
        What was seen, a part for each metric.

    Raises:
        DataError: There is no collection to read.
        OffsphereError: The engine is not there.

    Example:
        >>> import tempfile
        >>> import offsphere as osp
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     seen = osp.probe(f"usearch:{folder}/any.usearch")
        >>> {part.metric: part.form.inverse for part in seen.metrics}
        {'cosine': 'cosine = 1 - score', 'inner product': 'dot = 1 - score', 'euclidean': 'distance = sqrt(score)'}
    """
    engine, where = engine_of(target) if isinstance(target, str) else target
    if read_only:
        return _look(engine, where)
    probed = []
    for number, metric in enumerate(engine.metrics):
        if progress is not None:
            progress(number, len(engine.metrics), str(metric))
        probed.append(_try(engine, where.beside("offsphere_probe"), metric, index))
    return Probe(str(where), engine.name, probed)


def _try(engine: Engine, where: Target, metric: Metric, index: IndexKind | None) -> MetricProbe:
    """Fill a scratch collection, ask it, read it back, and remove it."""
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(ROWS, WIDTH)) * rng.lognormal(0, 0.5, (ROWS, 1))).astype(np.float32)
    rows[1] = rows[0]  # the twins
    queries = rng.normal(size=(QUERIES, WIDTH)).astype(np.float32)
    queries[0] = rows[0]  # so that the twins come first
    ids = [*TWINS, *(f"d{row}" for row in range(2, ROWS))]
    with engine.at(where) as collection:
        kind = checked_index(engine, collection, index)
        collection.remove()
        try:
            collection.create(Layout(WIDTH, metric, kind, rows=ROWS))
            collection.add(ids, rows)
            collection.finish()
            hits = collection.search(queries, 10)
            scored = collection.search(queries, SCORED)
            returned = [(k, len(collection.search(queries[:1], k).ids[0])) for k in (10, 100, 1_000, ROWS)]
            stored = _stored(collection, ids, rows)
        finally:
            collection.remove()
        zero = _zero(collection, Layout(WIDTH, metric, kind, rows=3))
    return MetricProbe(
        metric=str(metric),
        index=kind,
        form=_form(scored, queries, dict(zip(ids, rows, strict=True))),
        stored=stored,
        returned=returned,
        recall=_recall(hits, metric, queries, rows, ids),
        ties=_ties(hits),
        zero=zero,
    )


def _look(engine: Engine, where: Target) -> Probe:
    """Read an existing collection, and ask it with a few of its own vectors."""
    with engine.at(where) as collection:
        facts = collection.facts()
        if facts is None:
            raise DataError(f"{where} does not exist: without --read-only a scratch collection is made there")
        try:
            vectors, ids = collection.read()
        except OffsphereError:
            return Probe(str(where), engine.name, [], facts)
        names = list(ids) if ids is not None else [str(row) for row in range(len(vectors))]
        chosen = np.linspace(0, len(vectors) - 1, min(QUERIES, len(vectors))).astype(int)
        queries = np.ascontiguousarray(vectors[chosen], np.float32)
        k = min(SCORED, len(vectors))
        hits = collection.search(queries, k)
        wanted = {name for answer in hits.ids for name in answer}
        rows = {name: np.asarray(vectors[row], np.float32) for row, name in enumerate(names) if name in wanted}
        lengths = np.linalg.norm(np.asarray(vectors[:LOOKED_AT], np.float64), axis=1)
        unit = bool(np.abs(lengths - 1).max() < UNIT)
        form = _form(hits, queries, rows)
        metric = {metric.value_name: metric for metric in Metric}
        ranked_by = facts.metric or (metric[form.metric] if form is not None else Metric.COSINE)
        probed = MetricProbe(
            metric=str(ranked_by),
            index=facts.index,
            form=form,
            stored="normalised" if facts.normalized or unit else "with lengths that differ",
            returned=[(k, len(hits.ids[0]))],
            recall=_recall(hits, ranked_by, queries, np.asarray(vectors, np.float32), names, k),
            ties="not tried",
            zero="not tried",
        )
        return Probe(str(where), engine.name, [probed], facts)


def _form(hits: Hits, queries: Rows, rows: Mapping[str, Vectors]) -> ScoreForm | None:
    """The formula that all scores of all answers follow."""
    pairs = [(query, rows[name]) for query, answer in zip(queries, hits.ids, strict=True) for name in answer]
    if not pairs:
        return None
    left, right = (np.stack(side) for side in zip(*pairs, strict=True))
    return fit_scores(np.concatenate([np.asarray(scores) for scores in hits.scores]), Values.of(left, right))


def _recall(hits: Hits, metric: Metric, queries: Rows, rows: Rows, ids: Sequence[str], k: int = 10) -> float:
    """The share of the exact answer; documents that score the same as its last are as good."""
    row_of = {name: row for row, name in enumerate(ids)}
    shares = []
    for query, answer in zip(queries, hits.ids, strict=True):
        values = metric.compute(query[None], rows[None])[0] * (-1 if metric.is_distance else 1)
        last = np.sort(values)[-min(k, len(values))]
        good = sum(values[row_of[name]] >= last - 1e-5 * np.abs(values).max() for name in answer[:k])
        shares.append(good / min(k, len(values)))
    return float(np.mean(shares))


def _stored(collection: Collection, ids: Sequence[str], rows: Rows) -> str:
    """What became of the vectors."""
    try:
        vectors, names = collection.read()
    except OffsphereError:
        return UNREADABLE
    back = dict(zip(names if names is not None else ids, np.asarray(vectors, np.float32), strict=True))
    return stored_form_of(rows, np.stack([back[name] for name in ids]))


def _ties(hits: Hits) -> str:
    """Which of two equal vectors comes first."""
    first = [name for name in hits.ids[0] if name in TWINS]
    if len(first) < len(TWINS):
        return "only one of two equal vectors came"
    return "in the order in which they were stored" if tuple(first) == TWINS else "by id, or in no order that shows"


def _zero(collection: Collection, layout: Layout) -> str:
    """What becomes of a vector of length zero."""
    rows = np.zeros((3, layout.dimension), np.float32)
    rows[1:, 0] = (1.0, 2.0)
    try:
        collection.create(layout)
        collection.add(["zero", "one", "two"], rows)
        collection.finish()
        hits = collection.search(rows[1:2], 3)
    except OffsphereError:
        return "refused"
    finally:
        collection.remove()
    if "zero" not in hits.ids[0]:
        return "stored, never returned"
    return f"returned in place {hits.ids[0].index('zero') + 1} of 3"
