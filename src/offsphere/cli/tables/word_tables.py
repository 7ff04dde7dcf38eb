"""Lengths of tokens as tables for people."""

from __future__ import annotations

from rich.text import Text

from offsphere.cli.tables.paragraphs import paragraph
from offsphere.cli.tables.shape_tables import print_rows, table_console
from offsphere.geometry.words import Words


def print_words(words: Words) -> None:
    """Print what length goes with, then the longest and the shortest tokens."""
    console = table_console()
    title = (
        f"{words.model}: {words.texts:,} {words.side} texts, {words.tokens:,} tokens, {words.compared:,} distinct ones "
        f"that occur {words.least} times or more"
    )
    console.print(Text(paragraph(title), style="bold"), soft_wrap=True)
    console.print(Text(paragraph(words.sentence, "- ", "  ")), soft_wrap=True)
    measured = {
        "length and frequency": words.frequency,
        "squared length and information": words.information,
        "the same, less the mean vector": words.centred,
        "frequency and information": words.frequency_and_information,
    }
    rows = [[name, str(correlation.spearman), str(correlation.pearson)] for name, correlation in measured.items()]
    print_rows(console, "what goes together", ["", "Spearman", "Pearson"], rows)
    heads = ["token", "length", "times", "information"]
    for title, some in (("longest tokens", words.longest), ("shortest tokens", words.shortest)):
        cells = [[repr(w.token)[1:-1], f"{w.length:.3f}", f"{w.count:,}", f"{w.information:.3f}"] for w in some]
        print_rows(console, title, heads, cells)
