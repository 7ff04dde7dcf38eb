"""The choice as what was tested: its gain is that of following it, whatever scorer it fell on in each try."""

from __future__ import annotations

from offsphere.wording.written_numbers import Numbers


def the_choice(n: Numbers, name: str) -> str:
    """Name the choice as what gains, with the scorer that it falls on when all are asked, and how often it fell on it.

    Args:
        n: ``chosen_share`` of ``choices`` fell on that scorer.
        name: of the scorer, as it stands in a sentence.

    Returns:
        What gains: ``following the choice (whiten(0.5) + cosine, chosen in 79 of 100 tries)``.
    """
    often = tries(n)
    return f"following the choice ({name}{f', chosen in {often}' if often else ''})"


def gains_apart(*, choice: bool, boost: bool) -> str:
    """Say why gains that stand beside each other differ.

    Args:
        choice: Whether that of the choice stands there too.
        boost: Whether that of a boost per document does.

    Returns:
        A sentence.
    """
    if not choice and not boost:
        return "The first of many rows is a little too good, since its place in the table was not held out."
    parts = ["that of a row, whose place in the table was not held out"]
    parts += ["that of the choice, where this was held out too"] if choice else []
    parts += ["that of a boost per document, which is no scorer of the table"] if boost else []
    return f"Gains differ because they are of different things: {', '.join(parts[:-1])}, and {parts[-1]}."


def tries(n: Numbers) -> str:
    """Tell in how many tries the choice fell on the scorer; nothing where it always did."""
    times = round(n["chosen_share"] * n["choices"])
    return f"{f'{times:,}' if times else 'none'} of {n['choices']:,} tries" if times < n["choices"] else ""
