"""What a task holds, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import RankingTask

Value = str | int | float | None


def units_of(task: RankingTask | PairTask) -> int:
    """How many queries or pairs there are."""
    return len(task.gold) if isinstance(task, PairTask) else len(task.query_ids)


def describe_task(task: RankingTask | PairTask) -> dict[str, Value]:
    """Names and counts."""
    if isinstance(task, PairTask):
        return {"name": task.name, "kind": "pairs", "split": task.split, "pairs": len(task.gold)}
    return {
        "name": task.name,
        "kind": "ranking",
        "split": task.split,
        "queries": len(task.query_ids),
        "documents": len(task.document_ids),
        "judgments": len(task.judgments.grades),
        "queries_left_out": task.left_out,
        "judgments_ignored": task.ignored,
        "judgments_made": task.made,
    }


def task_info(task: RankingTask | PairTask) -> dict[str, Value]:
    """Names, counts, and how long the texts are."""
    found = describe_task(task)
    if isinstance(task, PairTask):
        found |= {"lowest_gold": float(task.gold.min()), "highest_gold": float(task.gold.max())}
        return found | _words("left", task.left_texts) | _words("right", task.right_texts)
    found["relevant_per_query"] = float(task.judgments.relevant.mean())
    return found | _words("query", task.query_texts) | _words("document", task.document_texts)


def _words(side: str, texts: Sequence[str] | None) -> dict[str, Value]:
    if texts is None:
        return {f"{side}_texts": "none"}
    words = np.array([len(text.split()) for text in texts])
    return {f"{side}_words_mean": float(words.mean()), f"{side}_texts_empty": int((words == 0).sum())}
