"""The errors a user can cause and mend: one line each, what is wrong, where, what to do."""

from __future__ import annotations

import re

ENDINGS = (KeyboardInterrupt, SystemExit, GeneratorExit)  # no failures: who catches all else lets these pass
LONGEST_WORD, LONGEST_LINE = 200, 2_000  # characters of a message; an id can have millions


def one_line(text: str) -> str:
    """Write a message so that a terminal shows one readable line of it.

    What would break or redraw the line is written as an escape; words and lines without end are cut.
    """
    text = text.encode("utf-8", "backslashreplace").decode()
    text = re.sub(r"\s*\n\s*", " ", text.strip())
    text = re.sub(rf"\S{{{LONGEST_WORD + 1},}}", lambda word: cut(word.group(), LONGEST_WORD), visible(text))
    return cut(text, LONGEST_LINE)


def first_line(error: BaseException) -> str:
    """The first line of what an error of somebody else says, or its name where it says nothing."""
    lines = str(error).strip().splitlines()
    return one_line(lines[0]) if lines else type(error).__name__


def visible(text: str) -> str:
    """Write whatever is no sign that one can see, such as what a terminal obeys, as an escape."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def cut(text: str, most: int) -> str:
    """Leave the middle out of a text that is too long, and say how long it was."""
    if len(text) <= most:
        return text
    half = most // 2 - 20
    return f"{text[:half]}... ({len(text):,} characters) ...{text[-half:]}"


class OffsphereError(Exception):
    """Everything offsphere raises on purpose: a mistake that the user can mend, told in one line.

    The message says what is wrong, where (file, row, id) and what to do. The command line prints it without a traceback
    and exits with code 2. Catch this one class to handle them all.

    Example:
        >>> import offsphere as osp
        >>> try:
        ...     osp.parse_scorer("cosin")
        ... except osp.OffsphereError as error:
        ...     print(error)
        unknown similarity 'cosin': did you mean cosine?
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class DataError(OffsphereError):
    """A file, a judgment or a task that is not what it should be."""


class NoSuchSplitError(DataError):
    """Data that has other splits, but not the one that was asked for."""


class VectorError(OffsphereError):
    """Vectors that cannot be scored: not finite, of the wrong dimension, or not as many as their ids."""


class TwoWidthsError(VectorError):
    """Vectors of two widths, of two models, are to be compared without a map between them."""


class UnknownNameError(OffsphereError):
    """A name that stands for nothing: of a similarity, a transform, a metric, a recipe."""

    def __init__(self, kind: str, name: str, known: list[str], meant: str | None = None) -> None:
        """Suggest what was ``meant``, else known names spelled nearly like this one; list all where none is."""
        from difflib import get_close_matches

        spelled = {known_name.lower(): known_name for known_name in known}
        close = get_close_matches(name.lower(), list(spelled), n=3, cutoff=0.5)
        near = [meant] if meant is not None else [spelled[spelling] for spelling in close]
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
        super().__init__(f"unknown {kind} {name!r}: {hint}")


class ParameterError(OffsphereError):
    """A parameter outside the range in which its formula means something."""


class DoesNotApplyError(OffsphereError):
    """A question that makes no sense for this data; who asks everything need not hear of it."""


class MissingExtraError(OffsphereError):
    """A part of offsphere that needs a package which is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        """Say the exact command that installs the missing extra."""
        super().__init__(f"this needs the package {package!r}: pip install 'offsphere[{extra}]'")
