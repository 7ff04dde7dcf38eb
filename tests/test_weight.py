"""What the core weighs is what the page on installing says."""

from __future__ import annotations

import platform
import re
import sys
from importlib.metadata import distribution

import pytest

from tests.processes import ROOT

TABLE = (ROOT / "docs" / "installing.md").read_text("utf-8").partition("| package | MB |")[2].partition("\n\n")[0]
SAID = dict(re.findall(r"^\| ([a-z, ]+?) \| (\d+) \|", TABLE, re.MULTILINE))
LEEWAY = 0.1  # other versions, and wheels for other processors


def installed_size(package):
    """Bytes of what a package put there, byte code and what it compiled since not counted."""
    files = distribution(package).files or ()
    return sum(file.size or 0 for file in files if file.suffix != ".pyc")


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="the page says it of Linux")
@pytest.mark.parametrize("packages", SAID)
def test_a_package_weighs_what_the_page_says(packages):
    megabytes = sum(map(installed_size, packages.split(", "))) / 2**20
    assert megabytes == pytest.approx(float(SAID[packages]), rel=LEEWAY)


def test_the_four_heaviest_are_there_and_the_sum_is_that_of_the_page():
    assert set(SAID) == {"llvmlite, numba", "pyarrow", "scipy", "numpy"}
    text = (ROOT / "docs" / "installing.md").read_text("utf-8")
    whole = int(re.search(r"^(\d+) MB on Linux", text, re.MULTILINE)[1])
    others = sum(int(number) for number in re.findall(r"\| about (\d+) \|", TABLE))
    assert sum(map(int, SAID.values())) + others == pytest.approx(whole, abs=2)
    for package, rest in re.findall(r"\*\*(scipy|pyarrow) stays.*?(\d{3})(?: MB)?\.", text, re.DOTALL):
        assert int(rest) == whole - int(SAID[package])
