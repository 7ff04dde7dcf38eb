"""The Python that asks an engine for what a scorer ranks first, ready to be copied."""

from __future__ import annotations

from pathlib import Path

from offsphere.engines.collection import Collection, Layout
from offsphere.engines.python_text import python_text
from offsphere.engines.shipping.serving import Serving
from offsphere.engines.shipping.strategy import Strategy
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer

UNKNOWN = "scorer"  # the folder that a reader has to fill in, where nothing was saved


def query_snippet(strategy: Strategy, collection: Collection, layout: Layout, k: int, folder: Path | None) -> str:
    """Write it: ``vectors`` are what the model gives for one query, (1, dimensions); ``hits`` are ids and scores."""
    lines = _query_lines(strategy.serving, folder / "scorer" if folder is not None else None)
    return "\n".join([*lines, collection.snippet(layout, k, strategy.effort).strip(), ""])


def _query_lines(serving: Serving, saved: Path | None) -> list[str]:
    """How a query vector is made."""
    if serving.as_given:
        return ["query = vectors[0]  # as the model gives it"]
    made = "scorer.query(vectors)[0]" if serving.lowered else 'scorer.transform(vectors, "query")[0]'
    lines = ["import offsphere as osp", f"scorer = {_scorer_code(serving.scorer, saved)}", f"query = {made}"]
    if serving.augmented:
        lines = ["import numpy as np", *lines[:-1], "query = np.append(scorer.query(vectors)[0], np.float32(0))"]
    return lines


def _scorer_code(scorer: Scorer, saved: Path | None) -> str:
    """The scorer by its name where that says all, else from where it was saved."""
    plain = scorer.is_plain and not scorer.transforms and scorer.similarity.by_name
    if plain and parse_scorer(scorer.name).key == scorer.key:
        return f'osp.parse_scorer("{scorer.name}")'
    return f"osp.Scorer.load({python_text(saved if saved is not None else UNKNOWN)})"
