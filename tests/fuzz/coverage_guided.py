"""Fuzz the readers by what their code does with a file: ``python -m tests.fuzz.coverage_guided RUNS [FORMAT]``.

Where hypothesis damages a good file blindly, atheris keeps those inputs that reach new lines of ours and goes on from
them. It is no requirement of the tests: ``pip install atheris`` where it has a wheel, else this says so and exits with
0. The oracle is the same: the right answer or one line, and the process lives. Atheris sees the lines of modules that
are imported while it watches, so all of them are imported then, and none before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from offsphere.base import reading
from tests.fuzz.readers import FUZZED_AS

LONGEST_INPUT = 8_192
# all modules that call a reader, the readers themselves, and who chooses between them
LED_BY = (*FUZZED_AS, *(f"base.reading.{module.name}" for module in iter_modules(reading.__path__)))
LED_BY += ("base.files", "data.load", "scoring.scorer")


def main() -> None:
    """Fuzz one format, or each in a process of its own, which a crash ends."""
    from tests.fuzz.subjects import SUBJECTS

    if find_spec("atheris") is None:
        sys.stdout.write("atheris is not installed: the readers are fuzzed by hypothesis alone\n")
        return
    runs = int(sys.argv[1])
    if len(sys.argv) > 2:
        fuzz(sys.argv[2], runs)
        return
    command = [sys.executable, "-m", "tests.fuzz.coverage_guided", str(runs)]
    codes = {}
    for name in SUBJECTS:
        with tempfile.TemporaryDirectory() as folder:  # libFuzzer ends the process itself, and nothing is removed there
            environment = os.environ | {"TMPDIR": folder}
            codes[name] = subprocess.run([*command, name], check=False, env=environment).returncode
    if any(codes.values()):
        raise SystemExit(f"these failed: {', '.join(name for name, code in codes.items() if code)}")


def fuzz(name: str, runs: int) -> None:
    """Fuzz one format until so many inputs were tried."""
    import atheris

    with atheris.instrument_imports(include=["offsphere"]):
        for module in LED_BY:
            import_module(f"offsphere.{module}")
    from tests.fuzz.judging import judge, told
    from tests.fuzz.subjects import SUBJECTS

    chosen = SUBJECTS[name]
    home = Path(tempfile.mkdtemp())
    original, copy, seeds = home / "original", home / "copy", home / "seeds"
    original.mkdir()
    seeds.mkdir()
    chosen.write(original)
    expected = chosen.read(original)
    files = sorted(path.relative_to(original) for path in original.rglob("*") if path.is_file())
    for number, file in enumerate(files):
        (seeds / str(number)).write_bytes(bytes([number]) + (original / file).read_bytes())
    counts: Counter[str] = Counter()

    def one_input(data: bytes) -> None:
        """Let the input be one of the files, which its first byte chooses."""
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(original, copy)
        (copy / files[(data[0] if data else 0) % len(files)]).write_bytes(data[1:])
        counts[judge(chosen, copy, expected)] += 1
        if sum(counts.values()) == runs:
            sys.stdout.write(f"{name}: {runs} files led by coverage, {told(counts)}\n")
            sys.stdout.flush()

    options = [f"-runs={runs}", f"-max_len={LONGEST_INPUT}", "-rss_limit_mb=4096", "-verbosity=0"]
    atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={tempfile.gettempdir()}/", str(seeds)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
