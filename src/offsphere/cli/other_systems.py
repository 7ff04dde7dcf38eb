"""Other systems that are named on the command line, as rows of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from offsphere.base.errors import OffsphereError, ParameterError

if TYPE_CHECKING:
    from offsphere.comparison.list_source import ListSource


def sources_of(
    runs: Sequence[Path] | None,
    *,
    bm25: bool = False,
    fuse: Sequence[str] | None = None,
    judge: tuple[str, int] | None = None,
    ignore_missing: bool = False,
) -> list[ListSource]:
    """Make a source of lists of everything that was named; what is no run or no scorer is refused at once.

    Args:
        runs: run files.
        bm25: whether BM25 is a row.
        fuse: names of the scorers that it is joined with; cosine unless said.
        judge: a cross-encoder, and how many documents a query it ranks again.
        ignore_missing: go on without what a run names and the task does not list.
    """
    from offsphere.comparison.bm25 import Bm25
    from offsphere.comparison.fusion import Fusion
    from offsphere.comparison.judge import Judge
    from offsphere.comparison.run_file import RunFile

    if fuse and not bm25:
        raise ParameterError("--fuse joins a scorer with BM25: write --bm25 too")
    sources: list[ListSource] = [RunFile(path, ignore_missing=ignore_missing) for path in runs or ()]
    if bm25:
        words = Bm25()
        sources += [words, *(Fusion(words, name) for name in fuse or ("cosine",))]
    return [*sources, *([Judge(*judge)] if judge is not None else [])]


def token_rows_of(tokens: str | None, model: str | None, layer: str, top: int) -> list[ListSource]:
    """Make a source of lists of the similarities over tokens that were named; what is no name is refused at once.

    Args:
        tokens: their names, joined by commas.
        model: whose tokens.
        layer: of a transformer.
        top: how many documents a query are ranked again.
    """
    if tokens is None:
        return []
    if model is None:
        raise OffsphereError("--tokens compares token vectors of a model: say which with --model or --token-model")
    from offsphere.tokens.token_rows import TokenRows

    return [TokenRows(tokens, model, layer, top)]
