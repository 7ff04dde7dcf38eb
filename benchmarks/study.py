"""A study of ten tasks that were audited already is drawn again in under 10 s, page and table."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from harness import Clock, Goals, quick

WORDS = np.array(
    [f"{start}{end}" for start in ("wa", "flo", "hea", "ta", "ki", "bre", "ri", "sto") for end in "bdgkmn"]
)


def write_task(folder: Path, seed: int) -> str:
    """A BEIR folder of 800 documents, half of them asked for by some of their words."""
    rng = np.random.default_rng(seed)
    texts = [" ".join(rng.choice(WORDS, rng.integers(8, 60))) for _ in range(800)]
    (folder / "qrels").mkdir(parents=True)
    lines = [f'{{"_id": "d{n}", "title": "", "text": "{text}"}}' for n, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    asked = [" ".join(text.split()[:5]) for text in texts[:400]]
    (folder / "queries.jsonl").write_text("\n".join(f'{{"_id": "q{n}", "text": "{t}"}}' for n, t in enumerate(asked)))
    judged = "\n".join(f"q{n}\td{n}\t1" for n in range(400))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}\n")
    return str(folder)


def main() -> None:
    count = 2 if quick(__doc__) else 10
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = [write_task(folder / f"task{n}", n) for n in range(count)]
        command = [sys.executable, "-m", "offsphere", "study", *tasks, "--model", "wordllama"]
        command += ["--out", str(folder / "study"), "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # audits them
        clock = Clock()
        clock.run({"study again": lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)}, 3)
        clock.show()
    goals = Goals()
    goals.at_most(f"{count} tasks drawn again, s", clock.wall["study again"], 10)
    goals.finish()


if __name__ == "__main__":
    main()
