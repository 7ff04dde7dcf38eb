"""When does length pay? Corpora with a growing share of look-alikes that nobody wants, under the grid. Resumable.

    python scripts/length_study.py DATA OUT [--shares 0 0.25 0.5 0.75] [--pairs 4000] [--seeds 3]
    python scripts/length_study.py --table OUT [--figure FILE.svg]

DATA is a folder with train.jsonl and test.jsonl of pairs (debian-descriptions). A look-alike is the description of a
package in which some words were replaced by sentences that say it is retired: about the same thing, as long in words,
never relevant, and to be told from the others by what it says. In a corpus with share s of them every pair is learned
from beside one hard negative, which is with probability s a look-alike of its own document and else another document,
so that all shares have as many negatives. Then ``offsphere ablate`` trains cosine, dot, query, document and learn, once
as adapters on frozen vectors (where ``cosine + head``, a length that is learned on top of cosine, joins them) and once
the table of token vectors itself; a killed run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.learning.ablation.ablation import Ablation

VARIANTS = ("cosine", "dot", "query", "document", "learn")
KINDS = {"adapter": (*VARIANTS, "cosine + head"), "encoder": VARIANTS}
RETIRED = (
    "This package is obsolete and kept for historical reasons only.",
    "It has been retired and superseded and receives no further updates.",
    "Do not install: unmaintained, deprecated and removed from the archive.",
    "An abandoned snapshot of a discontinued project, withdrawn by its authors.",
    "Frozen legacy copy, no longer supported by anybody.",
    "Dead upstream; orphaned, unsupported and scheduled for deletion.",
    "A transitional dummy that is empty and can be purged safely.",
    "Archived duplicate of an outdated release, left here by mistake.",
)
SENTENCES = 2  # of those in a look-alike
HELD_OUT = 250  # pairs to choose the best state by

Pair = dict[str, Any]


def main() -> None:
    """Make the corpora, train what is not trained yet, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.0, 0.75, 0.5, 0.25])
    parser.add_argument("--pairs", type=int, default=4_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--model", default="wordllama")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--figure", type=Path)
    asked = parser.parse_args()
    if asked.table:
        print_table(asked.paths[0])
        if asked.figure is not None:
            draw(asked.paths[0], asked.figure)
        return
    data, out = asked.paths
    for kind in asked.kinds:
        for share in asked.shares:
            folder = out / f"share-{share:g}"
            if not (folder / "test.jsonl").is_file():
                make_corpus(data, folder, share, asked.pairs)
            started = time.monotonic()
            subprocess.run(command(kind, folder, asked.model, asked.seeds), check=True)  # noqa: S603  # our own
            print(f"{kind}, share {share:g}: {time.monotonic() - started:.0f} s", flush=True)
    print_table(out)


def command(kind: str, folder: Path, model: str, seeds: int) -> list[str]:
    """What is typed to train the variants of a kind on a corpus."""
    trained = ["ablate", str(folder), "--model", model, "--only", ",".join(KINDS[kind])]
    fixed = ["--temperature", "0.05", "--seeds", str(seeds), "--out", str(folder / kind)]
    own = ["--train-split", "train", "--split", "test", "--batch", "128", "--epochs", "4", "--rate", "0.001"]
    if kind == "encoder":
        own = ["--encoder", "--hard-negatives", "1", "--batch", "64", "--epochs", "2", "--rate", "0.003"]
        own += ["--held-out", f"{folder}:dev"]
    return [sys.executable, "-m", "offsphere", *trained, *fixed, *own]


def make_corpus(data: Path, folder: Path, share: float, pairs: int) -> None:
    """Write train, dev and test with that share of look-alikes; the same pairs for every share."""
    rng = np.random.default_rng(0)
    learned, tested = (read(data / name) for name in ("train.jsonl", "test.jsonl"))
    chosen = [learned[row] for row in rng.permutation(len(learned))[: pairs + HELD_OUT].tolist()]
    folder.mkdir(parents=True, exist_ok=True)
    others = rng.permutation(len(chosen)).tolist()
    for pair, other in zip(chosen[:pairs], others, strict=False):
        looks_alike = rng.random() < share
        pair["negative"] = look_alike(pair["positive"], rng) if looks_alike else chosen[other]["positive"]
    for pair in [*chosen[pairs:], *tested]:
        each = share / (1 - share)
        count = int(each) + (rng.random() < each - int(each))
        pair["negative"] = [look_alike(pair["positive"], rng) for _ in range(count)]
    for name, rows in {"train": chosen[:pairs], "dev": chosen[pairs:], "test": tested}.items():
        lines = [json.dumps({key: row[key] for key in ("anchor", "positive", "negative")}) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def look_alike(text: str, rng: np.random.Generator) -> str:
    """The same text with some of its words replaced by as many that say it is retired."""
    words = text.split()
    said = " ".join(rng.choice(RETIRED, SENTENCES, replace=False)).split()
    dropped = min(len(said), len(words) // 2)
    kept = np.sort(rng.permutation(len(words))[dropped:])
    place = int(rng.integers(0, len(kept) + 1))
    left = [words[row] for row in kept.tolist()]
    return " ".join([*left[:place], *said, *left[place:]])


def read(path: Path) -> list[Pair]:
    """The rows of a file of pairs."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def print_table(out: Path) -> None:
    """What each variant is worth at each share, against cosine, with Cohen's d and the exponents that were learned."""
    for kind in KINDS:
        print(f"\n{kind}s\n")
        print("| share | variant | nDCG@10 | spread over seeds | less cosine | p | Cohen's d | document exponent |")
        print("| ---: | --- | ---: | ---: | --- | ---: | ---: | ---: |")
        for folder in sorted(out.glob("share-*"), key=lambda path: float(path.name[6:])):
            if not (folder / kind / "ablation.json").is_file():
                print(f"| {folder.name[6:]} | not finished |")
                continue
            for cells in rows_of(Ablation.load(folder / kind)):
                print(f"| {folder.name[6:]} | {' | '.join(cells)} |")


def draw(out: Path, path: Path) -> None:
    """Draw what keeping the length is worth against cosine, with its interval, by the share of look-alikes."""
    import altair as alt

    rows = []
    for kind in KINDS:
        for file in out.glob(f"share-*/{kind}/ablation.json"):
            for row in Ablation.load(file.parent).rows[1:]:
                result = row.results[0]
                values = {
                    "less cosine": result.difference,
                    "low": result.difference_low,
                    "high": result.difference_high,
                }
                rows.append({"kind": kind, "share": file.parts[-3][6:], "variant": row.name, **values})
    base = alt.Chart(alt.Data(values=rows)).encode(x=alt.X("share:O"), color="variant:N", xOffset="variant:N")
    marks = base.mark_rule().encode(y=alt.Y("low:Q", title="nDCG@10 less cosine"), y2="high:Q")
    marks += base.mark_point(filled=True, size=60).encode(y="less cosine:Q")
    drawn: Any = marks.properties(width=260, height=260).facet(column="kind:N", data=alt.Data(values=rows))
    drawn.save(str(path))


def rows_of(ablation: Ablation) -> Iterator[list[str]]:
    """A row of cells for each variant; Cohen's d is that of the first seed's probe at the end."""
    last = {row["variant"]: row for row in ablation.dynamics}
    for row in ablation.rows:
        result = row.results[0]
        apart = f"{result.difference:+.4f} [{result.difference_low:+.4f}, {result.difference_high:+.4f}]"
        effect = last[row.name].get("cohen_d")
        tested = [apart, f"{result.p:.2g}"] if result.p is not None else ["", ""]
        told = f"{effect:+.2f}" if effect is not None else ""
        yield [row.name, f"{result.value:.4f}", f"{result.spread:.4f}", *tested, told, f"{row.exponents[1]:.2f}"]


if __name__ == "__main__":
    main()
