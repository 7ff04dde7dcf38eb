"""Dynamics of a training loop of one's own, as tables and as figures, against whoever else reads and measures them."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
import torch
from pandas.testing import assert_frame_equal

import offsphere as osp
from offsphere.base.errors import ParameterError, UnknownNameError
from tests.learning.encoders.trainings import load

TEXTS = ["red cat sleeps", "blue dog runs", "old tree grows", "new city waits"]


@pytest.fixture(scope="module")
def looped(words, transformer_folder):
    """A loop in plain torch, with a loss of its own: a model that ends in nothing of ours."""
    model = load(transformer_folder)
    probe = osp.TextProbe.of(words)
    dynamics = osp.Dynamics(probe, every=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    measured = [dynamics.step(model, 0)]
    for step in range(1, 6):
        vectors = [model(model.preprocess(TEXTS))["sentence_embedding"] for _ in range(2)]
        units = [torch.nn.functional.normalize(side, dim=-1) for side in vectors]
        loss = torch.nn.functional.cross_entropy(20 * units[0] @ units[1].T, torch.arange(len(TEXTS)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        measured.append(dynamics.step(model, step, last=step == 5))
    return model, probe, dynamics, measured


def test_a_plain_loop_is_measured_at_both_ends_and_every_few_steps(looped):
    model, probe, dynamics, measured = looped
    assert measured == [True, False, True, False, True, True]
    assert [row["step"] for row in dynamics.rows] == [0, 2, 4, 5]
    assert model.training
    assert not dynamics.step(model, 5)  # it was measured already
    lengths = np.linalg.norm(model.encode(list(probe.documents)), axis=1)
    assert dynamics.rows[-1]["document_length"] == pytest.approx(lengths.mean(), rel=1e-4)
    assert dynamics.rows[0]["token_anisotropy"] != dynamics.rows[-1]["token_anisotropy"]
    assert "scale" not in dynamics.rows[0]  # there is no loss of ours to have one


def test_measuring_changes_nothing_about_the_training(words, dropout_folder):
    """The draws of dropout go on as if nobody had looked."""
    outputs = []
    for looks in (False, True):
        model = load(dropout_folder)
        model.train()
        torch.manual_seed(3)
        if looks:
            osp.Dynamics(osp.TextProbe.of(words)).step(model, 0)
        outputs.append(model(model.preprocess(TEXTS))["sentence_embedding"].detach())
    assert torch.equal(*outputs)


def test_lengths_are_measured_before_a_normalisation_that_belongs_to_no_loss(words, tmp_path):
    from sentence_transformers.base.modules import Normalize

    from tests.learning.encoders.conftest import save_transformer

    model = load(save_transformer(tmp_path, normalize=True))
    probe = osp.TextProbe.of(words)
    dynamics = osp.Dynamics(probe)
    dynamics.step(model, 0)
    assert np.allclose(np.linalg.norm(model.encode(TEXTS), axis=1), 1, atol=1e-5)  # the stage does what it is for
    assert isinstance(model[-1], Normalize)
    del model[-1]
    raw = np.linalg.norm(model.encode(list(probe.queries)), axis=1)
    assert dynamics.rows[0]["query_length"] == pytest.approx(raw.mean(), rel=1e-4)
    assert raw.mean() > 1.5


def test_tables_are_what_pandas_reads(looped):
    dynamics = looped[2]
    table = dynamics.to_pandas()
    assert_frame_equal(pd.DataFrame(dynamics.rows), table)
    assert_frame_equal(pd.read_csv(io.StringIO(dynamics.to_csv())), table.astype({"layer": float}), check_dtype=False)
    latex = dynamics.to_latex(["document_length", "alignment"])
    lines = latex.splitlines()
    assert lines[0] == r"\begin{tabular}{rrr}"
    assert lines[2] == r"step & document\_length & alignment \\"
    read = [float(cell) for cell in lines[4].removesuffix(r" \\").split(" & ")]
    assert read == pytest.approx(table.iloc[0][["step", "document_length", "alignment"]].tolist(), rel=1e-3)
    assert len(lines) == len(table) + 6


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("png", b"\x89PNG\r\n\x1a\n"), ("pdf", b"%PDF-")])
def test_every_quantity_has_a_figure_in_every_format(looped, kind, start, tmp_path):
    paths = osp.save_figures(looped[2], tmp_path / "figures", [kind])
    assert {"cosines", "track-lengths", "anisotropy", "tokens", "token-lengths"} <= {path.stem for path in paths}
    for path in paths:
        assert path.suffix == f".{kind}"
        assert path.read_bytes().startswith(start)
        assert b"@accent" not in path.read_bytes()


def test_what_cannot_be_drawn_is_said(looped, tmp_path):
    with pytest.raises(UnknownNameError, match="svg, png, pdf"):
        osp.save_figures(looped[2], tmp_path, ["gif"])
    with pytest.raises(ParameterError, match="nothing to draw"):
        osp.save_figures(osp.Dynamics(looped[1]), tmp_path)
