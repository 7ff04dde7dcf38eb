"""``probe --read-only``: what a collection tells of itself when it is read, and asked with vectors of its own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from offsphere.base.errors import DataError, OffsphereError
from offsphere.engines.collection import Collection, CollectionFacts, NamedRows, NoMetricError
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric
from offsphere.engines.target import Target
from offsphere.engines.trials.probed_metric import QUERIES, SCORED, MetricProbe, Probe, form_of, recall_of

LOOKED_AT = 2_000  # vectors
UNIT = 1e-4
NO_METRIC = "Each query chooses its metric: there is none to tell of."
NO_FORMULA = "It ranks by no metric that we have, and its scores follow no formula that we know."


def look(engine: Engine, where: Target, fields: Mapping[str, str | None]) -> Probe:
    """Read a collection, and ask it with a few of its own vectors.

    Args:
        engine: Whose it is.
        where: Where it is.
        fields: ``id_field`` and ``vector_name``, where somebody gave them.

    Returns:
        What it says of itself, and what was seen of the metric by which it ranks; where nothing was, why.

    Raises:
        DataError: There is none, or it has no such fields.
    """
    with engine.at(where, read_only=True, **fields) as collection:
        facts = collection.facts()
        if facts is None:
            raise DataError(f"{where} does not exist: without --read-only a scratch collection is made there")
        if facts.other_metric:
            told = f"It ranks by {facts.other_metric}, a metric that we do not have: no more can be told."
            return Probe(str(where), engine.name, [], facts, told)
        try:
            vectors, ids = collection.read()
        except OffsphereError as error:
            if any(fields.values()):
                raise  # it is more likely of what was typed
            return Probe(str(where), engine.name, [], facts, f"Nothing more can be told without writing: {error}.")
        names = list(ids) if ids is not None else [str(row) for row in range(len(vectors))]
        try:
            seen = _seen(collection, facts, NamedRows(vectors, names))
        except NoMetricError:
            return Probe(str(where), engine.name, [], facts, NO_METRIC)
        return Probe(str(where), engine.name, [seen] if seen else [], facts, "" if seen else NO_FORMULA)


def _seen(collection: Collection, facts: CollectionFacts, there: NamedRows) -> MetricProbe | None:
    """What its answers show; nothing where it says no metric and its scores follow none."""
    vectors, names = there.vectors, there.ids or ()
    chosen = np.linspace(0, len(vectors) - 1, min(QUERIES, len(vectors))).astype(int)
    queries = np.ascontiguousarray(vectors[chosen], np.float32)
    k = min(SCORED, len(vectors))
    hits = collection.bare_search(queries, k)
    wanted = {name for answer in hits.ids for name in answer}
    rows = {name: np.asarray(vectors[row], np.float32) for row, name in enumerate(names) if name in wanted}
    form = form_of(hits, queries, rows)
    by_name = {metric.value_name: metric for metric in Metric}
    ranked_by = facts.metric or (by_name[form.metric] if form is not None else None)
    if ranked_by is None:
        return None
    lengths = np.linalg.norm(np.asarray(vectors[:LOOKED_AT], np.float64), axis=1)
    unit = bool(np.abs(lengths - 1).max() < UNIT)
    return MetricProbe(
        metric=str(ranked_by),
        index=facts.index,
        form=form,
        stored="normalised" if facts.normalized or unit else "with lengths that differ",
        augmentation="not tried",
        returned=[(k, len(hits.ids[0]))],
        largest_k=None,
        recall=recall_of(hits, ranked_by, queries, np.asarray(vectors, np.float32), names, k),
        ties="not tried",
        zero="not tried",
    )
