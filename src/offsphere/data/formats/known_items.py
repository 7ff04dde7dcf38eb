"""Tasks from documents alone: who wants the rest of a document asks with its title, or with its first sentence.

The one relevant document of such a query is the one it came from. That is no human judgment, and every output says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import DataError
from offsphere.data.formats.corpus_files import CorpusEntry, corpus_entries, corpus_paths, has_corpus, id_of, text_of
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.trec import has_topics
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.near_duplicates import first_of_each
from offsphere.data.ranking_task import RankingTask

MADE_FROM_TITLES = "each title asks for its own text"
MADE_FROM_SENTENCES = "each first sentence asks for the rest of its text"
MADE_FROM_BEGINNINGS = "each first sentence asks for the text that it begins, and was embedded with it"
SHORTEST_QUERY, SHORTEST_REST = 3, 10  # words

_SENTENCE = re.compile(r"(.+?[.!?])\s+(?=\S)(.+)", re.DOTALL)


class KnownItem(NamedTuple):
    """A query and the text it was taken from, without the query."""

    id: str
    query: str
    text: str


def is_corpus_alone(folder: Path) -> bool:
    """Whether a folder has documents, and neither queries (that is a BEIR folder) nor topics (TREC files)."""
    return has_corpus(folder) and not has_topics(folder)


def load_known_items(source: Source) -> RankingTask:
    """Make the task of a folder; it has no splits, and no judgments that could miss a document."""
    return known_item_task(source.path)


def known_item_task(folder: Path) -> RankingTask:
    """A task from a corpus alone; near-duplicates are removed, since they would be relevant too."""
    return task_of_entries(folder.resolve().name, list(corpus_entries(folder)), str(corpus_paths(folder)[0]))


def task_of_entries(called: str, entries: Sequence[CorpusEntry], source: str) -> RankingTask:
    """A task from documents alone, each with where it stands."""
    titled = _are_titled(entries)
    items = []
    for where, entry in entries:
        name = id_of(entry, where)
        text_of(entry, where)  # refuses what is no string
        title, text = str(entry.get("title") or ""), str(entry.get("text") or "")
        items.append(KnownItem(name, title, text) if titled else split_sentence(name, text))
    made = MADE_FROM_TITLES if titled else MADE_FROM_SENTENCES
    return known_items(called, items, made, source=source)


def task_of_whole_texts(called: str, entries: Sequence[CorpusEntry], source: str) -> RankingTask:
    """A task from documents that were embedded already: a sentence that asks stays in its text, as in the vector."""
    if _are_titled(entries):
        return task_of_entries(called, entries, source)
    items = []
    for where, entry in entries:
        name, text = id_of(entry, where), text_of(entry | {"title": None}, where)
        items.append(split_sentence(name, text)._replace(text=text))
    return known_items(called, items, MADE_FROM_BEGINNINGS, source=source)


def known_items(name: str, items: Sequence[KnownItem], made: str, *, source: str) -> RankingTask:
    """A task in which each item's query asks for its text.

    Near-duplicates are removed. Nobody asks for items of too few words, nor for those that share their query.
    """
    kept = [items[row] for row in first_of_each([f"{item.query} {item.text}" for item in items])]
    asked = [item for item in kept if _long_enough(item)]
    times = Counter(item.query for item in asked)
    asked = [item for item in asked if times[item.query] == 1]
    if not asked:
        raise DataError(
            f"{source}: no document has a title or a first sentence of {SHORTEST_QUERY} words or more, "
            f"and {SHORTEST_REST} words besides"
        )
    return RankingTask.build(
        name,
        ItemList([item.id for item in asked], [item.query for item in asked], source),
        ItemList([item.id for item in kept], [item.text for item in kept], source),
        [Judgment(item.id, item.id, 1.0, source) for item in asked],
        made=made,
    )


def split_sentence(name: str, text: str) -> KnownItem:
    """An item whose first sentence asks for the rest; one without a query where there is only one sentence."""
    match = _SENTENCE.match(text.strip())
    if match is None:
        return KnownItem(name, "", text)
    return KnownItem(name, " ".join(match.group(1).split()), match.group(2))


def _are_titled(entries: Sequence[CorpusEntry]) -> bool:
    """Whether titles can ask for most documents: not those that others share, nor names of files and the like."""
    titles = {str(entry["title"]) for _, entry in entries if entry.get("title")}
    return sum(len(title.split()) >= SHORTEST_QUERY for title in titles) * 2 > len(entries)


def _long_enough(item: KnownItem) -> bool:
    return len(item.query.split()) >= SHORTEST_QUERY and len(item.text.split()) >= SHORTEST_REST


FORMAT = Format("documents alone (corpus.jsonl)", is_corpus_alone, load_known_items)
