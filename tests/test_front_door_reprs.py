"""What a prompt shows: no public thing, however large, is longer than a screen."""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys

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
    run = Run(
        0,
        0.5,
        0.6,
        best_step=40,
        steps=9000,
        seconds=1.5,
        history=[(step, 0.9, 0.5) for step in range(900)],
        stopped="all steps done",
    )
    record = osp.Training(
        {"loss": "infonce"}, {}, "ndcg@10", {"pairs": 9}, runs=[run] * 9, chosen=0, dynamics=[{"step": 1}] * 900
    )
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


def _sized(cls):
    """Names of fields that may hold as much as there is data."""
    known = r"\b(Array|Rows|Index|Vectors|NDArray|Sequence|Mapping|list|dict)\b"
    fields = {name: str(kind) for base in cls.__mro__ for name, kind in vars(base).get("__annotations__", {}).items()}
    return [name for name, kind in fields.items() if re.search(known, kind) and not kind.startswith("ClassVar")]


def _writes_itself(cls):
    """Whether what a prompt shows was thought of, and is not every field in full."""
    code = getattr(inspect.unwrap(cls.__repr__), "__code__", None)
    return code is None or not (code.co_filename == "<string>" or code.co_filename.endswith("collections/__init__.py"))


def _reachable():
    """Every class of the package that one may be given: public, returned, or held by such a one."""
    todo = [getattr(osp, name) for name in dir(osp) if not name.startswith("_")]
    modules = [module for name, module in sys.modules.items() if name.startswith("offsphere.")]
    named = {name: thing for module in modules for name, thing in vars(module).items() if inspect.isclass(thing)}
    met = set()
    while todo:
        thing = todo.pop()
        told = [thing.__annotations__.get("return", "")] if inspect.isfunction(thing) else []
        if inspect.isclass(thing) and thing.__module__.startswith("offsphere") and thing not in met:
            met.add(thing)
            bases = [base for base in thing.__mro__ if base.__module__.startswith("offsphere")]
            parts = [part for base in bases for part in vars(base).items()]
            told += [part.fget.__annotations__.get("return", "") for _, part in parts if isinstance(part, property)]
            told += [kind for name, part in parts if name == "__annotations__" for kind in part.values()]
        todo += [named[word] for text in told for word in re.findall(r"\w+", str(text)) if word in named]
    return met


def test_what_holds_data_never_shows_it_field_by_field():
    pytest.importorskip("torch")
    held = [cls for cls in _reachable() if dataclasses.is_dataclass(cls) or hasattr(cls, "_fields")]
    assert len(held) > 100
    assert not {cls.__name__: _sized(cls) for cls in held if _sized(cls) and not _writes_itself(cls)}


def test_studies_of_many_cells_are_no_longer_than_a_screen():
    from offsphere.auditing.study.meta_analysis import meta_analysis
    from offsphere.auditing.study.run_study import Study
    from offsphere.geometry.change import SelfSimilarityChange
    from tests.auditing.study.test_meta_analysis import row

    cells = [row(f"task {number}", 0.01 * number) for number in range(40)]
    made = Study(cells, meta_analysis(cells), {f"cell {number}": "a reason that is not short" for number in range(40)})
    tokens = [f"token {number}" for number in range(900)]
    most = [(token, 0.5) for token in tokens[:10]]
    numbers = {"mean": 0.1, "at_least": 9, "frequent": 40, "frequent_mean": 0.1, "shared": 0.9}
    change = SelfSimilarityChange(
        model="m", base="b", tokens=tokens, values=np.zeros(900), risen=most, fallen=most, **numbers
    )
    for thing in (made, made.meta, *cells, change):
        assert len(repr(thing)) <= MOST_CHARACTERS
        assert len(repr(thing).splitlines()) <= MOST_LINES
