"""MTEB runs our scorers, and its own evaluation, made by others, gives what we measure on the same vectors."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, NoSuchSplitError, OffsphereError
from offsphere.data.formats.mteb_tasks import suite_tasks, task_of_mteb
from offsphere.encode.function import FunctionEncoder
from offsphere.engines.mteb_search import ScorerIndex, mteb_model

mteb = pytest.importorskip("mteb")
WORDS = ("wing", "flow", "heat", "tax", "king", "bread", "river", "stone", "paper", "cloud")


def bag_of_words(texts):
    """Counts of words: vectors whose lengths differ."""
    return np.array([[text.split().count(word) + 0.01 * (len(text) % 7) for word in WORDS] for text in texts])


bag_of_words.__version__ = "1"


def local_task(kind="Retrieval"):
    """A task object of MTEB with its data in memory: nothing is asked of the hub."""
    from datasets import Dataset
    from mteb.abstasks import AbsTaskRetrieval, AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata

    metadata = TaskMetadata(
        name=f"Planted{kind}", dataset={"path": "nobody/nothing", "revision": "1"}, description="Planted.",
        type=kind, category="t2t", modalities=["text"], eval_splits=["test"], eval_langs=["eng-Latn"],
        main_score="ndcg_at_10" if kind == "Retrieval" else "cosine_spearman", reference=None, date=None,
        domains=None, task_subtypes=None, license=None, annotations_creators=None, dialect=None,
        sample_creation=None, bibtex_citation=None,
    )  # fmt: skip
    base = AbsTaskRetrieval if kind == "Retrieval" else AbsTaskSTS
    task = type(f"Planted{kind}", (base,), {"metadata": metadata, "load_data": lambda self, **_: None})()
    task.data_loaded = True
    rng = np.random.default_rng(0)
    said = lambda count: " ".join(rng.choice(WORDS, count))  # noqa: E731
    if kind == "Retrieval":
        corpus = [{"id": f"d{n}", "title": "", "text": said(3 + n % 9)} for n in range(120)]
        queries = [{"id": f"q{n}", "text": said(3)} for n in range(40)]
        relevant = {f"q{n}": {f"d{d}": 1 for d in rng.choice(120, 3, replace=False).tolist()} for n in range(40)}
        part = {"corpus": Dataset.from_list(corpus), "queries": Dataset.from_list(queries),
                "relevant_docs": relevant, "top_ranked": None}  # fmt: skip
        task.dataset = {"default": {"test": part}}
    else:
        rows = [{"sentence1": said(4), "sentence2": said(4), "score": float(n % 6)} for n in range(30)]
        task.dataset = {"test": Dataset.from_list(rows), "dev": Dataset.from_list(rows[:10])}
    return task


@pytest.mark.parametrize("name", ["cosine", "dot", "whiten(0.5) + polar(1, 0.5)"])
def test_mteb_reports_what_compare_measures(name):
    """MTEB ranks with our backend and measures with pytrec_eval; ``compare`` does both by itself."""
    task = local_task()
    encoder, scorer = FunctionEncoder(bag_of_words, "callable:here:bag_of_words"), osp.parse_scorer(name)
    result = mteb.evaluate(mteb_model(encoder, scorer), task, cache=None, show_progress_bar=False, co2_tracker=False)
    reported = result.task_results[0].scores["test"][0]["ndcg_at_10"]
    ours = task_of_mteb(task)
    rows = [bag_of_words(side.items).astype(np.float32) for side in ours.sides]
    table = osp.compare(ours, osp.RankingVectors.of(ours, *rows), [scorer])
    assert reported == pytest.approx(table[name].value, abs=1e-4)  # MTEB rounds to five places


def test_given_documents_alone_are_ranked_again():
    rng = np.random.default_rng(0)
    documents, queries = rng.normal(size=(30, 5)), rng.normal(size=(4, 5))
    index = ScorerIndex(osp.parse_scorer("dot"))
    index.add_documents(documents[:20], [f"d{n}" for n in range(20)])
    index.add_documents(documents[20:], [f"d{n}" for n in range(20, 30)])
    given = {f"q{q}": [f"d{d}" for d in rng.choice(30, 6, replace=False)] for q in range(4)}
    scores, places = index.search(queries, 3, top_ranked=given, query_idx_to_id={q: f"q{q}" for q in range(4)})
    for query in range(4):
        products = [queries[query] @ documents[int(name[1:])] for name in given[f"q{query}"]]
        assert places[query] == np.argsort(products)[::-1][:3].tolist()
        assert scores[query] == pytest.approx(sorted(products, reverse=True)[:3], abs=1e-5)
    index.clear()
    with pytest.raises(OffsphereError, match="there are no documents"):
        index.search(queries, 3)


def test_pairs_of_mteb_are_a_task():
    task = task_of_mteb(local_task("STS"))
    assert (task.name, task.split, task.units) == ("PlantedSTS", "test", 30)
    assert task_of_mteb(local_task("STS"), "dev").units == 10
    with pytest.raises(NoSuchSplitError, match="no split 'train': there are test, dev"):
        task_of_mteb(local_task("STS"), "train")


def test_what_is_no_task_of_mteb_is_told_in_one_line():
    with pytest.raises(DataError, match="MTEB has no task 'NoSuchThing'"):
        osp.load_task("mteb:NoSuchThing")
    empty = local_task()
    empty.dataset = {}
    with pytest.raises(DataError, match="call its load_data"):
        task_of_mteb(empty)
    with pytest.raises(DataError, match="MTEB has no benchmark 'nothing'"):
        suite_tasks("mteb-suite:nothing")


def test_a_task_that_cannot_be_loaded_says_so(monkeypatch):
    def fails(self, **_):
        raise ConnectionError("no route to the hub\nand more")

    task = local_task()
    monkeypatch.setattr(type(task), "load_data", fails)
    monkeypatch.setattr(mteb, "get_task", lambda _: task)
    with pytest.raises(DataError, match=r"MTEB cannot load Planted: ConnectionError: no route to the hub$"):
        osp.load_task("mteb:Planted")


def test_a_benchmark_is_the_tasks_that_can_be_read():
    names = suite_tasks("mteb-suite:BEIR")
    assert {"mteb:SciFact", "mteb:NFCorpus"} <= set(names)
    assert len(names) >= 14
