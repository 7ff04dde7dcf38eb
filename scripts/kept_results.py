"""Results that are kept as they come, a line of JSON each, so that a run that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.learning.ablation.probe_ends import difference_over_seeds


def kept_results(target: Path) -> list[dict[str, Any]]:
    """Read what is finished; a last line that a kill cut is left out."""
    lines = target.read_text().splitlines(keepends=True) if target.is_file() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def resume(target: Path, keys: Iterable[Sequence[Any]], make: Callable[..., dict[str, Any]]) -> Iterator[Any]:
    """Make what is not in the file of an earlier run yet, a line a result, and give all results."""
    target.parent.mkdir(parents=True, exist_ok=True)
    known = {json.dumps(line["key"]): line for line in kept_results(target)}
    with target.open("a") as file:
        file.truncate(target.read_bytes().rfind(b"\n") + 1)  # a line that a kill cut is made again
        for key in keys:
            name = json.dumps(list(key))
            if name not in known:
                known[name] = {"key": list(key), **make(*key)}
                file.write(json.dumps(known[name]) + "\n")
                file.flush()
            yield known[name]


def mean_and_deviation(values: Sequence[float], digits: int = 3) -> str:
    """Write the mean over seeds and the deviation of a single one; the mean alone where there is one seed."""
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {np.std(values, ddof=1):.{digits}f}"


def told_difference(values: Sequence[float], compared: Sequence[float], digits: int = 3) -> str:
    """Write what one training has more than another over the same seeds, its 95 % interval and its p (Student's t)."""
    if len(values) < 2:  # noqa: PLR2004  # one seed has no interval
        return f"{values[0] - compared[0]:+.{digits}f}"
    told = difference_over_seeds(np.array(values), np.array(compared))
    low, high = f"{told.low:+.{digits}f}", f"{told.high:+.{digits}f}"
    return f"{told.difference:+.{digits}f} [{low}, {high}], p = {told.p:.2g}"


def draw_by_seed(rows: Sequence[dict[str, Any]], quantities: dict[str, str], target: Path) -> None:
    """Draw every training by its name, a point a seed and a tick for their mean, a panel a quantity (a field)."""
    import altair as alt

    names = list(dict.fromkeys(row["key"][0] for row in rows))
    told = [{"training": row["key"][0], **{field: row[field] for field in quantities}} for row in rows]
    base = alt.Chart(alt.Data(values=told)).encode(y=alt.Y("training:N", sort=names, title=None))
    drawn = []
    for field, title in quantities.items():
        across = alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=False))
        ticks = base.mark_tick(thickness=2).encode(
            x=alt.X(f"mean({field}):Q", title=title, scale=alt.Scale(zero=False))
        )
        drawn.append((base.mark_point(filled=True, opacity=0.5).encode(x=across) + ticks).properties(width=190))
    alt.hconcat(*drawn).resolve_scale(y="shared").save(str(target))
