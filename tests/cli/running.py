"""The command as a user runs it: in a process of its own, or in this one where that is quicker."""

from __future__ import annotations

from typer.testing import CliRunner

from offsphere.cli import app
from tests.processes import run_command as run  # noqa: F401  # in a process of its own


def run_here(*arguments):
    """In this process; errors that a user can mend are raised."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def printed(*arguments):
    """What the command prints on standard output, run in this process."""
    return run_here(*arguments).stdout
