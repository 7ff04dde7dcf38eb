"""Options that mean nothing are refused before any work, by every command that has them: exit code 2, no traceback."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

from offsphere.base.errors import OffsphereError
from offsphere.cli import app

HUGE = str(10**40)
NO_NUMBERS = ("nan", "inf", "-inf", "1e400")
NO_COUNTS = ("-1", HUGE, "2.5", "nan")
SEEDS = [("--seed", value) for value in ("-1", HUGE, "nan", str(2**64))]


def options(names, values):
    return [(name, value) for name in names for value in values]


LEARNING = [
    *options(["--temperature", "--rate"], [*NO_NUMBERS, "0", "-1"]),
    *options(["--batch", "--epochs", "--hard-negatives", "--seeds"], NO_COUNTS),
    *options(["--set"], ["", "=", "batch", "batch=", "nothing=1", "margin=nan", "rate=inf", "batch=1e30", "\ud800=1"]),
    ("--metric", "ndcg@-1"),
    ("--metric", f"ndcg@{HUGE}"),
    *SEEDS,
]
NORMALIZING = options(["--normalize", "--normalize-input"], ["1e9,1", "nan,1", "1,inf", "1", "1,2,3", ""])
ADAPTING = [*LEARNING, *NORMALIZING, *options(["--margin", "--vrns"], NO_NUMBERS), *options(["--rank"], NO_COUNTS)]
TRAINING = [*LEARNING[: -len(SEEDS)], *SEEDS, *NORMALIZING, *options(["--steps", "--max-tokens"], NO_COUNTS)]
TRAINING = [typed for typed in TRAINING if typed[0] != "--seeds"]
COMPARING = [*options(["--folds"], ["-1", "0", "1", HUGE, "nan"]), *SEEDS, ("--metric", "ndcg@0")]
SCORERS = options(
    ["--scorer"], ["polar(nan, 1)", "polar(inf, 1)", "whiten(nan) + cosine", "polar(1e400, 0)", "norm-mix(nan)"]
)
MEASURING = [*options(["--training-size"], ["1", "-5", HUGE, "nan"]), *SEEDS]
SWEEPING = [("--over", "temperature", "--values", values) for values in ("nan", "0.1,0.1", "", "a", "inf,1", "0.1,")]
SWEEPING += [("--over", "batch", "--values", "2.5"), ("--over", "batch", "--values", "-4"), ("--over", "nothing")]
FACTORIZING = [
    *options(["--lambda", "--power"], [*NO_NUMBERS, "-1"]),
    *options(["--rank"], [*NO_COUNTS, "0", "100000"]),
    ("--objective", "3"),
    ("--metric", "spearman"),
    *SEEDS,
]
STABILITY = [*options(["--neighbours", "--draws"], [*NO_COUNTS, "0"]), *SEEDS]
SIMULATION = [*options(["--users", "--items", "--clusters"], [*NO_COUNTS, "0"]), *SEEDS]
TYPED = [
    *((("adapt", "{data}"), typed) for typed in ADAPTING),
    *((("ablate", "{data}"), typed) for typed in LEARNING),
    *((("train", "{data}", "--model", "wordllama"), typed) for typed in TRAINING),
    *((("compare", "{data}"), typed) for typed in [*COMPARING, *SCORERS]),
    *((("audit", "{data}"), typed) for typed in COMPARING),
    *((("measure", "{data}"), typed) for typed in MEASURING),
    *((("sweep", "{data}", "--model", "wordllama"), typed) for typed in SWEEPING),
    *((("factorize", "fit", "{data}/seen.npz"), typed) for typed in FACTORIZING),
    *((("factorize", "stability", "{data}/items.npy"), typed) for typed in STABILITY),
    *((("factorize", "simulate"), typed) for typed in SIMULATION),
]

ABOUT_THE_DATA = ("has no texts", "to learn from", "does not exist")  # refused, but not for what was typed


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Twelve queries, and interactions of twelve users."""
    folder = tmp_path_factory.mktemp("small")
    rng = np.random.default_rng(0)
    for name, rows in (("queries", 12), ("documents", 30)):
        np.save(folder / f"{name}.npy", rng.standard_normal((rows, 4)).astype(np.float32))
        (folder / f"{name}.ids").write_text("".join(f"{name[0]}{row}\n" for row in range(rows)))
    (folder / "qrels.tsv").write_text("".join(f"q{row}\td{row}\t1\n" for row in range(12)))
    sparse.save_npz(folder / "seen.npz", sparse.csr_array((rng.random((12, 9)) < 0.5).astype(float)))
    np.save(folder / "items.npy", rng.standard_normal((9, 3)))
    return folder


@pytest.mark.parametrize(("command", "typed"), TYPED, ids=lambda words: " ".join(words).replace("\ud800", "half"))
def test_an_option_that_means_nothing_is_refused(command, typed, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = [word.format(data=data) for word in command]
    result = CliRunner().invoke(app, [*words, *typed])
    if isinstance(result.exception, OffsphereError):
        message = str(result.exception)
        assert "\n" not in message
        assert not any(words in message for words in ABOUT_THE_DATA), message
        return
    assert isinstance(result.exception, SystemExit), (result.exception, result.output[-300:])
    assert result.exit_code == 2, result.output
