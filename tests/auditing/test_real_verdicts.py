"""Vectors whose right verdict is known, compared and measured for real; the checker reads each verdict back."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.comparison.list_source import ListCandidate
from offsphere.data import PairTask, PairVectors
from offsphere.data.ranking_task import ItemList, Judgment
from offsphere.data.scored_lists import ScoredLists
from offsphere.wording.claims_in_words import WORDS
from offsphere.wording.deployed_words import DEPLOYED_WORDS
from tests.auditing.cases import PlantedCase
from tests.auditing.checker import complaints_of

# a matter of luck: planted numbers alone bring them
RARE = {"row better, choice unsure", "higher row", "lengths hold a part"}


class Backwards:
    """Another system: it finds the last documents first."""

    def candidates(self, asked):
        documents = np.tile(np.arange(100, dtype=np.int64), (asked.task.units, 1))
        lists = ScoredLists.ranked(documents, documents.astype(float))
        return [ListCandidate("backwards", "take the last first", [lists])]


def ranked(lengths, *, by_length=False, queries=60, documents=300, texts=None, seed=0, blur=0.05, dimension=8):
    """Documents in random directions, of given lengths, which are what makes relevant or not."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(documents, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    asked = directions[rng.choice(documents, queries, replace=False)] + rng.normal(0, 0.15, (queries, dimension))
    wanted = asked @ directions.T / np.linalg.norm(asked, axis=1, keepdims=True)
    relevant = np.argsort(-wanted * (lengths if by_length else 1), axis=1)[:, :3]
    ids = [f"d{d}" for d in range(documents)]
    task = osp.RankingTask.build(
        "planted",
        ItemList([f"q{q}" for q in range(queries)], ["a question"] * queries if texts else None),
        ItemList(ids, texts),
        [Judgment(f"q{q}", ids[d], 1.0) for q, row in enumerate(relevant) for d in row],
    )
    seen = directions + rng.normal(0, blur, directions.shape)
    seen *= (lengths / np.linalg.norm(seen, axis=1))[:, None]
    return task, osp.RankingVectors.of(task, asked.astype(np.float32), seen.astype(np.float32))


def spread(seed=1, documents=300):
    return np.exp(np.random.default_rng(seed).normal(0, 0.6, documents))


def alike(gold=None, seed=0, scale=0.8):
    """Pairs that are the nearer the higher their gold score; lengths are noise."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0, 5, 200)
    left = rng.normal(size=(200, 8))
    right = left * scores[:, None] / 5 + rng.normal(size=left.shape) * (5 - scores[:, None]) / 5
    factors = np.exp(rng.normal(0, scale, (2, 200, 1)))
    task = PairTask("alike", gold(scores) if gold else scores)
    return task, PairVectors.of(task, (left * factors[0]).astype(np.float32), (right * factors[1]).astype(np.float32))


def told(task, vectors, scorers=("dot",), **more):
    """A case from real vectors, with nothing that the checker objects to."""
    table = osp.compare(task, vectors, list(scorers), permutations=2_000, **more)
    shape = osp.measure(task, vectors, table=table)
    case = PlantedCase(table, shape, table.task["kind"] == "pairs")
    assert complaints_of(case) == []
    return case


def known_items(folder, count=80):
    """A corpus without judgments: each title asks for its text."""
    words = np.array(
        [
            "alpha",
            "beta",
            "gamma",
            "delta",
            "epsilon",
            "zeta",
            "eta",
            "theta",
            "iota",
            "kappa",
            "lambda",
            "mu",
            "nu",
            "xi",
            "rho",
            "sigma",
        ]
    )
    rng = np.random.default_rng(0)
    lines = []
    for number in range(count):
        title = " ".join(rng.choice(words, 4)) + f" t{number}"
        lines.append(json.dumps({"_id": f"d{number}", "title": title, "text": " ".join(rng.choice(words, 60))}))
    folder.mkdir()
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    task = osp.load_task(folder)
    count = len(task.document_ids)
    directions = rng.normal(size=(count, 8)) * np.exp(rng.normal(0, 0.4, (count, 1)))
    queries = directions[: task.units] + rng.normal(0, 0.5, (task.units, 8))
    return task, osp.RankingVectors.of(task, queries.astype(np.float32), directions.astype(np.float32))


def with_texts(power, slope, *, also=0.0, seed=0, count=1_500):
    """Texts whose length makes vectors longer (or shorter) and is more often relevant; ``also`` comes on top."""
    rng = np.random.default_rng(seed)
    characters = rng.lognormal(5, 0.6, count).astype(int) + 20
    weights = characters.astype(float) ** power
    relevant = rng.choice(count, 60, replace=False, p=weights / weights.sum())
    lengths = 14 + slope * np.log(characters) + rng.normal(0, 0.3, count)
    lengths[relevant] += also
    directions = rng.normal(size=(count, 8))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    ids = [f"d{d}" for d in range(count)]
    task = osp.RankingTask.build(
        "texts",
        ItemList([f"q{q}" for q in range(60)], ["a question"] * 60),
        ItemList(ids, ["x" * int(size) for size in characters]),
        [Judgment(f"q{q}", ids[d], 1.0) for q, d in enumerate(relevant)],
    )
    asked = directions[relevant] + rng.normal(0, 0.3, (60, 8))
    rows = directions * lengths[:, None]
    return task, osp.RankingVectors.of(task, asked.astype(np.float32), rows.astype(np.float32))


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Every case once, by name."""
    rng = np.random.default_rng(3)
    lengths = spread()
    relevance, noise = ranked(lengths, by_length=True), ranked(spread(2))
    few = relevance[0].only(np.arange(3))
    crowded = _with_hubs(*ranked(1 + 0.2 * rng.random(300), seed=5))
    rogue = osp.RankingVectors(noise[1].queries.copy(), noise[1].documents.copy())
    rogue.documents[:, 2] += 9
    return {
        "relevance": told(*relevance),
        "relevance, row": told(*relevance, ["norm-mix(0.5)"], metric="pooled-ap@100"),
        "relevance, planned": told(*relevance, metric="pooled-ap@100"),
        "relevance, too small to matter": told(*relevance, worth=0.9),
        "stored, safe": told(*relevance, stored=["int8,float16"], worth=0.2),
        "stored, not safe": told(*noise, stored=["binary"]),
        "another system": told(*noise, lists=[Backwards()]),
        "noise": told(*noise, declared="cosine"),
        "noise, declared": told(*noise, declared="dot"),
        "noise, collapsed": told(*ranked(np.exp(rng.normal(0, 3, 300))), declared="dot"),
        "length alone": told(*ranked(np.exp(rng.normal(0, 2, 300)), by_length=True, seed=4)),
        "cosine by a hair": told(*ranked(_nearly_equal(9), queries=12, blur=0.4, seed=9), worth=0.00001),
        "nothing but cosine": told(*noise, ["document-normalized"]),
        "unsure": told(*ranked(_nearly_equal(8), queries=12, blur=0.4, seed=8), worth=0.00001),
        "normalised": told(*ranked(np.ones(300))),
        "pairs": told(*alike()),
        "pairs, turned round": told(*alike(gold=lambda scores: -scores)),
        "three queries": told(few, osp.RankingVectors.of(few, relevance[1].queries[:3], relevance[1].documents)),
        "text length in disguise": told(*with_texts(2, 1.5)),
        "a sign that turns": told(*with_texts(2, -1.5, also=0.35)),
        "known items": told(*known_items(tmp_path_factory.mktemp("corpus") / "docs")),
        "rogue": told(noise[0], rogue),
        "hubs": told(*crowded, [osp.csls(osp.Scorer(), crowded[1].documents, crowded[1].queries)]),
    }


def _nearly_equal(seed):
    return np.exp(np.random.default_rng(seed).normal(0, 0.1, 300))


def _with_hubs(task, vectors):
    """What all queries have in common, five documents have nothing but: they are near to each of them."""
    rng = np.random.default_rng(0)
    queries, documents = vectors.queries.copy(), vectors.documents.copy()
    queries[:, 0] += 1.5
    documents[:5] = np.eye(documents.shape[1])[0] + rng.normal(0, 0.05, (5, documents.shape[1]))
    return task, osp.RankingVectors(queries, documents)


def claims(case):
    return {finding.claim for finding in [*case.advice.findings, *case.table.findings]}


def test_where_length_is_relevance_the_dot_product_is_recommended(cases):
    advice = cases["relevance"].advice
    assert advice.name == "dot"
    assert advice.verdict[0].startswith(
        "Use the dot product instead of cosine: set the index to dot product (inner product)"
    )
    assert advice.verdict[1].startswith("Vector length helps: ")
    assert "Relevant documents have longer vectors (d = " in advice.verdict[1]
    assert advice.verdict[2].endswith("here it does.")
    assert "keep the document's vector length: it helps already" in advice.about("training")[0].sentence


def test_a_gain_that_is_less_than_what_matters_is_said_to_be(cases):
    advice = cases["relevance, too small to matter"].advice
    assert advice.name == "cosine"
    assert "less than the smallest gain that matters, 0.9." in advice.verdict[0]


def test_where_length_is_noise_cosine_is_kept_and_the_declared_dot_product_is_stopped(cases):
    assert cases["noise"].advice.verdict[0].startswith("Keep cosine: ")
    assert cases["noise"].advice.verdict[1].startswith("Vector length hurts: ")
    assert "made for cosine" in claims(cases["noise"])
    assert cases["noise, declared"].advice.verdict[0].startswith("Stop using the dot product that this model declares")
    assert "dot collapses" in claims(cases["noise, collapsed"])


def test_normalised_vectors_keep_cosine_and_length_cannot_be_told(cases):
    advice = cases["normalised"].advice
    assert advice.verdict[0].startswith("Keep cosine: set the index to cosine or to dot product (inner product). All ")
    assert advice.verdict[1].startswith("What vector length is worth cannot be told")


def test_text_length_is_unmasked_and_a_turned_sign_is_told(cases):
    assert "longer vectors only because of their text length" in cases["text length in disguise"].advice.verdict[1]
    assert (
        "longer vectors by one comparison and shorter ones by another" in cases["a sign that turns"].advice.verdict[1]
    )


def test_a_corpus_without_judgments_says_nothing_of_relevance(cases):
    case = cases["known items"]
    assert case.shape.relevance.made
    assert "the judgments were made" in case.advice.verdict[1]
    assert "Relevant documents have" not in case.advice.verdict[1]
    assert "queries (judged by a program, not by people)" in case.advice.verdict[0]


def test_three_queries_tell_nothing(cases):
    advice = cases["three queries"].advice
    assert advice.verdict[0].startswith("Keep cosine: set the index to cosine. Nothing can be told: 3 queries are")
    assert advice.verdict[2].endswith("3 queries are too few to tell.")


def test_pairs_are_expected_to_be_hurt_and_turned_ones_lead_to_no_choice(cases):
    assert cases["pairs"].advice.verdict[2].endswith("vector length is expected to hurt; here it does.")
    assert cases["pairs, turned round"].advice.verdict[0].startswith("Do not choose by this task")


def test_every_claim_is_made_of_real_vectors_too(cases):
    made = {claim for case in cases.values() for claim in claims(case)}
    assert WORDS.keys() - made - DEPLOYED_WORDS.keys() <= RARE  # those need a collection: test_collection_source.py


def test_a_verdict_of_real_vectors_is_objected_to_where_its_numbers_change(cases):
    case = cases["relevance"]
    advice = case.advice
    procedure = case.table.procedure
    turned = replace(case.table, procedure=replace(procedure, gain=-procedure.gain))
    assert complaints_of(replace(case, table=turned), advice)
