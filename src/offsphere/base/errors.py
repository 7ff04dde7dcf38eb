"""The errors a user can cause and mend: one line each, what is wrong, where, what to do."""


class OffsphereError(Exception):
    """Base of everything offsphere raises on purpose. The command line prints it as one line and exits with 2."""


class DataError(OffsphereError):
    """A file, a judgment or a task is not what it should be."""


class NoSuchSplitError(DataError):
    """Data that has other splits than the one asked for."""


class VectorError(OffsphereError):
    """Vectors that cannot be scored: not finite, of the wrong dimension, or not as many as their ids."""


class UnknownNameError(OffsphereError):
    """A similarity, transform, metric or split that does not exist."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        """Name the near matches if there are any, all the known names if there are none."""
        from difflib import get_close_matches

        near = get_close_matches(name, known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known)}"
        super().__init__(f"unknown {kind} {name!r}: {hint}")


class ParameterError(OffsphereError):
    """A parameter outside the range in which its formula means something."""


class MissingExtraError(OffsphereError):
    """A part that needs a package which is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        """Say the exact command that installs the missing extra."""
        super().__init__(f"this needs the package {package!r}: pip install 'offsphere[{extra}]'")
