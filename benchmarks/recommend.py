"""MovieLens-100k from its files to the page: load, factorise, compare every scorer, measure, advise, write the report.

Goal: under 60 seconds on two cores, compiling included. Skipped where the data set was not fetched
(`offsphere data download movielens-100k`).
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from harness import Goals, quick

import offsphere as osp
from offsphere.base.errors import DataError
from offsphere.report import to_html

GOAL = 60.0  # seconds


def main() -> None:
    goals = Goals(judged=not quick(__doc__))
    started = time.perf_counter()
    try:
        task, vectors = osp.load_embedded("movielens-100k", model="factorize(32)")
    except DataError as error:
        print(f"skipped: {error}")
        goals.finish()
        return
    loaded = time.perf_counter()
    audit = osp.audit(task, vectors, model={"model": "factorize(32)"}, cache=False)
    audited = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "audit.html"
        page.write_text(to_html(audit))
        goals.note("page, MB", page.stat().st_size / 1e6)
    done = time.perf_counter()
    goals.note("load and factorise, s", loaded - started)
    goals.note("audit, s", audited - loaded)
    goals.note("page, s", done - audited)
    goals.at_most("MovieLens-100k from files to the page, s", done - started, GOAL)
    print(audit.advice.verdict[0])
    goals.finish()


if __name__ == "__main__":
    main()
