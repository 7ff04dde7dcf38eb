"""The charts of the report, for whoever has the result itself: Altair charts in the colours of a light page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import singledispatch
from types import MappingProxyType
from typing import Any

from offsphere.auditing.run import Audit
from offsphere.base.errors import OffsphereError, UnknownNameError
from offsphere.comparison.table import Comparison
from offsphere.geometry.shape import Geometry
from offsphere.learning.ablation.ablation import Ablation
from offsphere.learning.adapters.learn import Learned
from offsphere.report import learn_figures, scorer_figures, shape_figures
from offsphere.report.figure import Figure
from offsphere.report.page import figures_of

COLOURS: Mapping[str, str] = MappingProxyType({"@accent": "#2563c9", "@second": "#c2601a", "@muted": "#6f757d"})
WIDTH = 560  # pixels; a page gives its charts the width it has


def chart_of_result(result: Any, name: str | None = None) -> Any:
    """Draw a figure of a result.

    Args:
        result: A comparison, a geometry, an audit, adapters that were learned or an ablation.
        name: Which figure; the first there is unless said.

    Returns:
        A chart of Altair.

    Raises:
        UnknownNameError: The result has no figure of that name.
        OffsphereError: Nothing of it can be drawn.

    Example:
        >>> import numpy as np, offsphere as osp
        >>> shape = osp.measure(np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32))
        >>> type(shape.plot("spectrum")).__name__
        'Chart'
    """
    import altair as alt

    figures = {figure.name: figure for figure in figures_of_result(result)}
    if not figures:
        raise OffsphereError(f"there is nothing to draw of this {type(result).__name__}")
    if name is not None and name not in figures:
        raise UnknownNameError("figure", name, list(figures))
    figure = figures[name] if name is not None else next(iter(figures.values()))
    text = json.dumps({**figure.spec, "width": WIDTH})
    for mark, colour in COLOURS.items():
        text = text.replace(f'"{mark}"', f'"{colour}"')
    return alt.Chart.from_dict(json.loads(text)).properties(title=figure.title)


@singledispatch
def figures_of_result(result: object) -> list[Figure]:  # noqa: ARG001  # of what has no line below
    """All figures that can be drawn of a result, the most telling first; none of what is not known here."""
    return []


figures_of_result.register(Audit, figures_of)
figures_of_result.register(Geometry, shape_figures.figures_of_shape)


@figures_of_result.register
def _(result: Comparison) -> list[Figure]:
    return [scorer_figures.forest_of_table(result, result.chosen)]


@figures_of_result.register
def _(result: Learned) -> list[Figure]:
    return [learn_figures.learned_forest(result), *learn_figures.learned_tracks(result)]


@figures_of_result.register
def _(result: Ablation) -> list[Figure]:
    return [learn_figures.grid_forest(result), *learn_figures.grid_tracks(result)]
