from __future__ import annotations

import sys

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import UnknownNameError
from offsphere.statistics.metrics import parse_metric
from tests.processes import run_command


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Dot", "dot"),
        ("COSINE", "cosine"),
        ("Query_Normalized", "query-normalized"),
        ("Whiten(0.5) + Cosine", "whiten(0.5) + cosine"),
        ("norm mix(0.9)", "norm-mix(0.9)"),
        ("Drop_Top(2) + Polar(1, 0.5)", "drop-top(2) + polar(1, 0.5)"),
    ],
)
def test_case_and_dashes_of_a_scorer_do_not_count(typed, name):
    assert osp.parse_scorer(typed).name == name
    assert osp.parse_scorer(typed).key == osp.parse_scorer(name).key


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("l2", "euclidean"),
        ("L2", "euclidean"),
        ("euclid", "euclidean"),
        ("ip", "dot"),
        ("inner product", "dot"),
        ("dot_product", "dot"),
        ("cos", "cosine"),
        ("whitening + dot", "whiten"),
        ("centre + dot", "center"),
        ("abtt + dot", "drop-top"),
    ],
)
def test_what_others_call_a_scorer_is_suggested(typed, meant):
    with pytest.raises(UnknownNameError, match=rf"did you mean {meant}\?$"):
        osp.parse_scorer(typed)


@pytest.mark.parametrize(
    ("typed", "name"),
    [("NDCG@10", "ndcg@10"), ("map", "map@10"), ("Recall", "recall@10"), ("recall @ 5", "recall@5"), ("MRR", "mrr@10")],
)
def test_case_and_spaces_of_a_metric_do_not_count(typed, name):
    assert parse_metric(typed).name == name


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hit@10", "success@10"),
        ("Hit_Rate@5", "success@5"),
        ("P@20", "precision@20"),
        ("ndcg_cut_10", "ndcg@10"),
        ("recall_100", "recall@100"),
        ("tau", "kendall"),
        ("auc", "pooled-auc@100"),
    ],
)
def test_what_others_call_a_metric_is_suggested(typed, meant):
    with pytest.raises(UnknownNameError, match=rf"did you mean {meant}\?$"):
        parse_metric(typed)
    assert parse_metric(meant).name == meant


def test_losses_normalisations_recipes_and_sections_are_forgiven_too():
    recipe = osp.Recipe(loss="InfoNCE", normalize="Query")
    assert (recipe.loss, recipe.normalize) == ("infonce", "query")
    assert recipe == osp.Recipe(loss="infonce", normalize="query")
    with pytest.raises(UnknownNameError, match="did you mean infonce"):
        osp.Recipe(loss="mnrl")
    with pytest.raises(UnknownNameError, match="did you mean document"):
        osp.Recipe(normalize="docs")
    rows = np.eye(4, dtype=np.float32)
    assert list(osp.measure(rows, sections=["Lengths", "HUBNESS"]).parts) == ["lengths", "hubness"]
    with pytest.raises(UnknownNameError, match="did you mean lengths"):
        osp.measure(rows, sections=["norms"])


def test_recipes_are_forgiven():
    pytest.importorskip("sentence_transformers")
    assert osp.recipe_with("SimCSE") == osp.recipe_with("simcse")
    with pytest.raises(UnknownNameError, match="did you mean simcse"):
        osp.recipe_with("simsce")


def test_a_function_in_the_current_folder_is_found(tmp_path):
    (tmp_path / "mine_alone.py").write_text("def rows(texts):\n    return [[len(text), 1.0] for text in texts]\n")
    table = "score,sentence1,sentence2\n1,a,bb\n2,ccc,d\n3,e,ff\n"
    (tmp_path / "pairs.csv").write_text(table)
    result = run_command("embed", "pairs.csv", "--model", "callable:mine_alone:rows", "--out", "out", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    (left,) = (tmp_path / "out").glob("left*/vectors.npy")
    assert np.load(left).tolist() == [[1, 1], [3, 1], [1, 1]]
    assert "mine_alone" not in sys.modules


def test_stability_of_a_file_alone_tells_every_case(tmp_path):
    np.save(tmp_path / "items.npy", np.random.default_rng(0).normal(size=(60, 4)))
    result = run_command("factorize", "stability", "items.npy", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert [line for line in lines if line.startswith("If the training penalised")] == [
        "If the training penalised the product of the factors:",
        "If the training penalised nothing:",
        "If the training penalised each side's factors (weight decay, ALS):",
    ]
    rows = np.load(tmp_path / "items.npy")
    for penalised in ("product", "nothing", "factors"):
        assert osp.stability(rows, regularized=penalised).verdict in " ".join(result.stdout.split())
