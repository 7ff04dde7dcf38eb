"""From the papers' own kinds of start: a transformer never trained contrastively, and one behind a normalisation.

The models are built from packages by a tool beside the data; set OFFSPHERE_TEST_MODELS to a folder where they are
built already.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import offsphere as osp
from tests.conftest import DATA
from tests.learning.encoders.trainings import load

TOOL = DATA.parent / "tools" / "real_models.py"
MINUTES = 15


@pytest.fixture(scope="session")
def real_model(tmp_path_factory):
    """What builds a model by its name; skipped where it cannot be."""
    folder = Path(os.environ.get("OFFSPHERE_TEST_MODELS") or tmp_path_factory.mktemp("models"))

    def build(name):
        if not (folder / name / "modules.json").is_file():
            if not TOOL.is_file():
                pytest.skip(f"{TOOL} is not here")
            command = [sys.executable, str(TOOL), name, str(folder / name)]
            result = subprocess.run(command, capture_output=True, text=True, timeout=60 * MINUTES, check=False)
            if result.returncode:
                pytest.skip(f"{name} cannot be built: {(result.stderr.strip() or 'no reason').splitlines()[-1]}")
        return folder / name

    return build


@pytest.fixture(scope="session")
def sts():
    path = DATA / "stsb"
    if not path.is_dir():
        pytest.skip(f"{path} is not here")
    return osp.load_task(path)


def correlation(model, task):
    left, right = (model.encode_query(list(side.items), normalize_embeddings=True) for side in task.sides)
    return spearmanr(task.gold, (left * right).sum(axis=1)).statistic, left


@pytest.mark.slow
def test_contrast_opens_a_model_that_never_saw_any(real_model, sts):
    """The start is as its maker measured it; a few steps on NLI widen the cone of its tokens, as Xiao et al. find."""
    folder = real_model("distilbert")
    start, units = correlation(load(folder), sts)
    count = len(units)
    assert start == pytest.approx(0.2250, abs=0.002)
    assert (np.square(units.sum(axis=0)).sum() - count) / (count * (count - 1)) == pytest.approx(0.95, abs=0.01)
    pairs = osp.load_task(DATA / "nli" / "triplets.jsonl")
    trained = osp.train(
        pairs, str(folder), held_out=osp.load_task(DATA / "stsb", "dev"), steps=40, batch=16, max_tokens=32, rate=5e-5
    )
    rows = trained.record.dynamics
    assert rows[-1]["token_anisotropy"] < rows[0]["token_anisotropy"] - 0.1
    assert rows[-1]["token_intra_adjusted"] > rows[0]["token_intra_adjusted"]
    assert trained.record.run.best > trained.record.run.start + 0.1


@pytest.mark.slow
def test_a_model_behind_a_normalisation_has_lengths_of_little_variation(real_model, sts):
    """E5: its correlation is the published one, and its raw lengths hardly vary, as the note on it says."""
    model = load(real_model("e5-small"))
    value, _ = correlation(model, sts)
    assert value == pytest.approx(0.8636, abs=0.001)
    assert osp.prepare(model, "none").removed == ["Normalize (stage 2)"]
    lengths = np.linalg.norm(model.encode_query(list(sts.sides[0].items)), axis=1)
    assert lengths.std() / lengths.mean() == pytest.approx(0.023, abs=0.005)


def test_every_layer_is_followed_beside_the_whole(words, transformer_folder, tmp_path):
    """Of a kept run as of a new one: three layers a measurement, whose last is what the whole says of tokens."""
    variants = osp.encoder_sweep(osp.EncoderRecipe(steps=2, batch=16, dynamics_every=1), "temperature", ["0.1"])
    for _ in range(2):  # the second time from what is kept
        ablation = osp.ablate_encoder(words, str(transformer_folder), variants=variants, layers=True, keep=tmp_path)
        whole = [row for row in ablation.dynamics if row["layer"] is None]
        layers = [row for row in ablation.dynamics if row["layer"] == 2]
        assert [row["step"] for row in whole] == [row["step"] for row in layers] == [0, 1, 2]
        assert {row["layer"] for row in ablation.dynamics} == {None, 0, 1, 2}
        for row, last in zip(whole, layers, strict=True):
            assert row["token_anisotropy"] == last["token_anisotropy"]
            assert "document_length" not in last
        assert ablation.rows[0].negative_variance == whole[-1]["negative_variance"]


def test_a_model_behind_a_normalisation_is_known_as_one(words, tmp_path):
    """The small sibling: of such a start the papers claim that the dot product loses."""
    from tests.learning.encoders.conftest import save_transformer

    folder = save_transformer(tmp_path, normalize=True)
    recipe = osp.EncoderRecipe(steps=2, batch=16)
    ablation = osp.ablate_encoder(words, str(folder), recipe=recipe, names=["cosine", "dot"], budget=[(0.05, 1e-4)])
    claims = [finding.claim for finding in ablation.findings]
    assert "an encoder that was trained behind a normalisation loses under the dot product" in claims
    assert "the plain dot product is above cosine too" not in claims
