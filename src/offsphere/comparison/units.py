"""What a comparison's values are means over, by the summary of its task: queries, pairs or episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FEWEST_UNITS = 10  # queries or pairs below which nothing can be told


def is_of_pairs(task: Mapping[str, Any]) -> bool:
    """Whether a task is one of pairs, which have neither queries nor documents."""
    return bool(task["kind"] == "pairs")


def unit_of(task: Mapping[str, Any]) -> str:
    """What the units of a task are called."""
    return str(task.get("unit") or ("pairs" if is_of_pairs(task) else "queries"))


def units_in_all(task: Mapping[str, Any]) -> int:
    """How many units a task has."""
    return int(task[unit_of(task)])


def too_few(count: int, unit: str) -> str:
    """Say that there are too few units to tell anything; nothing where there are enough."""
    if count >= FEWEST_UNITS:
        return ""
    return f"{count:,} {unit} are too few"


def size_of_task(task: Mapping[str, Any]) -> str:
    """The sizes of a task for people: ``300 queries, 5,183 documents``."""
    if task["kind"] == "episodes":
        drawn = f"{task['ways']}-way {task['shots']}-shot of {task['classes']} classes"
        return f"{task['episodes']:,} episodes, {drawn}"
    if is_of_pairs(task):
        return f"{task['pairs']:,} pairs"
    return f"{task['queries']:,} queries, {task['documents']:,} documents"
