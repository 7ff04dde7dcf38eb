"""What commands print can be read in a window: sentences in 80 columns, tables in 100, commands in one line."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from offsphere.cli.tables.ablation_table import print_ablation
from offsphere.cli.tables.layer_tables import print_changes
from offsphere.cli.tables.outcome_table import outcome_table
from offsphere.geometry.change import SelfSimilarityChange
from offsphere.learning.ablation.ablation import PaperFinding, VariantResult, VariantRow
from tests.auditing.study.test_run_study import pairs_file
from tests.cli.running import printed
from tests.cli.tables.test_ablation_table import ablation_of
from tests.learning.encoders.painted import painted
from tests.tiny_vision import save_clip

SENTENCE, TABLE = 80, 100
LONG = "a-name-of-a-folder-that-says-what-is-in-it-at-length"
CODE = "    "  # before each line of code that somebody copies
COPIED = re.compile(r"(`[^`]*`|\S+)[.;]?")  # a command, or a path: it stands in one line, however long


def too_wide(told):
    """Lines of sentences, which have no two blanks in a row, and lines of tables, which have, that are too wide."""
    return [
        line
        for line in told.splitlines()
        if len(line) > (TABLE if "  " in line.strip() else SENTENCE)
        and not line.startswith(CODE)
        and not COPIED.fullmatch(line.strip())
    ]


def test_lines_that_are_too_wide_are_seen():
    sentence, table = "word " * 16 + "more", "1.0  " * 21
    assert too_wide(f"{sentence}\nshort\n{table}\n") == [sentence, table]
    assert too_wide(f"{sentence[:80]}\n{table[:100]}\n    {sentence}\n`{sentence}`\n  {'x' * 90}\n") == []


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


def test_a_threshold_fits_a_window(generated, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scorers = [part for name in ("cosine", "dot", "whiten(0.5) + polar(1, 0.5)") for part in ("--scorer", name)]
    told = printed("threshold", generated, "--recall", 0.3, *scorers, "--save", f"{LONG}/{LONG}")
    assert "The scorer and its threshold are in" in told
    assert too_wide(told) == []


def test_an_export_and_its_race_fit_a_window(generated, tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.chdir(tmp_path)
    asked = ("--vectors", generated, "--to", f"faiss:{LONG}.faiss", "--out", f"{LONG}/{LONG}", "--tune")
    told = printed("export", "whiten(0.5) + polar(1, 0.5)", *asked)
    assert "strategy" in told
    assert "verification.json and query.py" in told
    assert too_wide(told) == []


def test_an_adapter_tells_of_its_training_in_a_window(generated, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    told = printed("adapt", generated, "--out", f"{LONG}/{LONG}", "--epochs", 2, "--seeds", 2, "--vrns", 30)
    for words in ("learned from", "seeds: ", "The adapter is in"):
        assert words in told
    assert too_wide(told) == []


def test_classes_that_are_told_fit_a_window(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    images, _ = painted(24)
    for number, image in enumerate(images):
        folder = tmp_path / LONG / f"class-{number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        image.picture().save(folder / f"{number}.png")
    told = printed("classify", LONG, "--model", save_clip(tmp_path / "clip"), "--out", "v", "--neighbours", 3)
    assert "judged by" in told
    assert too_wide(told) == []


def test_a_study_of_long_names_fits_a_window(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tasks = [pairs_file(tmp_path, f"{LONG}-{number}", seed=number) for number in range(2)]
    told = printed("study", *tasks, "nowhere.csv", "--model", "wordllama", "--out", LONG)
    for words in ("what scorers are worth", "Together:", "Could not be audited:", "The page is"):
        assert words in told
    assert too_wide(told) == []
