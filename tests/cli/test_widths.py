"""What commands print can be read in a window: sentences in 80 columns, tables in 100, commands in one line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from offsphere.cli.ablation_table import print_ablation
from offsphere.cli.layer_tables import print_changes
from offsphere.cli.outcome_table import outcome_table
from offsphere.geometry.change import SelfSimilarityChange
from offsphere.learning.ablation.ablation import PaperFinding, VariantResult, VariantRow
from tests.cli.running import printed
from tests.cli.test_ablation_table import ablation_of

SENTENCE, TABLE = 80, 100


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    """A window far wider than a line that can be read."""
    monkeypatch.setenv("COLUMNS", "250")


def test_recipes_fit_a_window():
    pytest.importorskip("torch")
    table, told = printed("recipes").split("\n\n", 1)
    assert max(map(len, table.splitlines())) <= TABLE
    assert max(map(len, told.splitlines())) <= SENTENCE
    assert len(table.splitlines()) > 10


def test_what_changed_between_models_fits_a_window(capsys):
    most = [(f"a-token-of-some-length-{number}", 0.1 * number) for number in range(10)]
    change = SelfSimilarityChange(
        model="sentence-transformers/all-MiniLM-L6-v2", base="nreimers/MiniLM-L6-H384-uncased", tokens=["a"] * 900,
        values=np.linspace(-1, 1, 900), mean=0.1, at_least=20, frequent=40, frequent_mean=0.1, risen=most, fallen=most,
        shared=0.5,
    )  # fmt: skip
    print_changes([change, change], None)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 12
    assert max(map(len, lines)) <= SENTENCE


def test_an_ablation_explains_itself_in_lines_that_can_be_read(capsys):
    result = VariantResult(0.76, 0.73, 0.79, 0.0003, 0.0002, -0.001, 0.0015, 0.5)
    rows = [
        VariantRow(name, 0.0125, 0.003, 0.7, [result._replace(p=p)], 1.0, (1.0, 1.0), 0.1, same=["a variant " * 9])
        for name, p in (("cosine", None), ("head + vrns 30", 0.5))
    ]
    claim = PaperFinding(
        "a claim that is made in many words, " * 3, "Somebody et al. 2026", "not decided", "because " * 20
    )
    ablation = replace(ablation_of({"cosine": 0.25}), rows=rows, findings=[claim], notes=["mind this, " * 15])
    print_ablation(ablation)
    below = capsys.readouterr().out.split("cosine without", 1)[1]
    assert "a part of its own" in below
    assert max(map(len, below.splitlines())) <= SENTENCE


def test_the_outcome_of_a_training_says_what_each_column_holds(capsys):
    from rich.console import Console

    from tests.learning.encoders.test_outcome import OUTCOMES

    for outcome in OUTCOMES[:50]:
        Console(width=TABLE).print(outcome_table(outcome))
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= TABLE
    for words in ("scored", "of ndcg@10", "from before", "of difference"):
        assert words in text
    assert "\u2026" not in text


def test_factors_and_their_trust_fit_a_window(tmp_path):
    items = tmp_path / "items.npy"
    np.save(items, np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32))
    for more in ([], ["--regularized", "product"]):
        told = printed("factorize", "stability", items, *more)
        assert max(map(len, told.splitlines())) <= SENTENCE, told
