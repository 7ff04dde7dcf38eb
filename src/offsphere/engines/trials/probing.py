"""``probe``: what an engine really does with vectors, found out by giving it some.

A scratch collection is made for each metric, filled with crafted vectors, asked, read back and removed. Nothing of the
user's is touched; with ``read_only`` only an existing collection is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.base.progress import Progress
from offsphere.engines.collection import Collection, Hits, IndexKind, Layout
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.strategy import checked_index
from offsphere.engines.target import Target
from offsphere.engines.trials.looking import look
from offsphere.engines.trials.probed_metric import (
    MOST_ASKED,
    QUERIES,
    SCORED,
    UNREADABLE,
    MetricProbe,
    Probe,
    form_of,
    recall_of,
)
from offsphere.engines.trials.stored_forms import AUGMENTED, stored_form_of

WIDTH, ROWS = 24, 1_200
TWINS = ("twin b", "twin a")  # in the order in which they are stored


def probe(
    target: str | tuple[Engine, Target],
    *,
    read_only: bool = False,
    index: IndexKind | None = None,
    id_field: str | None = None,
    vector_name: str | None = None,
    progress: Progress | None = None,
) -> Probe:
    """Find out what an engine really does: metric, formula of its scores, what it stores, how many documents it gives.

    Args:
        target: As for ``export``. With ``read_only`` its collection is looked at; else a scratch collection beside it
            is made for each metric, and removed. For an engine that we do not know, an ``Engine`` of your own and a
            ``Target`` (see CONTRIBUTING).
        read_only: Whether only to read.
        index: Which index the scratch collections get; what an export takes without.
        id_field: The field that has the ids of the collection, where it is not the engine's own.
        vector_name: The field, column or name of its vectors, where there are several.
        progress: Is told how far it is.

    Returns:
        What was seen, a part for each metric.

    Raises:
        DataError: There is no collection to read, or it has no such fields.
        ParameterError: Fields are named of a collection that is not read.
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
    fields = {"id_field": id_field, "vector_name": vector_name}
    if read_only:
        return look(engine, where, fields)
    if any(fields.values()):
        raise ParameterError(
            "--id-field and --vector-column name fields of a collection that is there: add --read-only"
        )
    probed = []
    engine.at(where).close()  # a place where none can be is refused as it was written
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
        layout = Layout(WIDTH, metric, kind, rows=ROWS)
        collection.check(layout, ids)
        collection.remove()
        try:
            collection.create(layout)
            collection.add(ids, rows)
            collection.finish()
            hits = collection.bare_search(queries, 10)
            scored = collection.bare_search(queries, SCORED)
            returned = [(k, _came(collection, queries[:1], k) or 0) for k in (10, 100, 1_000, ROWS)]
            largest_k = _largest_k(collection, queries[:1])
            stored = _stored(collection, ids, rows)
        finally:
            collection.remove()
        zero = _zero(collection, Layout(WIDTH, metric, kind, rows=3))
    return MetricProbe(
        metric=str(metric),
        index=kind,
        form=form_of(scored, queries, dict(zip(ids, rows, strict=True))),
        stored=stored,
        augmentation=_augmentation(stored),
        returned=returned,
        largest_k=largest_k,
        recall=recall_of(hits, metric, queries, rows, ids),
        ties=_ties(hits),
        zero=zero,
    )


def _came(collection: Collection, query: Rows, k: int) -> int | None:
    """How many documents came; nothing where so many are refused."""
    try:
        return len(collection.bare_search(query, k).ids[0])
    except OffsphereError:
        return None


def _largest_k(collection: Collection, query: Rows) -> int:
    """The largest k that it takes, up to ``MOST_ASKED``: it is asked for more documents than there are."""
    taken, refused = 0, MOST_ASKED + 1
    tried = MOST_ASKED
    while refused - taken > 1:
        if _came(collection, query, tried) is not None:
            taken = tried
        else:
            refused = tried
        tried = (taken + refused) // 2
    return taken


def _stored(collection: Collection, ids: Sequence[str], rows: Rows) -> str:
    """What became of the vectors."""
    try:
        vectors, names = collection.read()
    except OffsphereError:
        return UNREADABLE
    back = dict(zip(names if names is not None else ids, np.asarray(vectors, np.float32), strict=True))
    return stored_form_of(rows, np.stack([back[name] for name in ids]))


def _augmentation(stored: str) -> str:
    """Whether numbers were added to vectors; an engine that takes them away again before it gives them back is silent.

    Such a coordinate changes no score: a query has a zero there. So it can be told by what is stored alone.
    """
    if stored == AUGMENTED:
        return "numbers are added to each vector"
    if stored == UNREADABLE:
        return f"cannot be told: what is stored {UNREADABLE}"
    return "none that shows; numbers that are added and hidden cannot be told"


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
        hits = collection.bare_search(rows[1:2], 3)
    except OffsphereError:
        return "refused"
    finally:
        collection.remove()
    if "zero" not in hits.ids[0]:
        return "stored, never returned"
    return f"returned in place {hits.ids[0].index('zero') + 1} of 3"
