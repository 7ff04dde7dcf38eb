"""Results that are kept as they come, a line of JSON each, so that a run that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np


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
