"""Documents worth a look are found where they were planted."""

from __future__ import annotations

import numpy as np

import offsphere as osp
from offsphere.auditing.notable_documents import notable_documents
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment

COUNT = 60


def planted():
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(COUNT, 8))
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    queries = rng.normal(0, 0.2, (40, 8)) + np.eye(8)[0]  # all of them ask alike
    documents[5] = np.eye(8)[0]  # near all queries
    documents[17] = -np.eye(8)[0]  # away from all
    documents[30] *= 9
    documents[31] *= 0.01
    ids = [f"d{d}" for d in range(COUNT)]
    texts = [f"text  {d}\nof many words" + " word" * 100 for d in range(COUNT)]
    judged = [Judgment(f"q{q}", "d17" if q == 0 else "d5", 1.0) for q in range(40)]
    task = osp.RankingTask.build(
        "planted", ItemList([f"q{q}" for q in range(40)], ["?"] * 40), ItemList(ids, texts), judged
    )
    return task, osp.RankingVectors.of(task, queries.astype(np.float32), documents.astype(np.float32))


def test_the_hub_the_lost_one_the_longest_and_the_shortest_are_told_with_their_texts():
    task, vectors = planted()
    shape = osp.measure(task, vectors, sections=["hubness"])
    lengths = np.linalg.norm(vectors.documents.astype(float), axis=1)
    found = notable_documents(task, shape, lengths, "cosine")
    assert (found.scorer, found.k, found.queries) == ("cosine", 10, 40)
    assert (found.hubs[0].id, found.hubs[0].lists, found.hubs[0].relevant) == ("d5", 40, True)
    assert (found.never[0].id, found.never[0].lists, found.never[0].relevant) == ("d17", 0, True)
    assert not found.never[1].relevant
    assert (found.longest[0].id, found.shortest[0].id) == ("d30", "d31")
    assert found.longest[0].length > 8
    text = found.hubs[0].text
    assert text.startswith("text 5 of many words word")
    assert text.endswith("word ...")
    assert len(text) <= 144


def test_pairs_have_their_longest_and_shortest_by_row():
    rows = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    task = osp.PairTask("pairs", np.arange(30.0))
    shape = osp.measure(rows, sections=["lengths"])
    found = notable_documents(task, shape, np.linalg.norm(rows, axis=1), "cosine")
    assert (list(found.hubs), list(found.never), found.scorer) == ([], [], "")
    assert found.longest[0].id == str(int(np.linalg.norm(rows, axis=1).argmax()))
