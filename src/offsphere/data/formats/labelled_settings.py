"""Labelled items, texts or pictures, as the settings behind their name ask for them: episodes, or neighbours that vote.

Where there are train and test, shots and neighbours come from train, and what is sorted from test.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from offsphere.base.errors import ParameterError
from offsphere.data.episode_task import EpisodeTask, draw_episodes
from offsphere.data.formats.format import Source
from offsphere.data.items import ItemList
from offsphere.data.labelled import LabelledItems
from offsphere.data.named_data import whole_setting
from offsphere.data.neighbour_task import NeighbourTask, neighbour_task
from offsphere.data.task import Task

SETTINGS = ("ways", "shots", "items", "episodes", "seed", "knn")
Labelled = tuple[ItemList, Sequence[str]]


def classification_task(
    name: str, queries: Labelled, shots: Labelled, settings: Mapping[str, str], split: str | None
) -> EpisodeTask | NeighbourTask:
    """Make the task that the settings ask for.

    Args:
        name: What the task is called in tables.
        queries: The items to sort, and the label of each.
        shots: The items that classes are known by, and the label of each; the very same list where there is only one.
        settings: How many ways, shots and episodes, or how many neighbours vote.
        split: Which part of the data the sorted items are.

    Raises:
        ParameterError: A setting that does not go with another.
        DataError: A class has too few items, or there are too few classes.
    """
    if "knn" in settings:
        extra = [setting for setting in settings if setting != "knn"]
        if extra:
            raise ParameterError(f"knn={settings['knn']} takes all labelled items: leave out {', '.join(extra)}")
        return neighbour_task(name, queries, shots, whole_setting(settings, "knn", 10), split)
    return draw_episodes(
        name,
        queries,
        shots,
        ways=None if settings.get("ways") == "all" else whole_setting(settings, "ways", 5, least=2),
        count=whole_setting(settings, "shots", 5),
        items=whole_setting(settings, "items", 15),
        episodes=whole_setting(settings, "episodes", 600, least=2),
        seed=whole_setting(settings, "seed", 0, least=0),
        split=split,
    )


def picture_task(source: Source, load: Callable[[Source], LabelledItems], splits: Collection[str]) -> Task:
    """Let pictures ask for those of their class; with settings, sort them into classes.

    Args:
        source: What the user asks for.
        load: Reads the pictures of a split with their classes.
        splits: The splits that there are.

    Returns:
        A ranking, episodes, or neighbours that vote.
    """
    asked = load(source)
    if not source.settings:
        return asked.ranking_task()
    queries = shots = _labelled(asked)
    if "train" in splits and asked.split != "train":
        shots = _labelled(load(source._replace(split="train")))
    return classification_task(asked.name, queries, shots, source.settings, asked.split)


def _labelled(items: LabelledItems) -> Labelled:
    return ItemList(items.ids, items.items, items.name), [items.classes[number] for number in items.labels.tolist()]
