"""The parts that CONTRIBUTING adds by its diffs really work: in a copy of the tree they are linted, used and tested."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import PATIENCE, ROOT, environment_with

SECTIONS = re.split(r"^### (.+)\n", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
DIFFS = {
    head: diff
    for head, text in zip(SECTIONS[::2], SECTIONS[1::2], strict=True)
    for diff in re.findall(r"```diff\n(.*?)```", text, re.DOTALL)
}
COPIED = ("src", "tests", "docs")
SETTINGS = ("pyproject.toml", "constraints.txt")
# what each part is for, against numbers written out here; each runs where the package is that was copied
USED = {
    "Add a similarity": """
        scorer, query, documents = osp.parse_scorer("log-length"), np.float32([[2, 0]]), np.float32([[3, 4], [1, 1]])
        values = scorer.similarity(query @ documents.T, np.array([[2.0]]), np.sqrt([25.0, 2.0]))
        assert np.allclose(values, [[0.6 * np.log(6), np.log1p(2**0.5) / 2**0.5]])
        lowering = scorer.lower()
        made = lowering.queries(query) @ lowering.documents(documents).T
        assert np.allclose(made / made[0, 0], values / values[0, 0], atol=1e-6)
        """,
    "Add a transform": """
        rows = np.array([[1, 2], [3, 6]], np.float32)
        scorer = osp.parse_scorer("recenter(0.5) + dot").fit(osp.Moments.of(rows))
        assert scorer.transform(rows).tolist() == [[0, 0], [2, 4]]
        """,
    "Add an engine": """
        from offsphere.engines import engine_settings
        (setting,) = [row for row in engine_settings(osp.parse_scorer("dot")) if row.engine == "Typesense"]
        assert (setting.setting, setting.score) == ('"vec_dist": "ip"', "dot = 1 - score")
        """,
    "Add a geometry section": """
        (part,) = osp.measure(np.ones((5, 3), np.float32), sections=["repeats"]).repeats
        assert (part.repeated, part.most) == (5, 5)
        """,
    "Add a loss": """
        import torch
        q, d = np.random.default_rng(0).normal(size=(2, 4, 3))
        scores = 2 * q @ d.T
        apart = (scores - np.diag(scores)[:, None])[~np.eye(4, dtype=bool)].reshape(4, 3)
        from offsphere.learning.objective.batch import Batch
        from offsphere.learning.objective.objective import Objective
        ours = Objective("none", "bpr", temperature=0.5, scale="fixed").double()
        value = float(ours(Batch(torch.tensor(q), torch.tensor(d))).detach())
        assert np.isclose(value, np.log1p(np.exp(apart)).mean(), rtol=1e-12)
        """,
    "Add a recipe": """
        recipe = osp.recipe_with("bge")
        assert (recipe.temperature, recipe.hard_negatives, recipe.prompts[1], recipe.loss) == (0.01, 1, "", "infonce")
        """,
    "Add a task format": """
        Path("questions.csv").write_text("Text,Intent\\nwhere?,card_arrival\\nlost,lost_card\\nand mine?,card_arrival")
        task = osp.load_task("questions.csv")
        assert list(task.document_texts) == ["card arrival", "lost card"]
        assert [row.tolist() for row in task.positives()] == [[0, 1, 2], [0, 1, 0]]
        """,
}
# the tests that take a part from its registry; those of a part alone are named with it
TAKEN_UP = """
scoring/similarity/test_formula.py::test_value_is_the_formula[log-length]
scoring/similarity/test_formula.py::test_ranking_key_orders_as_the_value[log-length]
scoring/test_names.py::test_every_registered_part_has_a_phrase_of_its_own
scoring/test_transforms.py::test_recentring_by_all_of_the_mean_is_centring
engines/models/test_folding.py::test_what_lowers_and_has_no_steps_is_refused_for_that_and_not_as_what_does_not_lower
engines/shipping/test_serving.py::test_every_engine_is_asked_with_every_part_that_it_could_serve[sqlite]
engines/shipping/test_serving.py::test_every_engine_is_asked_with_every_part_that_it_could_serve[hnswlib]
engines/test_missing_packages.py::test_engines_that_were_not_tried_have_words_and_nothing_else
engines/test_settings.py::test_what_was_not_tried_is_said_and_what_bites_too
auditing/test_advice.py::test_every_scorer_gets_a_setting_for_every_engine
geometry/test_repeats.py
geometry/test_shape.py::test_the_help_names_every_section
learning/objective/test_losses.py::test_parts_of_a_batch_against_all_of_its_candidates_give_the_whole_loss[bpr]
learning/objective/test_losses.py::test_a_loss_has_all_that_is_asked_of_one[bpr]
learning/objective/test_losses.py::test_an_anchor_whose_negatives_are_all_masked_gives_nothing_and_no_nan
learning/objective/test_losses.py::test_every_file_that_holds_a_loss_is_named
learning/objective/test_losses.py::test_a_loss_says_what_it_is
fuzz/test_readers.py::test_every_caller_of_a_reader_has_a_format_or_a_reason
fuzz/test_readers.py::test_the_formats_are_there
test_house.py::test_file_names_are_unique
test_house.py::test_a_class_an_alias_and_a_function_have_a_name_of_their_own
test_house.py::test_no_module_imports_itself_by_way_of_others
"""


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A copy of the tree with all the parts in it, in which a process works as it does in the tree."""
    if shutil.which("git") is None:
        pytest.skip("git applies the diffs")
    copy = tmp_path_factory.mktemp("tree")
    for name in COPIED:  # with what was compiled, which is known by the time of its source
        shutil.copytree(ROOT / name, copy / name)
    for name in SETTINGS:
        shutil.copy2(ROOT / name, copy)
    for diff in DIFFS.values():
        subprocess.run(["git", "apply", "-"], input=diff, text=True, cwd=copy, check=True)
    return copy


def run_in(copy, *arguments):
    """Run Python with the package and the tests of a copy."""
    environment = environment_with(copy / "src", copy)
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
    )


def test_every_diff_is_used_here():
    assert list(DIFFS) == list(USED)


def test_what_is_added_works(grown):
    """All in one process, which imports once what they share; the last line of an error names what failed."""
    lines = ["import offsphere as osp, numpy as np", "from pathlib import Path"]
    lines += [f"assert Path(osp.__file__).is_relative_to({str(grown)!r})"]
    lines += [line.strip() for code in USED.values() for line in code.splitlines()]
    result = run_in(grown, "-c", "\n".join(lines))
    assert result.returncode == 0, result.stderr


def test_what_is_added_is_taken_up_by_the_tests(grown):
    tests = [f"tests/{name}" for name in TAKEN_UP.split("\n") if name]
    result = run_in(grown, "-m", "pytest", "-p", "no:cacheprovider", *tests)
    assert result.returncode == 0, result.stdout[-6_000:]


@pytest.mark.skipif(shutil.which("ruff", path=str(Path(sys.executable).parent)) is None, reason="ruff is not installed")
@pytest.mark.parametrize("ruling", [("check",), ("format", "--check")], ids=" ".join)
def test_what_is_added_keeps_to_the_rules(grown, ruling):
    files = re.findall(r"^\+\+\+ b/(\S+)$", "".join(DIFFS.values()), re.MULTILINE)
    result = run_in(grown, "-m", "ruff", *ruling, "--no-cache", *files)
    assert result.returncode == 0, result.stdout + result.stderr
