"""Tasks from documents alone: who wants the rest of a document asks with its title, or with its first sentence.

The one relevant document of such a query is the one it came from. That is no human judgment, and every output says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.tables import json_lines
from offsphere.data.formats.beir import text_of
from offsphere.data.near_duplicates import first_of_each
from offsphere.data.ranking_task import ItemList, Judgment, RankingTask

MADE_FROM_TITLES = "each title asks for its own text"
MADE_FROM_SENTENCES = "each first sentence asks for the rest of its text"
SHORTEST_QUERY, SHORTEST_REST = 3, 10  # words

_SENTENCE = re.compile(r"(.+?[.!?])\s+(?=\S)(.+)", re.DOTALL)


class KnownItem(NamedTuple):
    """A query and the text it was taken from, without the query."""

    id: str
    query: str
    text: str


def known_item_task(folder: Path) -> RankingTask:
    """A task from ``corpus.jsonl`` alone; near-duplicates are removed, since they would be relevant too."""
    path = folder / "corpus.jsonl"
    entries = [(line, entry) for line, entry in json_lines(path)]
    # titles that most documents share with others cannot ask for one of them
    titled = len({str(entry["title"]) for _, entry in entries if entry.get("title")}) * 2 > len(entries)
    items = []
    for line, entry in entries:
        name = entry.get("_id", entry.get("id"))
        if name is None:
            raise DataError(f"{path}:{line}: there is no _id")
        text_of(entry, f"{path}:{line}")  # complains about what is no string
        title, text = str(entry.get("title") or ""), str(entry.get("text") or "")
        items.append(KnownItem(str(name), title, text) if titled else split_sentence(str(name), text))
    made = MADE_FROM_TITLES if titled else MADE_FROM_SENTENCES
    return known_items(folder.resolve().name, items, made, source=str(path))


def known_items(name: str, items: Sequence[KnownItem], made: str, *, source: str) -> RankingTask:
    """A task from items: those with too few words are documents nobody asks for."""
    kept = [items[place] for place in first_of_each([f"{item.query} {item.text}" for item in items])]
    asked = [item for item in kept if _long_enough(item)]
    seen: dict[str, int] = {}
    for item in asked:
        seen[item.query] = seen.get(item.query, 0) + 1
    asked = [item for item in asked if seen[item.query] == 1]  # a query that two documents share asks for neither
    if not asked:
        raise DataError(f"{source}: no document has a title or a first sentence, and enough text besides")
    return RankingTask.build(
        name,
        ItemList([item.id for item in asked], [item.query for item in asked], source),
        ItemList([item.id for item in kept], [item.text for item in kept], source),
        [Judgment(item.id, item.id, 1.0, source) for item in asked],
        made=made,
    )


def split_sentence(name: str, text: str) -> KnownItem:
    """The first sentence asks, the rest answers."""
    match = _SENTENCE.match(text.strip())
    if match is None:
        return KnownItem(name, "", text)
    return KnownItem(name, " ".join(match.group(1).split()), match.group(2))


def _long_enough(item: KnownItem) -> bool:
    return len(item.query.split()) >= SHORTEST_QUERY and len(item.text.split()) >= SHORTEST_REST
