"""An audit from data to report, for the commands ``audit`` and ``demo``: the library's steps, each with its bar."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from offsphere.base.files import write_whole
from offsphere.base.interruption import told_when_interrupted
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.left_out import warn_left_out
from offsphere.cli.tables.paragraphs import echo_items, echo_verdict

if TYPE_CHECKING:
    from offsphere.auditing.run import Audit
    from offsphere.cli.steps.runner_steps import RunnerRequest
    from offsphere.comparison.goal import Goal
    from offsphere.comparison.list_source import ListSource
    from offsphere.encode.embedded_task import EmbeddedSource

ENGINES_TOLD = "What to set in your engine: --engine NAME says it here, the report has all."


def run_audit(
    source: EmbeddedSource,
    split: str | None = None,
    *,
    adapt: bool = False,
    ablation: Path | None = None,
    metric: str | None = None,
    by: str | None = None,
    symmetric: bool | None = None,
    worth: float | None = None,
    stored: str | None = None,
    lists: Sequence[ListSource] = (),
    more: bool = False,
    goal: Goal | None = None,
    show: Sequence[str] = (),
    folds: int = 5,
    seed: int = 0,
    gathered: RunnerRequest | None = None,
) -> Audit:
    """Load the data, say what was left out, train adapters where they are wanted, and audit."""
    from offsphere.auditing.earlier_results import read_ablation, read_training
    from offsphere.auditing.run import audit
    from offsphere.engines.deployed.collection_source import deployment_of
    from offsphere.learning.adapters.learn import ADAPTERS, learn
    from offsphere.learning.loading import load_parts
    from offsphere.shards.compare_question import CompareOptions

    parts = learned = table = None
    training = read_training(source.model)
    if gathered is not None:
        source = gathered.embedded(source, split)
        named = CompareOptions(metric=metric, folds=folds, seed=seed, worth=worth, by=by)
        table = gathered.compare(source, split, named)
    with progress_bar("embedding") as progress:
        task, vectors = source.load(split, progress)
        if adapt:
            parts = load_parts(source, split=split, judged=(task, vectors), progress=progress)
    warn_left_out((task, vectors), *([parts.train] if parts is not None else []))
    grid = read_ablation(ablation, task) if ablation is not None else None
    if parts is not None:
        with progress_bar("training") as progress:
            how: dict[str, Any] = {"metric": metric, "seed": seed, "device": source.runtime.device}
            learned = learn(parts.train, parts.test, ADAPTERS, progress=progress, **how)
    made_by = source.made_by(task)
    deployment = deployment_of(source, task, vectors, metric)
    kept = "what was computed so far is in the cache: run the same command again, it goes on from there"
    with told_when_interrupted(lambda: kept), progress_bar("auditing") as progress:
        return audit(
            task,
            vectors,
            metric=metric,
            by=by,
            symmetric=symmetric,
            worth=worth,
            stored=[stored] if stored is not None else [],
            lists=lists,
            more=more,
            goal=goal,
            show=show,
            declared=made_by.get("similarity"),
            model=made_by,
            folds=folds,
            seed=seed,
            progress=progress,
            learned=learned,
            ablation=grid,
            training=training,
            deployment=deployment,
            table=table,
        )


def write_report(audit: Audit, target: Path, form: str = "html", engine: str | None = None) -> None:
    """Write the report as html (with the settings of an engine in front), md or json."""
    from offsphere.report import to_html, to_markdown

    if form == "json":
        text = json.dumps(audit.to_json(), indent=2, allow_nan=False)
    else:
        text = to_html(audit, engine) if form == "html" else to_markdown(audit)
    write_whole(target, text.encode("utf-8", "replace"))


def print_audit(
    audit: Audit, report: Path, scorer: Path | None = None, *, engine: str | None = None, verbose: bool = False
) -> None:
    """Print what to do and why, what to mind, and where the report and the saved scorer are.

    Args:
        audit: What was found.
        report: Where its page was written.
        scorer: Where the scorer was saved, if it was.
        engine: The search engine whose settings are asked for.
        verbose: Whether to print every finding, what the vectors look like, and the settings of all engines.
    """
    advice = audit.advice
    echo_verdict(advice.verdict)
    echo_items("Beside other systems", (finding.sentence for finding in advice.about("lists")))
    echo_items("Mind", (finding.sentence for finding in advice.about("wrong")))
    if audit.learned is not None:
        echo_items("If you train an adapter on these vectors", audit.learned.sentences)
    if audit.ablation is not None:
        echo_items(f"Of {len(audit.ablation.rows)} ways to train one", [audit.ablation.conclusion])
    if verbose:
        more = [*advice.about("scorer")[1:], *advice.about("training")]
        echo_items("More", (finding.sentence for finding in more))
        echo_items("What the vectors look like", audit.shape.sentences)
    shown = [row for row in advice.settings if verbose or row.engine.casefold() == (engine or "").casefold()]
    for setting in shown:
        echo_items(
            f"In {setting.engine}",
            [
                f"set: {setting.setting}",
                f"store: {setting.store}",
                f"query with: {setting.query}",
                *([f"what comes back: {setting.score}"] if setting.score else []),
                *setting.notes,
            ],
        )
    if audit.table.stored:
        from offsphere.cli.tables.stored_table import print_stored

        print_stored(audit.table)
    if audit.table.breakdown is not None:
        from offsphere.cli.tables.comparison_table import print_groups

        print_groups(audit.table)
    if audit.thresholds is not None:
        from offsphere.cli.tables.threshold_table import print_thresholds

        typer.echo()
        print_thresholds(audit.thresholds)
    typer.echo()
    if scorer is not None:
        typer.echo(f"The scorer is in {scorer}.")
    if not shown:
        typer.echo(ENGINES_TOLD)
    typer.echo(f"The report is {report} ({report.stat().st_size / 1e6:.1f} MB).")
