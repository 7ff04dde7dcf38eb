"""What the page ranks again by itself, as JSON of a bounded size: numbers as packed arrays, texts as text."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.plain import plain
from offsphere.base.shown_ids import shown_id
from offsphere.comparison.rerankable import METRIC, RerankableLists
from offsphere.report.live_pictures import SHARE, live_pictures

SMALL = 65_535  # in two bytes, which stands for no document; beyond that numbers take four
TABLE_SHARE = 0.35  # of the room, for queries that are listed without their documents


class LiveHeads(NamedTuple):
    """What the template needs to draw the knobs."""

    metric: str
    compared: tuple[str, str]
    phrases: Sequence[str]  # what is done to the vectors, a knob each


def live_data(lists: RerankableLists, compared: tuple[str, str], metric: str, room: int) -> dict[str, Any]:
    """Pack as many queries as there is room for; those that were asked for, and those that change most, are always in.

    Args:
        lists: What can be ranked again.
        compared: The names of the two scorers that are shown side by side.
        metric: The metric of the values in the table of queries.
        room: Bytes that the JSON may take; queries that were chosen are packed whatever that takes.

    Returns:
        Plain values for JSON.
    """
    pictures = any(image is not None for image in (*lists.document_images, *lists.query_images))
    for_pictures = int(room * SHARE) if pictures else 0
    room -= for_pictures
    held = len(lists.queries)
    least = min(held, lists.chosen)
    listed = _rows_that_fit(lists, held, int(room * TABLE_SHARE))
    while True:
        packed = _packed(lists, compared, metric, held, max(held, listed))
        size = len(json.dumps(packed))
        if size <= room or held <= least:
            return packed | (_pictures(lists, held, for_pictures) if pictures else {})
        held = max(least, min(held - 1, int(held * room / size)))


def live_heads(lists: RerankableLists, compared: tuple[str, str]) -> LiveHeads:
    """What the page says of the knobs before it has any data."""
    return LiveHeads(METRIC, compared, [_phrase(chain.transforms) for chain in lists.chains])


def _note(lists: RerankableLists, held: int, listed: int) -> str:
    """Over which queries the value is, how exact it is, and where the others are."""
    width, whole = lists.candidates.shape[1], int(lists.whole[:held].sum())
    if held == lists.total:
        over = f"The value is {METRIC} over all {held:,} queries"
    elif held > lists.chosen:
        asked = f"the {lists.asked:,} that were asked for, " if lists.asked else ""
        over = (
            f"The page holds {held:,} of {lists.total:,} queries, {asked}the {lists.changed:,} that change most and "
            f"others at random; the value is {METRIC} over these, weighed so that they stand for all"
        )
    else:
        asked = "that were asked for or " if lists.asked else "that "
        over = f"The value is {METRIC} over the {held:,} queries {asked}change most, of {lists.total:,}"
    exact = "all" if whole == held else f"{whole:,} of {held:,}"
    elsewhere = "" if held == lists.total else f" {_elsewhere(lists.total, listed)}"
    return (
        f"{over}. Each query brings up to {width:,} documents, those that come first at any of the settings that were "
        f"tried when the page was made; they hold the first ten of every such setting for {exact} queries. Nothing "
        f"here is held out: look, and decide by the table above.{elsewhere}"
    )


def _elsewhere(total: int, listed: int) -> str:
    """How the page can be made to hold what it does not."""
    cure = "audit again with --show and its id (show=[...] in Python), and the results of a query are in the page"
    unlisted = f"The table lists {listed:,} of all {total:,} queries. " if listed < total else ""
    return f"{unlisted}Not every query can be opened: {cure}."


def _rows_that_fit(lists: RerankableLists, held: int, room: int) -> int:
    """How many rows of the table of queries there is room for, the held ones included."""
    sizes = [len(json.dumps(row)) + 2 for row in _table(lists, len(lists.table.rows))[held:]]
    return held + int(np.searchsorted(np.cumsum(sizes), room))


def _pictures(lists: RerankableLists, held: int, room: int) -> dict[str, Any]:
    """The images of the queries that are held, and of the documents that one may see below them."""
    used = _used(lists, held).tolist()
    seen = [lists.document_images[document] if lists.shown[document] else None for document in used]
    drawn = live_pictures([*lists.query_images[:held], *seen], room)
    return {"query_pictures": drawn[:held], "pictures": drawn[held:]}


def _used(lists: RerankableLists, held: int) -> NDArray[np.signedinteger[Any]]:
    """The documents that the queries which are held have, in the task's order."""
    candidates = lists.candidates[:held]
    return np.unique(candidates[candidates >= 0])


def _packed(lists: RerankableLists, compared: tuple[str, str], metric: str, held: int, listed: int) -> dict[str, Any]:
    """The JSON of some queries: what belongs to documents is told once, for those that these queries have."""
    candidates, pair = lists.candidates[:held], lists.compared[:, :held]
    used = _used(lists, held)
    number = np.full(len(lists.documents) + 1, -1)
    number[used] = np.arange(len(used))
    nothing = SMALL if len(used) < SMALL else 2**32 - 1
    kind: type[np.unsignedinteger[Any]] = np.uint16 if nothing == SMALL else np.uint32
    graded = np.argwhere(lists.grades[:held] > 0)
    return {
        "metric": METRIC,
        "compared": list(compared),
        "compared_metric": metric,
        "chains": [" + ".join(part.name for part in chain.transforms) for chain in lists.chains],
        "total": lists.total,
        "held": held,
        "asked": lists.asked,
        "listed": listed,
        "note": _note(lists, held, listed),
        "width": lists.candidates.shape[1],
        "weights": [round(weight, 6) for weight in lists.weights(held).tolist()],
        "nothing": nothing,
        "bytes": kind(0).nbytes,
        "candidates": _base64(np.where(candidates >= 0, number[candidates], nothing).astype(kind)),
        "pair": _base64(np.where(pair >= 0, number[pair], nothing).astype(kind)),
        "dots": _base64(lists.dots[:, :held].astype(np.float32)),
        "query_lengths": _base64(lists.query_lengths[:, :held].astype(np.float32)),
        "document_lengths": _base64(lists.document_lengths[:, used].astype(np.float32)),
        "best": [round(value, 9) for value in lists.best[:held].tolist()],
        "grades": [[int(query), int(column), float(lists.grades[query, column])] for query, column in graded],
        "ids": [shown_id(lists.document_ids[document]) for document in used.tolist()],
        "texts": [lists.document_texts[document] if lists.shown[document] else "" for document in used.tolist()],
        "queries": _table(lists, listed),
    }


def _table(lists: RerankableLists, count: int) -> list[list[Any]]:
    """The id, the text and both values of the first queries of the table."""
    table = lists.table
    values = [[round(value, 5) for value in side[:count].tolist()] for side in (table.first, table.second)]
    rows = zip(map(shown_id, table.ids[:count]), table.texts[:count], *values, strict=True)
    return [plain(list(row)) for row in rows]


def _phrase(transforms: tuple[Any, ...]) -> str:
    """What is done to the vectors first, in plain words."""
    return ", then ".join(transform.phrase for transform in transforms) or "as they are"


def _base64(values: NDArray[np.generic]) -> str:
    """Numbers as their bytes, the smallest byte first, in letters."""
    return base64.b64encode(values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()).decode("ascii")
