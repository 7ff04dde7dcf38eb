"""The errors a user can cause and mend: one line each, what is wrong, where, what to do."""


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


class DataError(OffsphereError):
    """A file, a judgment or a task that is not what it should be."""


class NoSuchSplitError(DataError):
    """Data that has other splits, but not the one that was asked for."""


class VectorError(OffsphereError):
    """Vectors that cannot be scored: not finite, of the wrong dimension, or not as many as their ids."""


class UnknownNameError(OffsphereError):
    """A name that stands for nothing: of a similarity, a transform, a metric, a recipe."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        """Suggest the known names that are spelled nearly like this one, or list them all where none is."""
        from difflib import get_close_matches

        near = get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
        super().__init__(f"unknown {kind} {name!r}: {hint}")


class ParameterError(OffsphereError):
    """A parameter outside the range in which its formula means something."""


class MissingExtraError(OffsphereError):
    """A part of offsphere that needs a package which is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        """Say the exact command that installs the missing extra."""
        super().__init__(f"this needs the package {package!r}: pip install 'offsphere[{extra}]'")
