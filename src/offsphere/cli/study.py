"""``offsphere study``: many tasks and models in one table, and what decides whether length helps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from offsphere.base.errors import ParameterError
from offsphere.base.files import write_whole
from offsphere.base.interruption import told_when_interrupted
from offsphere.cli.options import shared_options as options
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.writable import check_writable
from offsphere.cli.tables.paragraphs import echo_paragraph


@with_groups
def study_command(
    tasks: Annotated[
        list[str],
        typer.Argument(
            help="Tasks, as audit takes them, or DATA=DIR where the vectors are in a folder. Or one .toml file.",
            show_default=False,
        ),
    ],
    model: Annotated[list[str] | None, typer.Option(help=f"Repeatable. {options.MODEL_HELP}")] = None,
    *,
    running: options.RuntimeOptions,
    out: Annotated[Path, typer.Option(help="Folder for the page, the table and the audits.")] = Path("study"),
    adapt: Annotated[
        bool, typer.Option("--adapt", help="Train adapters too, where there is a train split to learn from.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Cells that are audited at a time. [1]")] = 1,
    ignore_missing: options.IgnoreMissing = False,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of folds, intervals and tests.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Audit tasks x models, each once, and say what predicts that length helps. A killed study goes on."""
    from offsphere.auditing.study.run_study import study
    from offsphere.auditing.study.study_cell import cells_of, read_cells
    from offsphere.report import to_html
    from offsphere.report.study_page import study_to_html

    runtime = running.runtime
    if len(tasks) == 1 and tasks[0].endswith(".toml"):
        if model or adapt or not runtime.is_usual:
            raise ParameterError(
                f"{tasks[0]} says itself which models there are and what to adapt: leave the options out"
            )
        cells = read_cells(Path(tasks[0]))
    else:
        cells = cells_of(tasks, model or [], adapt=adapt, ignore_missing=ignore_missing, runtime=runtime)
    check_writable(out / "study.json")
    kept = f"what was audited so far is in {out}: run the same command again, it goes on from there"
    with told_when_interrupted(lambda: kept), progress_bar("auditing") as progress:
        done = study(cells, out, seed=seed, jobs=jobs, to_page=to_html, progress=progress)
    values = json.dumps(done.to_json(), indent=2, allow_nan=False)
    write_whole(out / "study.json", values.encode())
    write_whole(out / "study.html", study_to_html(done).encode("utf-8", "replace"))
    if as_json:
        typer.echo(values)
        return
    from offsphere.cli.tables.study_table import print_study

    print_study(done)
    echo_paragraph(f"The page is {out / 'study.html'}; the table is {out / 'study.json'}")
