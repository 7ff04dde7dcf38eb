"""What is not installed is said in one line, with the command that installs it; no command ends in a traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.processes import PATIENCE, ROOT, environment_with

BLOCKED = ("torch", "sentence_transformers", "transformers", "datasets", "accelerate")
BLOCKER = f"""
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""
SMALL_DEMO = """
from offsphere.data.formats import docstrings
docstrings.DEFAULT_PACKAGES = ("rich",)
from offsphere.cli import main
main()
"""


@pytest.fixture(scope="module")
def without_torch(tmp_path_factory):
    """Run a command in a process that cannot import torch and what needs it."""
    home = tmp_path_factory.mktemp("blocked")
    (home / "sitecustomize.py").write_text(BLOCKER)
    environment = environment_with(home, ROOT) | {"XDG_CACHE_HOME": str(home / "cache"), "HF_HUB_OFFLINE": "1"}

    def run(*arguments, code="from offsphere.cli import main; main()"):
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            env=environment,
            cwd=home,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A task with texts and two splits."""
    folder = tmp_path_factory.mktemp("small")
    words = [f"word{row} thing{row % 7} part{row % 5}" for row in range(40)]
    (folder / "corpus.jsonl").write_text(
        "\n".join(f'{{"_id": "d{row}", "title": "", "text": "{text}"}}' for row, text in enumerate(words))
    )
    (folder / "queries.jsonl").write_text(
        "\n".join(f'{{"_id": "q{row}", "text": "{text}"}}' for row, text in enumerate(words))
    )
    (folder / "qrels").mkdir()
    for split, rows in {"test": range(15), "train": range(15, 40)}.items():
        judged = "\n".join(f"q{row}\td{row}\t1" for row in rows)
        (folder / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}\n")
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("recipes",),
        ("train", "DATA", "--model", "wordllama", "--out", "model"),
        pytest.param(("sweep", "DATA", "--model", "wordllama", "--over", "batch"), marks=pytest.mark.slow),
        ("adapt", "DATA", "--model", "wordllama"),
        pytest.param(("ablate", "DATA", "--model", "wordllama"), marks=pytest.mark.slow),
        pytest.param(
            ("audit", "DATA", "--model", "wordllama", "--adapt", "--out", "audit.html"), marks=pytest.mark.slow
        ),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_torch_says_how_to_get_it(without_torch, small, arguments):
    result = without_torch(*(str(small) if word == "DATA" else word for word in arguments))
    assert result.returncode == 2, result.stderr
    lines = [line for line in result.stderr.splitlines() if not line.startswith("warning:")]
    assert len(lines) == 1
    assert lines[0].startswith("offsphere: this needs the package '")
    assert lines[0].endswith(("pip install 'offsphere[models]'", "pip install 'offsphere[learn]'"))


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("embed", "DATA", "--out", "vectors"), marks=pytest.mark.slow),
        ("compare", "DATA", "--model", "wordllama"),
        pytest.param(("measure", "DATA", "--model", "wordllama"), marks=pytest.mark.slow),
        ("audit", "DATA", "--model", "wordllama", "--out", "audit.html"),
        pytest.param(("data", "info", "DATA"), marks=pytest.mark.slow),
        ("--version",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_what_needs_no_torch_runs_without_it(without_torch, small, arguments):
    result = without_torch(*(str(small) if word == "DATA" else word for word in arguments))
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_the_demo_goes_on_without_torch_and_says_so(without_torch):
    result = without_torch("demo", "--out", "demo", code=SMALL_DEMO)
    assert result.returncode == 0, result.stderr
    last = result.stdout.splitlines()[-1]
    assert last.startswith("Left out is what an adapter on these vectors learns")
    assert last.endswith("pip install 'offsphere[learn]'")
    assert "--adapt" not in result.stdout


def test_a_name_of_the_library_that_needs_torch_says_so_too(without_torch):
    code = (
        "import offsphere as osp\n"
        "try:\n    osp.ContrastiveLoss\nexcept osp.OffsphereError as error:\n    print(error)\n"
    )
    assert without_torch(code=code).stdout.strip() == "this needs the package 'torch': pip install 'offsphere[models]'"
