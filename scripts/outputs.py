"""Run again every command whose output README and guide show, and write what it prints now into the page.

python scripts/outputs.py [--check] [--quick] [--data FOLDER] [PAGE ...]

A shown run is a fenced block that begins with "$ ". The comment before it says what becomes of it here:

    <!-- output: quick -->               it takes a second or two: the tests run it, too
    <!-- output: slow on scifact -->     it takes longer; real data sets it needs are named, and lie in FOLDER
    <!-- output: kept: why -->           it is not run: it takes hours, or says what one machine measured

A block without a label that is no run is commands alone, or a record that is kept.

Lines of that comment which begin with "$ " are run before, and not shown. The runs of a page share a folder and a
cache, from top to bottom. A line "..." in a block stands for any number of lines, and a command that shows nothing may
print anything. What differs from run to run (seconds, sizes of files) is not compared. With --check nothing is
written, and the exit code is 1 where a page shows something else.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("OFFSPHERE_TEST_DATA", ROOT.parent / "shared" / "data"))
BLOCK = re.compile(
    r"(?:^<!-- output: (?P<how>(?:(?!-->).)*?) ?-->\n)?^```\n(?P<runs>\$ .*?)^```$", re.DOTALL | re.MULTILINE
)
HOW = re.compile(
    r"(?P<kind>quick|slow|kept)(?: on (?P<data>[^:\n]+))?(?:: (?P<why>[^\n]+))?(?P<before>(?:\n\$ [^\n]+)*)\n?"
)
COMMAND_LINE = re.compile(
    r"\s|#|[A-Z_]+=|\.venv/|"
    r"(?:offsphere|python3?|pip|make|source|for|done|docker|sbatch|srun|ray|psql|curl|git|export) "
)
LEFT_OUT = "..."
CACHE = "/home/ada/.cache"  # what pages show for the folder of the cache, whoever's it is
VARIES = re.compile(r"\b\d[\d.,]* ?(?:s|ms|seconds|minutes|bytes|kB|MB|GB)\b")


class PageError(Exception):
    """Something on a page that cannot be run or written; the message says where."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page that shows what commands print."""

    page: Path
    line: int
    kind: str
    data: tuple[str, ...]
    why: str
    before: tuple[str, ...]
    text: str  # what stands between the fences

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Run:
    """A command as a page shows it, and the lines below it."""

    command: str  # as it stands there, "$ " and continued lines included
    shown: tuple[str, ...]


def pages() -> list[Path]:
    """Every page of the guide, and what lies beside it."""
    return sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def blocks_of(page: Path) -> list[Block]:
    """The blocks of a page that show what commands print.

    Args:
        page: A Markdown file.

    Returns:
        Its blocks, from top to bottom.

    Raises:
        PageError: If a block does not say how its output is made, or says it in words that nobody knows.
    """
    text = page.read_text("utf-8")
    blocks = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("runs"))
        how = HOW.fullmatch(match["how"] or "")
        if how is None or (how["kind"] == "kept") == (how["why"] is None):
            raise PageError(
                f"{page.relative_to(ROOT)}:{line}: say before it how this output is made, <!-- output: quick -->, "
                "<!-- output: slow on scifact --> or <!-- output: kept: why -->"
            )
        data = tuple((how["data"] or "").split())
        before = tuple(how["before"].strip().splitlines())
        blocks.append(Block(page, line, how["kind"], data, how["why"] or "", before, match["runs"]))
    return blocks


def unmarked_outputs(page: Path) -> list[str]:
    """Fences that show something of which nobody says how it was made.

    A fence without a label shows commands alone, or begins with the command that printed it, or follows a comment
    that says where its lines are from: ``<!-- output: kept: why -->``. What is no output has a label, such as ``text``.

    Args:
        page: A Markdown file.

    Returns:
        Where they begin, as ``PAGE:LINE``.
    """
    lines, unmarked, start = page.read_text("utf-8").splitlines(), [], -1
    for number, line in enumerate(lines):
        if start < 0 and line.startswith("```"):
            start = number
        elif start >= 0 and line.rstrip() == "```":
            shown, before = lines[start + 1 : number], lines[start - 1] if start else ""
            marked = before.startswith("<!-- output: kept: ") or shown[:1] == [] or shown[0].startswith("$ ")
            if lines[start] == "```" and not marked and not _are_commands(shown):
                unmarked.append(f"{page.relative_to(ROOT)}:{start + 1}")
            start = -1
    return unmarked


def _are_commands(lines: Sequence[str]) -> bool:
    """Whether all lines are commands, or go on with one."""
    first = [line for before, line in pairwise(["", *lines]) if line.strip() and not before.endswith("\\")]
    return all(COMMAND_LINE.match(line) or line == "done" for line in first)


def runs_of(text: str) -> list[Run]:
    """The commands of a block, each with the lines that are shown below it."""
    runs: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            runs.append(([line], []))
        elif runs[-1][0][-1].endswith("\\"):
            runs[-1][0].append(line)
        else:
            runs[-1][1].append(line)
    return [Run("\n".join(command), tuple(shown)) for command, shown in runs]


def text_of(runs: Sequence[Run]) -> str:
    """The text of a block that shows these runs."""
    return "".join(f"{line}\n" for run in runs for line in (run.command, *run.shown))


def comparable(lines: Sequence[str]) -> list[str]:
    """Lines without what differs from run to run."""
    return [VARIES.sub("#", line.rstrip()) for line in lines]


def as_shown(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """What a page is to show of an output: all of it, or the parts that it shows already.

    Args:
        shown: The lines of the page. A line "..." stands for any number of lines.
        printed: The lines of the output.

    Returns:
        The lines to show; those of the page where they differ in nothing but times and sizes.

    Raises:
        PageError: If the first or last line of a part is no longer printed.
    """
    content = _trimmed(shown)
    if not content:
        return list(shown)
    filled = list(_parts(content, [line.rstrip() for line in _trimmed(printed)]))
    if comparable(filled) == comparable(content):
        filled = list(content)
    return filled + [""] * (len(shown) - len(content))


def _trimmed(lines: Sequence[str]) -> Sequence[str]:
    """Lines without the empty ones at the end."""
    end = max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)
    return lines[:end]


def _parts(shown: Sequence[str], printed: list[str]) -> Iterator[str]:
    """What is printed now between the lines at which each part of the page begins and ends."""
    marks = [-1, *(place for place, line in enumerate(shown) if line == LEFT_OUT), len(shown)]
    known, reached = comparable(printed), 0
    for start, end in pairwise(marks):
        if start >= 0:
            yield LEFT_OUT
        part = comparable(shown[start + 1 : end])
        if not part:
            continue
        first = _place_of(part[0], known, reached) if start >= 0 else 0
        last = _place_of(part[-1], known, first) if end < len(shown) else len(printed) - 1
        yield from printed[first : last + 1]
        reached = last + 1


def _place_of(line: str, lines: list[str], start: int) -> int:
    if line not in lines[start:]:
        raise PageError(f"no longer printed, though a part of the page begins or ends with it: {line!r}")
    return lines.index(line, start)


def run_command(command: str, folder: Path, cache: Path) -> tuple[int, str]:
    """Run a command as a page shows it.

    Args:
        command: "$ offsphere ..." or "$ python ...".
        folder: Where it runs.
        cache: What it has for the user's cache.

    Returns:
        Its exit code, and what it printed, errors included.
    """
    program, *arguments = shlex.split(command.removeprefix("$ ").replace("\\\n", " "), comments=True)
    if program not in ("offsphere", "python"):
        raise PageError(f"neither offsphere nor python: {command}")
    known = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "FORCE_COLOR")}
    more = {
        "XDG_CACHE_HOME": str(cache),
        "OFFSPHERE_QUIET": "1",
        "HF_HUB_OFFLINE": "1",
        "PYTHONUNBUFFERED": "1",  # so that errors stand where they were printed
        "PYTHONPATH": os.pathsep.join([*filter(None, [known.get("PYTHONPATH")]), str(ROOT / "docs" / "examples")]),
    }
    python = [sys.executable] if program == "python" else [sys.executable, "-m", "offsphere"]
    done = subprocess.run(  # noqa: S603  # commands of our own pages
        [*python, *arguments],
        cwd=folder,
        env=known | more,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.replace(str(cache), CACHE)


def missing_data(block: Block, data: Path) -> list[str]:
    """The data sets that a block needs and that are not here."""
    return [name for name in block.data if not (data / name).exists()]


def printed_by(block: Block, folder: Path, data: Path, cache: Path) -> str:
    """Run what a block shows.

    Args:
        block: A block that is quick or slow.
        folder: Where the runs of its page work.
        data: Where real data sets lie.
        cache: What commands have for the user's cache.

    Returns:
        The text that the block is to have.

    Raises:
        PageError: If something fails that is not shown, or a part of the page is no longer printed.
    """
    for name in block.data:
        link = folder / Path(name).name
        if not link.exists():
            link.symlink_to(data / name)
    for command in block.before:
        code, output = run_command(command, folder, cache)
        if code:
            raise PageError(f"{block.place}: {command}\n{output}")
    runs = []
    for run in runs_of(block.text):
        code, output = run_command(run.command, folder, cache)
        if code and not _trimmed(run.shown):
            raise PageError(f"{block.place}: {run.command}\n{output}")
        try:
            runs.append(Run(run.command, tuple(as_shown(run.shown, output.splitlines()))))
        except PageError as error:
            raise PageError(f"{block.place}: {run.command}\n{error}\n{output}") from error
    return text_of(runs)


def difference(block: Block, text: str) -> str:
    """What a block shows and should not, and the other way round."""
    lines = (part.splitlines(keepends=True) for part in (block.text, text))
    return "".join(difflib.unified_diff(*lines, f"{block.place} shows", "it prints"))


def _renewed(page: Path, kinds: Sequence[str], data: Path) -> Iterator[tuple[Block, str]]:
    """The blocks of a page that show something else than is printed, and what that is."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        for block in blocks_of(page):
            if block.kind not in kinds:
                continue
            if absent := missing_data(block, data):
                print(f"{block.place}: left out, {', '.join(absent)} is not in {data}")
                continue
            print(f"{block.place}: {runs_of(block.text)[0].command[2:72]}", flush=True)
            try:
                text = printed_by(block, Path(folder), data, Path(cache))
            except PageError as error:
                print(f"mend by hand: {error}")
                yield block, ""
                continue
            if text != block.text:
                print(difference(block, text))
                yield block, text


def main() -> None:
    """Renew or check the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path, help="pages; all unless said")
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where a page is stale")
    parser.add_argument("--quick", action="store_true", help="only what takes a second or two")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of real data sets")
    asked = parser.parse_args()
    kinds = ("quick",) if asked.quick else ("quick", "slow")
    stale = unwritten = 0
    for page in [path.resolve() for path in asked.pages] or pages():
        for block, text in _renewed(page, kinds, asked.data.resolve()):
            stale += 1
            unwritten += not text
            if text and not asked.check:
                page.write_text(page.read_text("utf-8").replace(block.text, text, 1), "utf-8")
    print(f"{stale} blocks differ" + (f", {unwritten} are to be mended by hand" if unwritten else ""))
    sys.exit(1 if unwritten or (asked.check and stale) else 0)


if __name__ == "__main__":
    try:
        main()
    except PageError as error:
        sys.exit(str(error))
