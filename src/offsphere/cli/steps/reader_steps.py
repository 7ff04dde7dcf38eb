"""``--reader`` of ``offsphere compare``: a reader answers from what each scorer finds, and is compared by that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from offsphere.base.errors import ParameterError
from offsphere.cli.progress_bar import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offsphere.answering.asking import AskingPlan
    from offsphere.answering.read_answers import ReaderComparison
    from offsphere.data.task import Task, TaskVectors
    from offsphere.scoring.scorer import Scorer


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """Who reads what was found, and how much of it."""

    reader: Annotated[
        str | None,
        typer.Option(
            "--reader",
            help="Also have a reader answer from what each scorer finds: http://HOST:PORT/v1 (as OpenAI's; the key is "
            "read from OFFSPHERE_READER_KEY or OPENAI_API_KEY) or callable:module:function. Costs a prompt a query and "
            "scorer.",
        ),
    ] = None
    reader_model: Annotated[str | None, typer.Option("--reader-model", help="What the endpoint calls the model.")] = (
        None
    )
    passages: Annotated[int, typer.Option("--passages", min=1, max=100, help="How many passages the reader sees.")] = 5
    reader_workers: Annotated[
        int, typer.Option("--reader-workers", min=1, max=256, help="How many prompts are asked at a time.")
    ] = 4

    def request(self) -> ReaderRequest | None:
        """What was typed, checked before any file is read; nothing where no reader is named."""
        if self.reader is None:
            if self.reader_model is not None:
                raise ParameterError("--reader-model names the model of a reader: say where it is with --reader")
            return None
        from offsphere.answering.reader import load_reader

        load_reader(self.reader, self.reader_model)
        return ReaderRequest(self.reader, self.reader_model, self.passages, self.reader_workers)


class ReaderRequest(NamedTuple):
    """What was typed of a reader."""

    name: str
    model: str | None
    passages: int
    workers: int

    def run(
        self, task: Task, vectors: TaskVectors, scorers: Sequence[Scorer] | None, by: str | None, seed: int
    ) -> ReaderComparison:
        """Say what it will cost, ask, and compare; without scorers the dot product is compared with cosine."""
        from offsphere.answering.read_answers import read_answers
        from offsphere.answering.reader import load_reader

        def tell(plan: AskingPlan) -> None:
            typer.echo(f"reader {self.name}: {plan.sentence}", err=True)

        with progress_bar("reading") as progress:
            return read_answers(
                task,
                vectors,
                load_reader(self.name, self.model),
                scorers or ["dot"],
                passages=self.passages,
                workers=self.workers,
                by=by,
                seed=seed,
                before=tell,
                progress=progress,
            )


def print_reading(result: ReaderComparison) -> None:
    """Print both tables, and what failed."""
    from offsphere.cli.tables.comparison_table import print_comparison

    for table in (result.exact, result.f1):
        typer.echo()
        print_comparison(table, every_row=True)
    for sentence in result.sentences:
        typer.echo(f"warning: {sentence}.", err=True)
