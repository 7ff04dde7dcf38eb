"""Other systems that are named on the command line, as rows of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from offsphere.base.errors import OffsphereError, ParameterError

if TYPE_CHECKING:
    from offsphere.cli.options.shared_options import ModelOptions
    from offsphere.comparison.list_source import ListSource


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSystems:
    """What stands in the table beside scorers: runs of others, BM25, a judge, similarities over tokens."""

    run: Annotated[
        list[Path] | None,
        typer.Option("--run", help="A TREC run or a ranx run (.json) of another system, as a row. Repeatable."),
    ] = None
    bm25: Annotated[
        bool,
        typer.Option("--bm25", help="BM25 over the texts as a row, alone and joined with cosine (or with --fuse)."),
    ] = False
    fuse: Annotated[
        list[str] | None,
        typer.Option("--fuse", help="Join BM25 with this scorer, by ranks and by tuned scores. Repeatable. [cosine]"),
    ] = None
    judge: Annotated[
        str | None,
        typer.Option(
            "--judge",
            help="cross-encoder:M as a row, M a folder or a full name of the hub: reads pairs, ranks the nearest "
            "again.",
        ),
    ] = None
    judge_top: Annotated[
        int, typer.Option("--judge-top", min=1, help="How many documents a query the judge ranks again.")
    ] = 50
    tokens: Annotated[
        str | None,
        typer.Option(
            help="Similarities over tokens as rows: wrd, softcos, mean, maxsim, one of them as wrd(uniform), joined by "
            "commas, or all. Rankings: the first documents are ranked again by them."
        ),
    ] = None
    token_model: Annotated[
        str | None, typer.Option(help="Whose tokens: a static model or a transformer. [--model]")
    ] = None
    layer: Annotated[
        str, typer.Option("--token-layer", help="Of a transformer's tokens: last, all, or numbers such as 0,6.")
    ] = "last"
    token_top: Annotated[
        int, typer.Option("--token-top", min=2, help="How many documents a query are ranked again by their tokens.")
    ] = 100

    def sources(self, models: ModelOptions, *, ignore_missing: bool) -> list[ListSource]:
        """Make a source of lists of everything that was named; what is no run, no scorer or no name is refused at once.

        Args:
            models: Whose tokens are compared unless said, and where torch computes.
            ignore_missing: Whether to go on without what a run names and the task does not list.
        """
        from offsphere.comparison.bm25 import Bm25
        from offsphere.comparison.fusion import Fusion
        from offsphere.comparison.judge import Judge
        from offsphere.comparison.run_file import RunFile

        if self.fuse and not self.bm25:
            raise ParameterError("--fuse joins a scorer with BM25: write --bm25 too")
        sources: list[ListSource] = [RunFile(path, ignore_missing=ignore_missing) for path in self.run or ()]
        if self.bm25:
            words = Bm25()
            sources += [words, *(Fusion(words, name) for name in self.fuse or ("cosine",))]
        if self.judge is not None:
            sources.append(Judge(self.judge, self.judge_top, device=models.running.device))
        return [*sources, *self._token_rows(self.token_model or models.model, models.running.device)]

    def _token_rows(self, model: str | None, device: str | None) -> list[ListSource]:
        """The source of the similarities over tokens that were named."""
        if self.tokens is None:
            return []
        if model is None:
            raise OffsphereError("--tokens compares token vectors of a model: say which with --model or --token-model")
        from offsphere.tokens.token_rows import TokenRows

        return [TokenRows(self.tokens, model, self.layer, self.token_top, device)]
