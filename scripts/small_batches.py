"""VRNS by batch on pairs of texts, as in the small-batch figure of Lee et al. 2025 (arXiv:2506.09781). Resumable.

    python scripts/small_batches.py NLI STSB OUT [--model wordllama] [--batches 16 64 256] [--weights 0 30] [--seeds 3]

NLI is a file of anchor and positive (triplets.jsonl), STSB the folder of the STS Benchmark, whose dev split chooses the
best state and whose test split judges. All variants learn from every pair equally often (``--epochs``), so that small
batches take more steps. One command, ``offsphere ablate --encoder --cross``; a killed run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Type the command, and run it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("nli", type=Path)
    parser.add_argument("stsb", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model", default="wordllama")
    parser.add_argument("--batches", nargs="+", default=["16", "64", "256"])
    parser.add_argument("--weights", nargs="+", default=["0", "30"])
    parser.add_argument("--epochs", default="3")
    parser.add_argument("--seeds", default="3")
    parser.add_argument("--max-tokens", default=None)
    parser.add_argument("--precision", default="fp32", help="of the products of a step: fp32 or bf16")
    asked = parser.parse_args()
    crossed = [f"vrns={','.join(asked.weights)}", f"batch={','.join(asked.batches)}"]
    learned = ["ablate", str(asked.nli), "--encoder", "--model", asked.model, "--cross", *crossed]
    judged = ["--held-out", f"{asked.stsb}:dev", "--judge", str(asked.stsb)]
    sized = ["--epochs", asked.epochs, "--seeds", asked.seeds, "--hard-negatives", "0"]
    sized += ["--set", f"precision={asked.precision}"]
    sized += ["--max-tokens", asked.max_tokens] if asked.max_tokens is not None else []
    written = ["--out", str(asked.out), "--figures", "svg"]
    command = [sys.executable, "-m", "offsphere", *learned, *judged, *sized, *written]
    subprocess.run(command, check=True)  # noqa: S603  # our own


if __name__ == "__main__":
    main()
