"""Interactions: a table of users and items, with ratings and times where there are any, as a task of recommendation.

Each user's last interaction is held out where the table has times, else a seeded fifth of them. What a user has is
never recommended to him. ``items.jsonl``, ``items.tsv`` or ``items.csv`` beside the table has the texts of the items.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from offsphere.base.arrays import Flags, Index
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.reading.tables import number
from offsphere.data.family import RECOMMENDATION
from offsphere.data.formats.format import Format, Source
from offsphere.data.formats.interaction_table import InteractionTable, interaction_file, read_interaction_table
from offsphere.data.formats.item_texts import find_texts, read_item_texts
from offsphere.data.holding_out import HeldOutLinks, take_last, take_share
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgments
from offsphere.data.linked_task import LinkedTask
from offsphere.data.named_data import one_of, whole_setting
from offsphere.data.numbering import row_numbers

SETTINGS = ("hold_out", "seed", "liked")


def is_interactions(path: Path) -> bool:
    """Whether a folder has a table of interactions, or a file is one."""
    return interaction_file(path) is not None


def load_interactions(source: Source) -> LinkedTask:
    """Read the interactions and hold some out; the settings say which, and from which rating on one is liked."""
    path = interaction_file(source.path)
    assert path is not None
    table = read_interaction_table(path)
    items_path = find_texts(path.parent, "items")
    items = read_item_texts(items_path) if items_path is not None else ItemList(list(table.item_numbers), None)
    table, ignored = _known_items(table, items, ignore_missing=source.ignore_missing)
    liked = _liked(table, source.settings)
    counts = np.bincount(table.users[liked], minlength=len(table.user_ids))
    held = _hold_out(table, liked, counts, source.settings)
    wanted, learned = np.zeros_like(liked), liked.copy()
    wanted[np.flatnonzero(liked)[held.taken]] = True
    learned &= ~wanted
    known, asked_for, seen = (_links(table, flags) for flags in (learned, wanted, ~wanted))
    notes = _notes(table, items, known, asked_for, ignored)
    name = path.resolve().parent.name if path.stem == "interactions" else path.stem
    return LinkedTask.of_links(
        name,
        table.user_ids,
        items.ids,
        known,
        asked_for,
        RECOMMENDATION,
        seen=seen,
        document_texts=items.items,
        left_out=int((counts > 0).sum()) - len(held.sources),
        notes=notes,
    )


def _known_items(table: InteractionTable, items: ItemList, *, ignore_missing: bool) -> tuple[InteractionTable, int]:
    """The table by the numbers of the listed items; an error, or fewer rows, where one of its items is not listed."""
    rows = row_numbers(items, "item")
    numbers = np.array([rows.get(name, -1) for name in table.item_numbers], np.int64)[table.items]
    unknown = np.flatnonzero(numbers < 0)
    if len(unknown) and not ignore_missing:
        line = int(table.lines[unknown[0]])
        name = list(table.item_numbers)[int(table.items[unknown[0]])]
        raise DataError(
            f"{table.path}:{line}: item {name!r} is not in {items.source} ({len(unknown):,} such rows): add it there, "
            "or go on without them with --ignore-missing"
        )
    return table.with_items(numbers, len(rows)).only(numbers >= 0), len(unknown)


def _liked(table: InteractionTable, settings: Mapping[str, str]) -> Flags:
    """Which interactions count as wanted: all, or those of at least the rating that was set."""
    if "liked" not in settings:
        return np.ones(len(table.users), np.bool_)
    least = number(settings["liked"], "the setting liked", "rating")
    if table.ratings is None:
        raise ParameterError(f"liked={settings['liked']}: {table.path} has no ratings: leave it out")
    liked = table.ratings >= least
    if not liked.any():
        raise DataError(f"{table.path}: no rating reaches {least:g}: the highest is {table.ratings.max():g}")
    return np.asarray(liked)


def _hold_out(table: InteractionTable, liked: Flags, counts: Index, settings: Mapping[str, str]) -> HeldOutLinks:
    """Take the last interaction of each user where times are known, else a seeded fifth of them."""
    way = one_of(settings, "hold_out", ("last", "fifth"), "fifth" if table.times is None else "last")
    if way == "fifth":
        return take_share(counts, seed=whole_setting(settings, "seed", 0, least=0))
    if table.times is None:
        raise ParameterError(f"hold_out=last: {table.path} has no times: hold out a fifth, or add a column timestamp")
    return take_last(counts, table.times[liked])


def _links(table: InteractionTable, flags: Flags) -> Judgments:
    """Some interactions, by the numbers of users and items."""
    users, items = table.users[flags], table.items[flags]
    return Judgments.of(users, items, np.ones(len(users)), len(table.user_ids), table.item_count)


def _notes(table: InteractionTable, items: ItemList, known: Judgments, wanted: Judgments, ignored: int) -> list[str]:
    """What one must know of the parts; an error where what is asked for is never among what is learned from."""
    new = ~known.relevant_to_any[wanted.documents]
    if new.all() and items.items is None:
        raise DataError(
            f"{table.path}: no item that was held out is left to learn from, and no item has a text: nothing "
            "could find them; give more interactions, or item texts (items.tsv)"
        )
    said = {
        f"{ignored:,} interactions are with unknown items and are ignored": ignored,
        f"{table.repeated:,} interactions repeat an earlier one and are left out": table.repeated,
        f"{int(new.sum()):,} of {len(new):,} held-out interactions are with items that nobody else has: only their "
        "texts could find them": int(new.sum()),
    }
    return [sentence for sentence, count in said.items() if count]


FORMAT = Format(
    "interactions (interactions.tsv, .csv or .parquet: user, item, rating, timestamp)",
    is_interactions,
    load_interactions,
    settings=SETTINGS,
)
