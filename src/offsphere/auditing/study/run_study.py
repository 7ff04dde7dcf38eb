"""Audits over tasks and models, each kept as soon as it is there, and what they say together."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from offsphere.auditing.run import Audit, audit
from offsphere.auditing.study.meta_analysis import MetaAnalysis, meta_analysis
from offsphere.auditing.study.study_cell import StudyCell
from offsphere.auditing.study.study_row import StudyRow, row_of
from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.base.plain import plain
from offsphere.base.progress import Progress, in_phase
from offsphere.base.reading.records import record_of
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.base.short_repr import short_repr
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.learn import learn
from offsphere.learning.loading import load_parts

CELLS = "audits"  # the folder of rows and of the pages of audits
GRID = tuple(Recipe(normalize=sides) for sides in ("both", "query", "document", "none"))  # of adapters, where asked for
ToPage = Callable[[Audit], str]


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """The rows of a study, what they say together, and the cells that could not be audited, with the reason.

    Attributes:
        rows: One for each task under each model.
        meta: What decides over all of them whether length helps.
        failed: The label of each cell without a row, and why.

    Example:
        >>> import tempfile
        >>> import offsphere as osp
        >>> from offsphere.auditing.study.study_cell import cells_of
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rows = [f"{n % 5},red {n},blue {n % 7}" for n in range(30)]
        ...     with open(f"{folder}/pairs.csv", "w") as table:
        ...         print("score,sentence1,sentence2", *rows, sep=chr(10), file=table)
        ...     made = osp.study(cells_of([f"{folder}/pairs.csv"], ["wordllama"]), f"{folder}/study")
        >>> made.meta.sentences[0]
        'One task is too few to say anything of others: give at least 5.'
    """

    rows: Sequence[StudyRow]
    meta: MetaAnalysis
    failed: Mapping[str, str]

    __repr__ = short_repr

    def to_json(self) -> dict[str, Any]:
        """The table, the meta-analysis and the failures, as plain values for machines."""
        return {"rows": plain(list(self.rows)), "meta": self.meta.to_json(), "failed": dict(self.failed)}


def study(
    cells: Sequence[StudyCell],
    out: Path | str,
    *,
    seed: int = 0,
    jobs: int = 1,
    to_page: ToPage | None = None,
    progress: Progress | None = None,
) -> Study:
    """Audit every cell that is not known yet, and analyse all of them together.

    A cell is kept in the folder as soon as it is audited, under a digest of everything its answer depends on: a study
    that was killed goes on, and one that is there is drawn again at once. A cell that cannot be audited is named with
    its reason, and tried again next time.

    Args:
        cells: Tasks and models, as ``cells_of`` or ``read_cells`` gives them.
        out: The folder of the study.
        seed: Of folds, intervals and tests.
        jobs: How many cells are audited at a time, each in a process of its own.
        to_page: Makes the report of an audit, which is kept beside its row; a function that can be imported.
        progress: Called now and then with how far it is.

    Returns:
        The table and what it says.

    Raises:
        ParameterError: ``jobs`` is below one.
        OffsphereError: Where no cell could be audited: why the first could not.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> from offsphere.auditing.study.study_cell import cells_of
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with open(f"{folder}/pairs.csv", "w") as table:
        ...         print("score,sentence1,sentence2", file=table)
        ...         for n in range(30):
        ...             print(f"{n % 5},red {n},blue {n % 7}", file=table)
        ...     made = study(cells_of([f"{folder}/pairs.csv"], ["wordllama"]), f"{folder}/study")
        >>> made.rows[0].task.endswith("pairs"), made.rows[0].symmetric, list(made.failed)
        (True, True, [])
    """
    if jobs < 1:
        raise ParameterError(f"jobs = {jobs}: at least one cell is audited at a time")
    folder = Path(out) / CELLS
    failed: dict[str, str] = {}
    rows = []
    for number, (cell, result) in enumerate(_results(cells, folder, seed, jobs, to_page, progress)):
        if progress is not None:
            progress(number + 1, len(cells), cell.label)
        if isinstance(result, str):
            failed[cell.label] = result
        else:
            rows.append(result)
    if not rows:
        raise OffsphereError(next(iter(failed.values())))
    return Study(rows, meta_analysis(rows), failed)


def _results(
    cells: Sequence[StudyCell], folder: Path, seed: int, jobs: int, to_page: ToPage | None, progress: Progress | None
) -> Any:
    """Each cell with its row, or why it has none; those that are not known are shared out among processes."""
    if jobs == 1:
        for cell in cells:
            yield cell, _row_or_reason(cell, folder, seed, to_page, in_phase(progress, cell.label))
        return
    with ProcessPoolExecutor(jobs, get_context("spawn"), _end_at_once_when_interrupted) as pool:
        futures = [pool.submit(_row_or_reason, cell, folder, seed, to_page) for cell in cells]
        try:
            for cell, future in zip(cells, futures, strict=True):
                yield cell, future.result()
        except BaseException:  # an interruption too: what was not begun is not begun any more
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_at_once_when_interrupted() -> None:
    """Let a worker end without a word when somebody presses Ctrl-C: whoever gave it work tells what is kept."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _row_or_reason(
    cell: StudyCell, folder: Path, seed: int, to_page: ToPage | None, progress: Progress | None = None
) -> StudyRow | str:
    try:
        return row_of_cell(cell, folder, seed, to_page, progress)
    except OffsphereError as error:
        return str(error)


def row_of_cell(
    cell: StudyCell, folder: Path, seed: int = 0, to_page: ToPage | None = None, progress: Progress | None = None
) -> StudyRow:
    """The row of a cell: read where it is kept, else audited and kept.

    Args:
        cell: One task under one model.
        folder: Where rows and pages are kept.
        seed: Of folds, intervals and tests.
        to_page: Makes the report of an audit.
        progress: Called now and then with how far it is.

    Returns:
        The row.
    """
    source = cell.source
    task = source.task(cell.split)
    kept = kept_row(folder, cell.question(task, seed), with_page=to_page is not None)
    if kept is not None:
        return kept
    vectors = source.vectors_of(task, progress)
    question = cell.question(task, seed, vectors)
    kept = kept_row(folder, question, with_page=to_page is not None)
    if kept is not None:
        return kept
    learned = None
    if cell.adapt:
        parts = load_parts(source, split=cell.split, judged=(task, vectors), progress=progress)
        learned = learn(
            parts.train, parts.test, GRID, metric=cell.metric, seed=seed, progress=progress, device=cell.runtime.device
        )
    made_by = source.made_by(task)
    symmetric = task.symmetric if cell.symmetric is None else cell.symmetric
    done = audit(
        task,
        vectors,
        metric=cell.metric,
        symmetric=symmetric,
        declared=made_by.get("similarity"),
        model=made_by,
        seed=seed,
        learned=learned,
        progress=progress,
    )
    row = row_of(done, cell.name, cell.model_name)
    files = {}
    if to_page is not None:
        row = replace(row, page=f"{CELLS}/{question}.html")
        files = {f"{question}.html": to_page(done).encode("utf-8", "replace")}
    folder.mkdir(parents=True, exist_ok=True)
    write_sealed(folder / f"{question}.json", plain(asdict(row)), files)
    return row


def kept_row(folder: Path, question: str | None, *, with_page: bool) -> StudyRow | None:
    """The row that is kept for a question.

    Args:
        folder: Of rows and pages.
        question: Its digest; nothing where it is not known.
        with_page: Whether the page of the audit is needed too.

    Returns:
        The row; nothing where there is none, or it is damaged, or lacks its page.
    """
    path = folder / f"{question}.json"
    if question is None or not path.exists():
        return None
    try:
        row = record_of(StudyRow, read_sealed(path), str(path))
    except DataError:
        return None
    return row if row.page is not None or not with_page else None
