"""MovieLens-100k from its files to the page: load, factorise, compare every scorer, measure, advise, write the report.

Goal: under 60 seconds on two cores, compiling included. Skipped where the data set was not fetched
(`offsphere data download movielens-100k`).
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import offsphere as osp
from offsphere.base.errors import DataError
from offsphere.report import to_html

GOAL = 60.0


def main() -> int:
    started = time.perf_counter()
    try:
        task, vectors = osp.load_embedded("movielens-100k", model="factorize(32)")
    except DataError as error:
        print(f"skipped: {error}")
        return 0
    loaded = time.perf_counter()
    audit = osp.audit(task, vectors, model={"model": "factorize(32)"}, cache=False)
    audited = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "audit.html"
        page.write_text(to_html(audit))
        size = page.stat().st_size / 1e6
    done = time.perf_counter()
    print(f"load and factorise {loaded - started:.1f} s, audit {audited - loaded:.1f} s, page {done - audited:.1f} s")
    print(f"in all {done - started:.1f} s (goal: {GOAL:.0f} s), page of {size:.1f} MB")
    print(audit.advice.verdict[0])
    return int(done - started > GOAL)


if __name__ == "__main__":
    sys.exit(main())
