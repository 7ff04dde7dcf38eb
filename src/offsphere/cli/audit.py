"""``offsphere audit``: the main job. It parses; ``audit_steps.py`` has ``auditing/run.py`` do it, and shows it."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from offsphere.base.errors import ParameterError
from offsphere.cli.options import shared_options as options
from offsphere.cli.options.deployed import CollectionOptions
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.options.other_systems import OtherSystems
from offsphere.cli.steps.audit_steps import print_audit, run_audit, write_report
from offsphere.cli.steps.export_steps import export_recommended
from offsphere.cli.steps.plan_steps import SearchPlanOptions, named
from offsphere.cli.steps.runner_steps import ShardStateOptions
from offsphere.cli.steps.writable import check_writable

if TYPE_CHECKING:
    from offsphere.comparison.goal import Goal

FORMATS = ("html", "md", "json")


@with_groups
def audit_command(
    data: options.MaybeData = None,
    *,
    models: options.ModelOptions,
    vectors: options.VectorFolder = None,
    deployed: CollectionOptions,
    out: Annotated[Path | None, typer.Option(help="The report. [audit.html, .md or .json]")] = None,
    form: Annotated[str, typer.Option("--format", help="html, md (for a pull request) or json.")] = "html",
    open_it: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    symmetric: Annotated[
        bool | None,
        typer.Option(
            "--symmetric/--asymmetric",
            help="Whether the two sides could be exchanged. [pairs: yes, rankings: no]",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="ndcg@10, mrr@10, recall@100, map@100, spearman, ... [ndcg@10 or spearman]"),
    ] = None,
    split: options.Split = None,
    by: options.By = None,
    save: Annotated[Path | None, typer.Option(help="Folder to save the recommended scorer in.")] = None,
    export: Annotated[
        str | None, typer.Option(help=f"Put the recommended scorer into a search engine. {options.TARGET_HELP}")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="With --export, replace a collection that holds something else.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(help="Your search engine, whose settings are said first: faiss, qdrant, pgvector, lancedb, ..."),
    ] = None,
    adapt: Annotated[
        bool, typer.Option("--adapt", help="Train adapters on the train split too, and judge them by the same queries.")
    ] = False,
    ablation: Annotated[Path | None, typer.Option(help="Put what offsphere ablate found into the report.")] = None,
    worth: options.Worth = None,
    stored: options.Stored = None,
    others: OtherSystems,
    more: options.More = False,
    show: Annotated[
        list[str] | None,
        typer.Option(
            help="The id of a query whose results the report is to hold, however many queries there are. Repeatable."
        ),
    ] = None,
    precision: options.Precision = None,
    recall: options.Recall = None,
    false_alarms: options.FalseAlarms = None,
    reading: options.VerifiedReading,
    runners: ShardStateOptions,
    plans: SearchPlanOptions,
    folds: options.Folds = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of folds, intervals and tests.")] = 0,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every finding, what the vectors look like, and engine settings.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else; write no report.")] = False,
) -> None:
    """Measure, compare, advise: one report that says what to use and why. A killed audit goes on where it stopped."""
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.shards.compare_question import CompareOptions

    engine = _check_options(metric, stored, engine, export)
    lists = others.sources(models, ignore_missing=reading.ignore_missing)
    goal = _goal(precision, recall, false_alarms)
    report = _check_targets(out, form, save, as_json=as_json)
    alone = {"--collection": deployed.collection, "--stored": stored, "--more": more, "--adapt": adapt}
    planned = plans.request(runners, as_json=as_json)
    if planned is not None:
        source = EmbeddedSource(data, models.model, vectors) if data is not None else None
        planned.compare(source, split, CompareOptions(metric=metric, folds=folds, seed=seed, worth=worth))
        return
    gathered = runners.request(alone | {"other systems": lists})
    source = deployed.source(named(data), vectors, models, reading)
    audit = run_audit(
        source,
        split,
        adapt=adapt,
        ablation=ablation,
        metric=metric,
        by=by,
        symmetric=symmetric,
        worth=worth,
        stored=stored,
        lists=lists,
        more=more,
        goal=goal,
        show=show or (),
        folds=folds,
        seed=seed,
        gathered=gathered,
    )
    if audit.deployment is not None and engine is None:
        engine = audit.deployment.engine.name
    if not as_json:
        write_report(audit, report, form, engine)
    if save is not None:
        audit.advice.scorer.save(save)
    if as_json:
        typer.echo(json.dumps(audit.to_json(), indent=2, allow_nan=False))
    else:
        print_audit(audit, report, save, engine=engine, verbose=verbose)
    if open_it and not as_json:
        webbrowser.open(report.resolve().as_uri())
    if export is not None:
        export_recommended(audit.advice.scorer, source, split, export, replace=replace, quiet=as_json)


def _check_options(metric: str | None, stored: str | None, engine: str | None, export: str | None) -> str | None:
    """Notice what is spelt wrong before the work; the engine whose settings are said first."""
    from offsphere.engines.registry import engine_of
    from offsphere.engines.settings import engine_settings, setting_for
    from offsphere.scoring.scorer import Scorer
    from offsphere.scoring.stored.stored_form import parse_stored
    from offsphere.statistics.metrics import parse_metric

    if metric is not None:
        parse_metric(metric)
    if stored is not None:
        parse_stored(stored)
    exported = engine_of(export)[0].name if export is not None else None
    if engine is not None:
        setting_for(engine_settings(Scorer()), engine)
    return engine or exported


def _goal(precision: float | None, recall: float | None, false_alarms: float | None) -> Goal | None:
    """The promise that thresholds are to keep; nothing where none is asked for."""
    from offsphere.comparison.goal import Goal

    if precision is recall is false_alarms is None:
        return None
    return Goal.of(precision, recall, false_alarms)


def _check_targets(out: Path | None, form: str, save: Path | None, *, as_json: bool) -> Path:
    """Where the report goes; what cannot be written is noticed before the work, not after."""
    if form not in FORMATS:
        raise ParameterError(f"format {form!r}: choose html, md or json")
    report = out or Path(f"audit.{form}")
    for target in ([] if as_json else [report]) + ([save / "scorer.json"] if save is not None else []):
        check_writable(target)
    return report
