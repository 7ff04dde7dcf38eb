"""Sentences on standard output in lines that can be read: at most 80 columns, whether or not somebody watches."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable

import typer

from offsphere.wording.headline import split_headline

WIDTH = 80
TABLE_WIDTH = 100  # columns that a table may take
INDENT = "  "
_COMMAND = re.compile("`[^`]*`")  # which somebody copies, and which must stand in one line
_KEPT = "\N{NO-BREAK SPACE}"


def paragraph(text: str, first: str = "", others: str | None = None) -> str:
    """Break a text into lines; a path longer than a line, and a command in backticks, stay whole.

    Args:
        text: One or more sentences.
        first: What the first line begins with.
        others: What all other lines begin with; the same unless said.

    Returns:
        The lines, without a line feed at the end.

    Example:
        >>> print(paragraph("one two three " * 7, "- ", "  "))
        - one two three one two three one two three one two three one two three one two
          three one two three
    """
    return textwrap.fill(
        _COMMAND.sub(lambda command: command.group().replace(" ", _KEPT), text),
        min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns),
        initial_indent=first,
        subsequent_indent=first if others is None else others,
        break_long_words=False,
        break_on_hyphens=False,
    ).replace(_KEPT, " ")


def echo_paragraph(text: str, first: str = "", others: str | None = None) -> None:
    """Print a text in lines that can be read; the arguments are those of ``paragraph``."""
    typer.echo(paragraph(text, first, others))


def echo_verdict(sentences: Iterable[str]) -> None:
    """Print sentences one below the other: what to do in a line of its own, what it rests on below it."""
    for number, sentence in enumerate(sentences):
        if number:
            typer.echo()
        headline = split_headline(sentence)
        typer.secho(paragraph(headline.first), bold=bool(headline.rest))
        if headline.rest:
            typer.echo(paragraph(headline.rest, INDENT))


def echo_items(label: str, sentences: Iterable[str]) -> None:
    """Print sentences under a label, each after a dash; nothing where there are none."""
    listed = list(sentences)
    if not listed:
        return
    typer.echo()
    typer.secho(f"{label}:", bold=True)
    for sentence in listed:
        typer.echo(paragraph(sentence, "- ", INDENT))
