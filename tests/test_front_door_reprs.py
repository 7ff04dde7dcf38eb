"""What a prompt shows: no public thing, however large, is longer than a screen."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp

MOST_CHARACTERS, MOST_LINES = 2_000, 25
rng = np.random.default_rng(0)


def rows(count, width=30, seed=0):
    return np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)


@pytest.fixture(scope="module")
def ranking():
    names = [f"document {row} with a long name" for row in range(900)]
    judged = {f"query {row}": {names[row]: 1} for row in range(33)}
    texts = [f"{name} " * 50 for name in names]
    task = osp.RankingTask.from_judgments(judged, names, "a task with a name")
    documents = rows(900) * rng.lognormal(0, 0.5, (900, 1)).astype(np.float32)
    return task, osp.RankingVectors.of(task, documents[:33] + rows(33, seed=1), documents), texts


def big_things(ranking, folder):
    from offsphere.data.vector_files import read_vectors
    from offsphere.scoring.training_record import Run
    from offsphere.scoring.transforms.adapter_map import SideAdapter

    task, vectors, texts = ranking
    table = osp.compare(task, vectors)
    shape = osp.measure(task, vectors)
    moments = osp.Moments.of(vectors.documents)
    pairs = osp.PairTask("pairs", np.arange(900.0), texts, texts)
    biased = osp.nnn(osp.Scorer(), vectors.documents, vectors.queries, ids=task.document_ids)
    white = osp.parse_scorer("whiten(0.5) + cosine").fit(moments)
    run = Run(0, 0.5, 0.6, 40, 9000, 1.5, [(step, 0.9, 0.5) for step in range(900)], "all steps done")
    record = osp.Training({"loss": "infonce"}, {}, "ndcg@10", {"pairs": 9}, [run] * 9, 0, [{"step": 1}] * 900)
    adapter = osp.Adapter(SideAdapter(np.eye(30)), SideAdapter(np.eye(30)), record=record)
    encoder = osp.load_encoder("wordllama")
    learned = osp.learn((task, vectors), None, [osp.Recipe(epochs=1, batch=8)])
    variants = [osp.Variant(f"variant {number}", osp.Recipe(epochs=1, batch=8), [(0.05, 0.01)]) for number in (1, 2)]
    ablation = osp.ablate((task, vectors), variants=variants, seeds=1)
    interactions = osp.simulate(300, 40, most_items=20)
    factors = osp.factorize(interactions.interactions, 8)
    held_out = osp.hold_out(interactions.interactions)
    np.save(folder / "rows.npy", vectors.documents)
    (folder / "rows.ids").write_text("\n".join(task.document_ids))
    osp.embed(osp.PairTask("words", np.arange(900.0), texts, texts), encoder, folder / "store")
    return [
        *(task, vectors, pairs, pairs.vectors(rows(900), rows(900)), task.judgments),
        *(table, *table.rows, table.task, table.rows[0].scorer, shape, *shape.parts.values()),
        *(moments, biased, biased.bias, biased.bias.bank, biased.lower(), biased.upkeep, white, white.map),
        osp.standardize_queries(white, vectors.documents).standardization,
        *(osp.Linear(np.eye(30)), adapter, adapter.transform, adapter.query, record, run),
        *osp.search(vectors.queries, vectors.documents, [white], 30),
        *(osp.advise(table, shape), osp.audit(task, vectors, cache=False), learned, ablation, *ablation.rows),
        *(
            *variants,
            *osp.sweep(osp.Recipe(), "temperature"),
            osp.Recipe(),
            osp.EncoderRecipe(),
            osp.recipe_with("clip"),
        ),
        *(interactions, factors, held_out, osp.recommend(factors, held_out), osp.stability(factors)),
        *(encoder, encoder.description, osp.open_store(folder / "store" / "left"), read_vectors(folder / "rows.npy")),
        osp.open_store(folder / "store" / "left").manifest,
        osp.EmbeddedSource(str(folder), "wordllama"),
    ]


def test_no_repr_is_longer_than_a_screen(ranking, tmp_path):
    pytest.importorskip("torch")
    long = {}
    for thing in big_things(ranking, tmp_path):
        text = repr(thing)
        if len(text) > MOST_CHARACTERS or len(text.splitlines()) > MOST_LINES:
            long[type(thing).__name__] = (len(text), len(text.splitlines()))
    assert long == {}


def test_printing_a_table_prints_the_table(ranking):
    task, vectors, _ = ranking
    table = osp.compare(task, vectors)
    lines = str(table).splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0].split()[:2] == ["scorer", table.metric]
    assert lines[1].startswith(table.rows[0].label[:40])
    assert f"{table.rows[0].value:.4f}" in lines[1]
    shown = [line.split()[0] for line in lines if line]
    assert "cosine" in shown
    assert "dot" in shown
    assert " ".join(table.conclusion.split()) in " ".join(" ".join(lines).split())
    assert repr(table).count("\n") == 0


def test_printing_a_scorer_prints_its_name():
    scorer = osp.parse_scorer("whiten(0.5) + polar(1, 0.75)")
    assert str(scorer) == scorer.name == "whiten(0.5) + polar(1, 0.75)"
