"""The tutorial, which runs, and the strings that stand for scorers in it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scripts.run_notebook import outputs_of

import offsphere as osp
from offsphere.base.errors import UnknownNameError
from tests.processes import ROOT


def test_scorers_are_strings_wherever_one_is_taken():
    rng = np.random.default_rng(0)
    queries, documents = (rng.normal(1, 1, (rows, 5)).astype(np.float32) for rows in (7, 60))
    moments = osp.Moments.of(documents)
    fitted = osp.parse_scorer("whiten(0.5) + cosine").fit(moments)
    assert osp.parse_scorer("whiten(0.5) + cosine").fit(documents).key == fitted.key
    (named,) = osp.search(queries, documents, "whiten(0.5) + cosine", 5)
    (given,) = osp.search(queries, documents, [fitted], 5)
    assert (named.documents == given.documents).all()
    assert (named.scores == given.scores).all()
    both = osp.search(queries, documents, ["dot", fitted], 5)
    assert (both[1].documents == given.documents).all()
    assert osp.nnn("cosine", documents, queries).key == osp.nnn(osp.Scorer(), documents, queries).key
    assert osp.csls("cosine", documents, queries).name == "cosine + csls"
    assert osp.standardize_queries("dot", documents).name == "dot + z-score"
    with pytest.raises(UnknownNameError, match="did you mean cosine"):
        osp.search(queries, documents, "cosin")


def test_the_tutorial_runs_and_prints_what_it_shows():
    notebook = json.loads((ROOT / "docs" / "tutorial.ipynb").read_text("utf-8"))
    assert notebook["nbformat"] == 4
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    for cell, outputs in zip(cells, outputs_of(notebook), strict=True):
        assert [_text(output) for output in cell["outputs"]] == [_text(output) for output in outputs]


def _text(output):
    """What an output says as plain text; charts and tables have a plain form too."""
    return "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])
