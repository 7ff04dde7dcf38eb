"""An audit from data to report, for the commands ``audit`` and ``demo``: the library's steps, each with its bar."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from offsphere.base.files import write_whole
from offsphere.base.interruption import told_when_interrupted
from offsphere.cli.left_out import warn_left_out
from offsphere.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from offsphere.auditing.run import Audit
    from offsphere.encode.embedded_task import EmbeddedSource


def run_audit(
    source: EmbeddedSource,
    split: str | None = None,
    *,
    adapt: bool = False,
    ablation: Path | None = None,
    metric: str | None = None,
    symmetric: bool | None = None,
    worth: float | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Audit:
    """Load the data, say what was left out, train adapters where they are wanted, and audit."""
    from offsphere.auditing.earlier_results import read_ablation, read_training
    from offsphere.auditing.run import audit
    from offsphere.learning.adapters.learn import ADAPTERS, learn
    from offsphere.learning.loading import load_parts

    parts = learned = None
    with progress_bar("embedding") as progress:
        task, vectors = source.load(split, progress)
        if adapt:
            parts = load_parts(source, split=split, judged=(task, vectors), progress=progress)
    warn_left_out((task, vectors), *([parts.train] if parts is not None else []))
    grid = read_ablation(ablation, task) if ablation is not None else None
    if parts is not None:
        with progress_bar("training") as progress:
            learned = learn(parts.train, parts.test, ADAPTERS, metric=metric, seed=seed, progress=progress)
    made_by = source.made_by(task)
    kept = "what was computed so far is in the cache: run the same command again, it goes on from there"
    with told_when_interrupted(lambda: kept), progress_bar("auditing") as progress:
        return audit(
            task,
            vectors,
            metric=metric,
            symmetric=symmetric,
            worth=worth,
            declared=made_by.get("similarity"),
            model=made_by,
            folds=folds,
            seed=seed,
            progress=progress,
            learned=learned,
            ablation=grid,
            training=read_training(source.model),
        )


def write_report(audit: Audit, target: Path, form: str = "html") -> None:
    """Write the report as html, md or json."""
    from offsphere.report import to_html, to_markdown

    if form == "json":
        text = json.dumps(audit.to_json(), indent=2, allow_nan=False)
    else:
        text = to_html(audit) if form == "html" else to_markdown(audit)
    write_whole(target, text.encode("utf-8", "replace"))


def print_audit(audit: Audit, report: Path, scorer: Path | None = None) -> None:
    """The verdict, what to mind, what learning adds, and where the report and the saved scorer are."""
    for sentence in audit.advice.verdict:
        typer.echo(sentence)
    for finding in audit.advice.about("wrong"):
        typer.echo(f"Mind: {finding.sentence}")
    if audit.learned is not None:
        typer.echo("If you train an adapter on these vectors:")
        for sentence in audit.learned.sentences:
            typer.echo(f"  {sentence}")
    if audit.ablation is not None:
        typer.echo(f"Of {len(audit.ablation.rows)} ways to train one: {audit.ablation.conclusion}")
    if scorer is not None:
        typer.echo(f"The scorer is in {scorer}.")
    typer.echo(f"The report is {report} ({report.stat().st_size / 1e6:.1f} MB).")
