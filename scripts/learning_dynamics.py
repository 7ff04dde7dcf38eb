"""Learning dynamics of a model that was never trained contrastively, after Xiao et al. 2023 (2212.09170). Resumable.

    python scripts/learning_dynamics.py NLI STSB MODEL OUT [--over temperature batch pooling] [--steps 300] [--seeds 3]

NLI is a file of anchor and positive (triplets.jsonl), STSB the folder of the STS Benchmark: its dev split is probed at
every layer and chooses the best state, its test split judges. One ``offsphere sweep`` for each parameter; a killed run
goes on where it stopped. OUT/PARAMETER/sweep.html draws every quantity.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

VALUES = {"temperature": "0.025,0.05,0.1", "batch": "16,64,256", "pooling": "mean,cls,max"}


def main() -> None:
    """Sweep over each parameter in turn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("nli", type=Path)
    parser.add_argument("stsb", type=Path)
    parser.add_argument("model")
    parser.add_argument("out", type=Path)
    parser.add_argument("--over", nargs="+", default=list(VALUES), choices=list(VALUES))
    parser.add_argument("--values", default=None, help="instead of the usual ones, of a single parameter")
    parser.add_argument("--steps", default="300")
    parser.add_argument("--batch", default="64")
    parser.add_argument("--seeds", default="3")
    parser.add_argument("--rate", default=None, help="learning rate; the usual one of the model unless said")
    parser.add_argument("--max-tokens", default="32")
    parser.add_argument("--every", default="25", help="steps between two looks at the probe")
    parser.add_argument("--mini-batch", default=None, help="texts at a time (GradCache)")
    parser.add_argument("--precision", default="fp32", help="of the products of a step: fp32 or bf16")
    asked = parser.parse_args()
    for parameter in asked.over:
        started = time.monotonic()
        swept = ["--over", parameter, "--values", asked.values or VALUES[parameter], "--layers"]
        judged = ["--held-out", f"{asked.stsb}:dev", "--judge", str(asked.stsb), "--max-tokens", asked.max_tokens]
        sized = ["--steps", asked.steps, "--seeds", asked.seeds, "--set", f"batch={asked.batch}"]
        sized += ["--set", f"dynamics_every={asked.every}", "--set", f"evaluate_every={asked.steps}"]
        sized += ["--set", f"precision={asked.precision}"]
        sized += ["--rate", asked.rate] if asked.rate is not None else []
        sized += ["--set", f"mini_batch={asked.mini_batch}"] if asked.mini_batch is not None else []
        written = ["--out", str(asked.out / parameter), "--figures", "svg"]
        named = ["sweep", str(asked.nli), "--model", asked.model]
        command = [sys.executable, "-m", "offsphere", *named, *swept, *judged, *sized, *written]
        subprocess.run(command, check=True)  # noqa: S603  # our own
        print(f"{parameter}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
