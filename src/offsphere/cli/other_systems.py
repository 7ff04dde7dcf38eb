"""Other systems that are named on the command line, as rows of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from offsphere.base.errors import OffsphereError

if TYPE_CHECKING:
    from offsphere.comparison.list_source import ListSource


def sources_of(runs: Sequence[Path] | None, *, ignore_missing: bool) -> list[ListSource]:
    """Make a source of lists of everything that was named; a file that is no run is refused at once.

    Args:
        runs: run files.
        ignore_missing: go on without what a run names and the task does not list.
    """
    from offsphere.comparison.run_file import RunFile

    return [RunFile(path, ignore_missing=ignore_missing) for path in runs or ()]


def token_rows_of(tokens: str | None, model: str | None, layer: str, rerank: int) -> list[ListSource]:
    """Make a source of lists of the similarities over tokens that were named; what is no name is refused at once.

    Args:
        tokens: their names, joined by commas.
        model: whose tokens.
        layer: of a transformer.
        rerank: how many documents a query are ranked again.
    """
    if tokens is None:
        return []
    if model is None:
        raise OffsphereError("--tokens compares token vectors of a model: say which with --model or --token-model")
    from offsphere.tokens.token_rows import TokenRows

    return [TokenRows(tokens, model, layer, rerank)]
