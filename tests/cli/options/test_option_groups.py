"""Groups of options: typer sees an option a field, and the command gets the group."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from offsphere.cli.options.option_groups import with_groups

Strength = Annotated[int, typer.Option("--strength", "-s", min=1, help="How strong.")]


@dataclass(frozen=True)
class Taste:
    milk: Annotated[bool, typer.Option("--milk", help="With milk.")] = False
    spices: Annotated[list[str] | None, typer.Option("--spice", help="Repeatable.")] = None


@dataclass(frozen=True)
class Drink:
    strength: Strength
    taste: Taste = field(default_factory=Taste)
    cups: Annotated[int, typer.Option(help="How many.")] = 1


@with_groups
def grouped(name: str, *, drink: Drink, hot: Annotated[bool, typer.Option(help="Or cold.")] = True) -> None:
    """Brew."""
    typer.echo(f"{name} {drink} {hot}")


def plain(
    name: str,
    *,
    strength: Strength,
    milk: Annotated[bool, typer.Option("--milk", help="With milk.")] = False,
    spices: Annotated[list[str] | None, typer.Option("--spice", help="Repeatable.")] = None,
    cups: Annotated[int, typer.Option(help="How many.")] = 1,
    hot: Annotated[bool, typer.Option(help="Or cold.")] = True,
) -> None:
    """Brew."""
    typer.echo(f"{name} {Drink(strength, Taste(milk, spices), cups)} {hot}")


def said(command, *typed):
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command("brew")(command)
    result = CliRunner().invoke(app, list(typed), env={"COLUMNS": "120"})
    return result.exit_code, result.output


@pytest.mark.parametrize(
    "typed",
    [
        ("--help",),
        ("tea", "-s", "3"),
        ("tea", "--strength", "2", "--milk", "--spice", "clove", "--spice", "mint", "--cups", "4", "--no-hot"),
        ("tea",),  # an option without a default is missing
        ("tea", "-s", "0"),
        ("tea", "-s", "1", "--sugar"),
    ],
)
def test_a_group_is_what_typer_makes_of_a_command_with_its_options_written_out(typed):
    assert said(grouped, *typed) == said(plain, *typed)


def test_two_options_of_one_name_are_refused():
    with pytest.raises(ValueError, match="milk"):

        @with_groups
        def twice(*, milk: bool = False, taste: Taste) -> None:
            """Brew."""
