"""``offsphere doctor``: what is installed here, and what each extra gives."""

from __future__ import annotations

import json

import typer

from offsphere.base.installed import installation
from offsphere.cli.options import shared_options as options


def doctor_command(as_json: options.AsJson = False) -> None:
    """Say what is installed, what each extra would give, and how to get it."""
    from offsphere.base.plain import plain

    here = installation()
    if as_json:
        extras = [plain(extra) | {"there": extra.there, "cure": extra.cure} for extra in here.extras]
        typer.echo(json.dumps(plain(here) | {"extras": extras}, indent=2))
        return
    typer.echo(f"offsphere {here.offsphere}, Python {here.python}, {here.system}, {here.cores} cores")
    typer.echo(f"cache: {here.cache}")
    if here.offline:
        typer.echo("HF_HUB_OFFLINE is set: models and tasks of the hub come from its cache alone")
    typer.echo("")
    for package, known in here.core.items():
        typer.echo(f"{package:<20} {known or 'MISSING: pip install offsphere again'}")
    typer.echo("")
    for extra in here.extras:
        missing = ", ".join(name for name, known in extra.versions.items() if known is None)
        state = "yes" if extra.there else f"no ({missing}): {extra.cure}"
        typer.echo(f"{extra.name:<12} {extra.gives}\n{'':<12} {state}")
