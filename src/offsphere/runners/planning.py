"""Plans of comparing, measuring and embedding over shards: what there is to do, times how fast this machine is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.data.items import Item
from offsphere.encode.encoder import Encoder
from offsphere.geometry.length_distribution import MOST_KEPT
from offsphere.geometry.scanning import SAMPLE
from offsphere.ranking.search import TOP_LISTS
from offsphere.runners import compare_shards, embed_shards, measure_shards
from offsphere.runners.calibration import pace_of_compare, pace_of_disk, pace_of_embed, pace_of_measure
from offsphere.runners.shard_plan import AN_ID, LISTED_ID, ShardPlan, Workload
from offsphere.shards.compare_question import CompareOptions
from offsphere.shards.shard import BLOCK, usual_shards

PROGRAM = 400_000_000  # bytes of Python, numpy and compiled code in a worker
ENTRY = 16  # bytes of a document in a list: its number and its key; on disk fewer, where the number fits into four


def plan_compare(
    workload: Workload,
    options: CompareOptions,
    workers: int = 1,
    cores: int = 1,
    shards: int | None = None,
    texts: int = 0,
) -> ShardPlan:
    """Plan a comparison over shards.

    Args:
        workload: The corpus.
        options: Of the comparison.
        workers: How many.
        cores: Of each worker, as fast as those of this machine.
        shards: How many; by the number of documents unless said.
        texts: Bytes of the texts that the command reads with the task.

    Returns:
        The plan; documents are read twice, to be fitted and to be searched.

    Example:
        >>> import offsphere as osp
        >>> from offsphere.runners.shard_plan import Workload
        >>> from offsphere.runners.planning import plan_compare
        >>> load = Workload(documents=10**9, dimension=8, queries=100)
        >>> plan = plan_compare(load, osp.CompareOptions(scorers=["dot"]), workers=4)
        >>> plan.shards, plan.bytes_to_read
        (1000, 64000000000)
    """
    pace = pace_of_compare(workload.dimension, workload.queries, options)
    documents, queries, dimension = workload.documents, workload.queries, workload.dimension
    count = shards or usual_shards(documents, compare_shards.LEAST)
    entries = pace.lists * queries * pace.depth
    state = ENTRY * entries + 4 * queries * dimension
    narrower = 4 * entries if documents <= np.iinfo(np.int32).max else 0
    fitted = 8 * dimension**2 * max(1, (documents // count // BLOCK).bit_length())
    fit_and_map = (1 + pace.maps) * dimension**2
    return ShardPlan(
        work="compare",
        workload=workload,
        shards=count,
        workers=workers,
        bytes_to_read=2 * workload.bytes,
        multiplications=documents * (fit_and_map + pace.maps * queries * dimension),
        memory=PROGRAM + TOP_LISTS + 3 * state + 4 * BLOCK * dimension * 4 + AN_ID * -(-documents // count),
        driver=PROGRAM + (LISTED_ID if texts else AN_ID) * documents + texts + state * (count.bit_length() + 3),
        states=count * (state - narrower + fitted),
        reading=2 * workload.bytes / (pace_of_disk() * workers),
        computing=documents * (pace.fit + pace.search * queries) / (workers * cores),
    )


def plan_measure(workload: Workload, workers: int = 1, cores: int = 1, shards: int | None = None) -> ShardPlan:
    """Plan a measurement over shards.

    Args:
        workload: The vectors.
        workers: How many.
        cores: Of each worker, as fast as those of this machine.
        shards: How many; by the number of vectors unless said.
    """
    documents, dimension = workload.documents, workload.dimension
    count = shards or usual_shards(documents, measure_shards.LEAST)
    state = 8 * (dimension**2 + min(documents // count, MOST_KEPT)) + 4 * SAMPLE * dimension
    return ShardPlan(
        work="measure",
        workload=workload,
        shards=count,
        workers=workers,
        bytes_to_read=workload.bytes,
        multiplications=documents * dimension**2,
        memory=PROGRAM + 4 * BLOCK * dimension * 4 + 6 * dimension**2 * 8,
        driver=PROGRAM + AN_ID * documents + state * (count.bit_length() + 3),
        states=count * state,
        reading=workload.bytes / (pace_of_disk() * workers),
        computing=documents * pace_of_measure(dimension) / (workers * cores),
    )


def plan_embed(
    documents: int, encoder: Encoder, items: Sequence[Item], number: int, workers: int = 1, shards: int | None = None
) -> ShardPlan:
    """Plan the embedding of documents, of which there are some.

    Args:
        documents: How many there will be.
        encoder: What encodes them.
        items: Some of them, or all.
        number: Bytes of a stored number.
        workers: How many, each as fast as this process.
        shards: How many; by the number of documents unless said.
    """
    size = sum(len(str(item).encode()) for item in items) * documents // max(len(items), 1)
    workload = Workload(documents=documents, dimension=encoder.description.dimension, number=number)
    count = shards or usual_shards(documents, embed_shards.LEAST)
    return ShardPlan(
        work="embed",
        workload=workload,
        shards=count,
        workers=workers,
        bytes_to_read=size,  # by the command, which sends each shard its own
        multiplications=None,
        memory=3 * PROGRAM + (LISTED_ID * documents + size) // count,
        driver=PROGRAM + LISTED_ID * documents + size,
        states=0,
        reading=size / pace_of_disk(),
        computing=documents * pace_of_embed(encoder, items) / workers,
    )
