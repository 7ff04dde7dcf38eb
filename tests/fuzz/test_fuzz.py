"""Every format under damage: the right answer or one clear line, and the process lives."""

from __future__ import annotations

import os
import sys

import pytest

from tests.fuzz.__main__ import READ_BY
from tests.fuzz.readers import FUZZED_AS
from tests.fuzz.subjects import SUBJECTS
from tests.processes import ROOT, environment_with, run_warm

RUN = "from tests.fuzz.__main__ import main; main()"
EXAMPLES = os.environ.get("OFFSPHERE_FUZZ", "500")
SEED = (
    [] if "OFFSPHERE_FUZZ" in os.environ else ["1"]
)  # the same files in every run of the suite; make fuzz draws others


@pytest.mark.parametrize("name", SUBJECTS)
def test_damaged_files_are_read_right_or_refused(name):
    result = run_warm(
        RUN, name, EXAMPLES, *SEED, imports=("tests.fuzz.__main__",), cwd=ROOT, env=environment_with(ROOT)
    )
    read_by = [line.removeprefix(READ_BY).split(" ") for line in result.stdout.splitlines() if line.startswith(READ_BY)]
    sys.stdout.write(
        result.stdout.rpartition(READ_BY)[2].partition("\n")[2][-2_000:]
    )  # the counts: make fuzz shows them
    assert result.returncode == 0, result.stderr[-6_000:]
    promised = {module for module, format_name in FUZZED_AS.items() if format_name == name}
    assert promised <= {*read_by[0]}, "it is not read by those who promise it"
