"""What pages show is what commands print: every block says how it is made, and those that are quick are run here."""

from __future__ import annotations

import pytest
from scripts.outputs import (
    DATA,
    ROOT,
    Block,
    PageError,
    as_shown,
    blocks_of,
    difference,
    missing_data,
    pages,
    printed_by,
    runs_of,
    text_of,
    unmarked_outputs,
)

BLOCKS = [block for page in pages() for block in blocks_of(page)]


def test_there_are_blocks_of_every_kind():
    assert {block.kind for block in BLOCKS} == {"quick", "slow", "kept"}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_a_block_is_made_of_its_runs(block):
    assert text_of(runs_of(block.text)) == block.text


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_output_says_where_it_is_from(page):
    assert unmarked_outputs(page) == []


QUICK = [page for page in pages() if any(block.kind == "quick" for block in blocks_of(page))]


@pytest.mark.parametrize("page", QUICK, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_shows_what_is_printed(page, tmp_path):
    """Its quick blocks, from top to bottom, in one folder and with one cache, as ``make outputs`` runs them."""
    for folder in ("work", "cache"):
        (tmp_path / folder).mkdir()
    blocks = [block for block in blocks_of(page) if block.kind == "quick"]
    if absent := sorted({name for block in blocks for name in missing_data(block, DATA)}):
        pytest.skip(f"real data sets (OFFSPHERE_TEST_DATA) are not here: {', '.join(absent)}")
    for block in blocks:
        text = printed_by(block, tmp_path / "work", DATA, tmp_path / "cache")
        assert text == block.text, difference(block, text)


FENCES = {
    "```\nprinted by nobody knows what\n```\n": ["page.md:3"],
    "```\noffsphere: an error\n```\n": ["page.md:3"],
    "```\noffsphere audit DATA \\\n--model M\n\n# and then\nexport NAME=1\n```\n": [],
    "```\noffsphere audit DATA\nprinted\n```\n": ["page.md:3"],
    "```text\nno output\n```\n": [],
    "```python\nprint(1)\n```\n\n```\n1\n```\n": ["page.md:7"],
    "<!-- output: kept: of an experiment -->\n```\n1\n```\n": [],
    "<!-- output: quick -->\n```\n$ offsphere recipes\nprinted\n```\n": [],
}


@pytest.mark.parametrize(("fence", "unmarked"), FENCES.items())
def test_a_fence_without_a_label_shows_commands_or_says_where_it_is_from(tmp_path, monkeypatch, fence, unmarked):
    monkeypatch.setattr("scripts.outputs.ROOT", tmp_path)
    (tmp_path / "page.md").write_text(f"# Page\n\n{fence}")
    assert unmarked_outputs(tmp_path / "page.md") == unmarked


def test_times_and_sizes_are_no_difference():
    shown = ["done in 3.1 s, 2.8 MB", "next"]
    assert as_shown(shown, ["done in 45 s, 3 MB  ", "next", ""]) == shown


def test_what_changed_is_shown_whole():
    assert as_shown(["value 0.51", ""], ["value 0.52", "more", ""]) == ["value 0.52", "more", ""]


def test_what_a_page_leaves_out_stays_left_out():
    shown = ["...", "scorer  p", "cosine", "dot  0.2", "..."]
    printed = ["verdict", "scorer  p", "half  0.3", "dot  0.2", "end"]
    assert as_shown(shown, printed) == ["...", "scorer  p", "half  0.3", "dot  0.2", "..."]


def test_a_part_whose_ends_are_gone_is_not_guessed():
    with pytest.raises(PageError, match=r"no longer printed.*'dot  0\.2'"):
        as_shown(["...", "scorer", "dot  0.2", "..."], ["scorer", "dot  0.3"])


def test_a_command_that_shows_nothing_may_print_anything():
    assert as_shown([], ["a report"]) == []


def test_a_command_over_two_lines_is_one():
    (run,) = runs_of("$ offsphere compare x \\\n    --all\nprinted\n")
    assert run.command == "$ offsphere compare x \\\n    --all"
    assert run.shown == ("printed",)


@pytest.mark.parametrize(
    "how", ["", "<!-- output: often -->\n", "<!-- output: kept -->\n", "<!-- output: quick: so -->\n"]
)
def test_a_block_must_say_how_it_is_made(tmp_path, monkeypatch, how):
    monkeypatch.setattr("scripts.outputs.ROOT", tmp_path)
    (tmp_path / "page.md").write_text(f"# Page\n\n{how}```\n$ offsphere recipes\n```\n")
    with pytest.raises(PageError, match=r"page\.md:\d+: say before it how this output is made"):
        blocks_of(tmp_path / "page.md")


def test_only_offsphere_and_python_are_run(tmp_path):
    block = Block(ROOT / "README.md", 1, "quick", (), "", (), "$ rm -r work\n")
    with pytest.raises(PageError, match="neither offsphere nor python"):
        printed_by(block, tmp_path, DATA, tmp_path)


def test_a_command_that_shows_nothing_must_not_fail(tmp_path):
    block = Block(ROOT / "README.md", 1, "quick", (), "", (), "$ python -c 'raise SystemExit(3)'\n")
    with pytest.raises(PageError, match="SystemExit"):
        printed_by(block, tmp_path, DATA, tmp_path)
