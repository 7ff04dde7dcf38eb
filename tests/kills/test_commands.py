"""Every command that writes is killed: none is forgotten when it is new, and none that is gone is counted."""

from __future__ import annotations

import shlex

import pytest
import typer

from offsphere.cli import app
from tests.kills.commands import COMMANDS, NOT_KILLED
from tests.kills.test_kills import IN_EVERY_RUN
from tests.processes import ROOT

# the options by which commands write; what else a command writes, it writes without being asked
WRITING = {"--out", "--save", "--state", "--states", "--export", "--to", "--figures"}


def commands_of(group, name=""):
    """All commands by what is typed, each with the options by which it writes."""
    for word, command in getattr(group, "commands", {"": group}).items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{name}{word} ")
        else:
            yield f"{name}{word}", WRITING & {option for parameter in command.params for option in parameter.opts}


ALL = dict(commands_of(typer.main.get_command(app)))


def typed_of(name):
    """The command that is typed, and the options with it; a name of ours such as ``export, FAISS`` says neither."""
    words = shlex.split(COMMANDS[name].typed.format(data="data", out="out"))
    command = max((known for known in ALL if words[: len(known.split())] == known.split()), key=len)
    return command, {word for word in words if word.startswith("--")}


TYPED = [typed_of(name) for name in COMMANDS]


@pytest.mark.parametrize("command", ALL)
def test_a_command_is_killed_or_there_is_a_reason_why_not(command):
    killed = [options for name, options in TYPED if name == command]
    assert bool(killed) != (command in NOT_KILLED), f"{command}: add it to COMMANDS, or say in NOT_KILLED why not"
    if killed:
        left = ALL[command] - set().union(*killed)
        reasons = {option for option in ALL[command] if f"{command} {option}" in NOT_KILLED}
        assert left == reasons, f"{command}: {left ^ reasons} is in neither list, or in both"


def test_nothing_is_excused_that_is_not_there():
    options = {f"{command} {option}" for command, options in ALL.items() for option in options}
    assert NOT_KILLED.keys() <= ALL.keys() | options


def test_groups_of_commands_are_looked_into():
    assert {"data export", "factorize demo", "audit", "cache clear"} <= ALL.keys()
    assert ALL["audit"] == {"--out", "--save", "--export", "--states"}
    assert ALL["data info"] == set()


def test_pages_say_how_many_commands_are_killed_and_which_in_every_run():
    assert set(IN_EVERY_RUN) <= COMMANDS.keys()
    for page in ("Makefile", "CONTRIBUTING.md", "docs/promises.md"):
        assert f"{len(COMMANDS)} commands" in (ROOT / page).read_text(), page
    promises = " ".join((ROOT / "docs" / "promises.md").read_text().split())
    assert f"in every run: {'; '.join(IN_EVERY_RUN)}." in promises
