"""How the command ends: whatever goes wrong is one line on standard error, and an exit code that says whose turn it is.

2: the user can mend it. 70: it is a bug of ours. 130: somebody pressed Ctrl-C.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from offsphere.base.errors import OffsphereError, first_line, one_line
from offsphere.base.extras import missing_extra

USER, BUG, INTERRUPTED = 2, 70, 130


class Interrupted(Exception):  # noqa: N818  # it is no error
    """Somebody pressed Ctrl-C; typer would end at a KeyboardInterrupt without a word."""


class Commands(TyperGroup):
    """The commands. One that was interrupted, or typed wrong, says so to whoever ends the program."""

    def make_context(self, *given: Any, **options: Any) -> Any:
        """Read what was typed before the command."""
        with _told_in_one_line():
            return super().make_context(*given, **options)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was typed."""
        try:
            with _told_in_one_line():
                return super().invoke(ctx)
        except KeyboardInterrupt as interruption:
            raise Interrupted(*getattr(interruption, "__notes__", [])) from interruption


@contextmanager
def _told_in_one_line() -> Iterator[None]:
    """Turn what typer draws a box around into an error of ours; a group without a command still shows its help."""
    wrong_use: Any = typer.BadParameter.__mro__[1]  # UsageError, of click or of typer's own copy of it
    try:
        yield
    except wrong_use as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        context: Any = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "offsphere"
        said = error.format_message().rstrip(".")
        raise OffsphereError(f"{said}: {command} --help lists what there is") from error


@contextmanager
def one_line_endings(*, debug: bool) -> Iterator[None]:
    """End the program with one line for whatever the work inside raises; with ``debug`` also show where it happened."""
    _prepare(debug=debug)
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # a full device is noticed here, and not after the last line of Python
    except OffsphereError as error:
        _end(USER, str(error), debug=debug)
    except ImportError as error:
        missing = missing_extra(error)
        _end(USER, str(missing), debug=debug) if missing is not None else _end(BUG, _bug(error), debug=debug)
    except (KeyboardInterrupt, Interrupted) as interruption:
        kept = interruption.args or getattr(interruption, "__notes__", [])
        _end(INTERRUPTED, "; ".join(["stopped", *map(str, kept)]), debug=debug)
    except BrokenPipeError:  # whoever read has seen enough
        _forget_output()
        sys.exit(1)
    except OSError as error:
        _forget_output()
        where = f"{error.filename}: " if error.filename is not None else ""
        _end(USER, f"{where}{error.strerror or first_line(error)}", debug=debug)
    except MemoryError:
        _end(USER, "the memory of this machine is not enough: take fewer vectors, or another machine", debug=debug)
    except (SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001  # the last one there is; a library in Rust raises what is no Exception
        _end(BUG, _bug(error), debug=debug)


def _prepare(*, debug: bool) -> None:
    """Keep back the warnings of libraries, and let whatever is printed be printed."""
    if not debug:
        warnings.simplefilter("ignore")  # they warn their callers, and that is not the user
        os.environ.setdefault("PYTHONWARNINGS", "ignore")  # in processes that share the work, too
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name of a file may hold bytes that are no signs
        sys.stdout.reconfigure(errors="backslashreplace")


def _bug(error: BaseException) -> str:
    """What is said of an error that nobody thought of."""
    reason = f"{type(error).__name__}: {first_line(error)}"
    return f"this is a bug of offsphere ({reason}): run it again with --debug and report what it shows"


def _end(code: int, message: str, *, debug: bool) -> NoReturn:
    """Print the line and leave."""
    if debug:
        import traceback

        traceback.print_exc()
    with suppress(OSError):
        typer.echo(f"offsphere: {one_line(message)}", err=True)
    with suppress(OSError):
        sys.stdout.flush()
    sys.exit(code)


def _forget_output() -> None:
    """Let what is still to be printed go nowhere: Python would try again at its end, and complain."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
