"""Fuzz one format in a process with little memory: ``python -m tests.fuzz FORMAT EXAMPLES [SEED]``.

It prints by which modules a whole example is read, then how often the answer was right, how often it was taken because
nobody else could say what is right, and how often an error was raised, and exits with 1 at the first example that is
none of these, made as small as hypothesis can. A crash of the process is seen by whoever started it.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz.judging import judge, limit_memory, told
from tests.fuzz.mutations import damaged, damages
from tests.fuzz.readers import modules_that_ran
from tests.fuzz.subjects import SUBJECTS

IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where nobody waits for a disk
READ_BY = "read by "  # begins the line of the modules that a whole example comes by


def main() -> None:
    """Run the examples of one format."""
    name, examples = sys.argv[1], int(sys.argv[2])
    chosen = SUBJECTS[name]
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as place:
        original = Path(place) / "original"
        original.mkdir()
        chosen.write(original)
        expected, ran = modules_that_ran(lambda: chosen.read(original))
        sys.stdout.write(f"{READ_BY}{' '.join(sorted(ran))}\n")
        if chosen.reference is not None:
            assert chosen.same(expected, chosen.reference(original)), "the two readers differ on a whole file"
        files = sorted(path.relative_to(original) for path in original.rglob("*") if path.is_file())
        limit_memory()

        @seed(int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().getrandbits(32))
        @settings(
            max_examples=examples,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )
        @given(st.sampled_from(files), damages)
        def one_damage(file: Path, damage: list) -> None:
            copy = Path(place) / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(original, copy)
            content = damaged((original / file).read_bytes(), damage)
            (copy / file).write_bytes(content)
            counts[judge(chosen, copy, expected)] += 1

        one_damage()
    sys.stdout.write(f"{name}: {sum(counts.values())} damaged files, {told(counts)}\n")


if __name__ == "__main__":
    main()
