"""``offsphere audit``: the main job. One command, one answer, one file to send to a colleague."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from offsphere.base.errors import DataError, ParameterError
from offsphere.cli.embed import MODEL_HELP
from offsphere.cli.loading import check_writable, load_all
from offsphere.cli.progress import progress_bar

if TYPE_CHECKING:
    from offsphere.audit.run import Audit

FORMATS = ("html", "md", "json")


def audit_command(
    data: Annotated[
        str,
        typer.Argument(
            help="A BEIR folder, a folder with corpus.jsonl alone, TREC files, an STS table, qrels, or a hub name."
        ),
    ],
    model: Annotated[str | None, typer.Option(help=f"Embed with this model. {MODEL_HELP}")] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(help="Folder with queries.* and documents.* (pairs: left.*, right.*). Default: DATA itself."),
    ] = None,
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
    split: Annotated[str | None, typer.Option(help="Which judgments: test, dev, train, ...")] = None,
    save: Annotated[Path | None, typer.Option(help="Folder to save the recommended scorer in.")] = None,
    adapt: Annotated[
        bool, typer.Option("--adapt", help="Train adapters on the train split too, and judge them by the same queries.")
    ] = False,
    ablation: Annotated[Path | None, typer.Option(help="Put what offsphere ablate found into the report.")] = None,
    ignore_missing: Annotated[
        bool, typer.Option("--ignore-missing", help="Go on without judgments for unknown queries or documents.")
    ] = False,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation that tunes free parameters.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of folds, intervals and tests.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else; write no report.")] = False,
) -> None:
    """Measure, compare, advise: one report that says what to use and why. A killed audit goes on where it stopped."""
    from offsphere.audit.run import audit
    from offsphere.cli.adapt import load_parts
    from offsphere.cli.compare import warn_left_out
    from offsphere.learn.ablation.ablation import Ablation
    from offsphere.learn.adapters.learn import ADAPTERS, learn
    from offsphere.scoring.record import Training
    from offsphere.statistics.metrics import parse_metric

    if metric is not None:
        parse_metric(metric)
    target = _target(out, form, save, as_json=as_json)
    task, held, known = load_all(data, model, vectors, split, ignore_missing=ignore_missing)
    warn_left_out(task, held)
    grid = Ablation.load(ablation) if ablation is not None else None
    if grid is not None and grid.tasks[0]["name"] != task.name:
        raise DataError(f"{ablation} is of {grid.tasks[0]['name']}, not of {task.name}: ablate this data")
    learned = None
    if adapt:
        train, test, _ = load_parts(data, model, vectors, (None, split), ignore_missing=ignore_missing)
        with progress_bar("training") as progress:
            learned = learn(train, test, ADAPTERS, metric=metric, seed=seed, progress=progress)
    with progress_bar("auditing") as progress:
        found = audit(
            task,
            held,
            metric=metric,
            symmetric=symmetric,
            declared=known.get("similarity"),
            model=known,
            folds=folds,
            seed=seed,
            progress=progress,
            learned=learned,
            ablation=grid,
            training=Training.load(Path(model)) if model is not None and Path(model).is_dir() else None,
        )
    if not as_json:
        _write(found, target, form)
    if save is not None:
        found.advice.scorer.save(save)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2, allow_nan=False))
    else:
        _tell(found, target, save)
    if open_it and not as_json:
        webbrowser.open(target.resolve().as_uri())


def _tell(found: Audit, target: Path, save: Path | None) -> None:
    """The verdict, what to mind, and where the report is."""
    for sentence in found.advice.verdict:
        typer.echo(sentence)
    for finding in found.advice.about("wrong"):
        typer.echo(f"Mind: {finding.sentence}")
    if found.learned is not None:
        typer.echo("If you train an adapter on these vectors:")
        for sentence in found.learned.sentences:
            typer.echo(f"  {sentence}")
    if found.ablation is not None:
        typer.echo(f"Of {len(found.ablation.rows)} ways to train one: {found.ablation.conclusion}")
    if save is not None:
        typer.echo(f"The scorer is in {save}.")
    typer.echo(f"The report is {target} ({target.stat().st_size / 1e6:.1f} MB).")


def _target(out: Path | None, form: str, save: Path | None, *, as_json: bool) -> Path:
    """Where the report goes; what cannot be written is noticed before the work, not after."""
    if form not in FORMATS:
        raise ParameterError(f"format {form!r}: choose html, md or json")
    target = out or Path(f"audit.{form}")
    for place in ([] if as_json else [target]) + ([save / "scorer.json"] if save is not None else []):
        check_writable(place)
    return target


def _write(found: Audit, target: Path, form: str) -> None:
    from offsphere.base.files import write_whole
    from offsphere.report import to_html, to_markdown

    if form == "json":
        text = json.dumps(found.to_json(), indent=2, allow_nan=False)
    else:
        text = to_html(found) if form == "html" else to_markdown(found)
    write_whole(target, text.encode("utf-8", "replace"))
