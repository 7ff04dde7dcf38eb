"""``offsphere cache``: what is kept between runs, how large it is, and how to be rid of it."""

from __future__ import annotations

import json
import sys
import time
from typing import Annotated, Any

import typer

from offsphere.base.cache_home import cache_home
from offsphere.base.errors import ParameterError
from offsphere.cli.options import shared_options as options

cache_app = typer.Typer(help="Show or empty what is kept between runs.", no_args_is_help=True)
NO_STORES = ("audits", "states", "answers", "served", "data")  # folders of the cache that are no vectors of a task
UNITS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


@cache_app.command("info")
def cache_info_command(as_json: options.AsJson = False) -> None:
    """Say what is kept between runs, where, and how large it is."""
    info = _cache_info()
    if as_json:
        typer.echo(json.dumps(info, indent=2))
        return
    audits, vectors = info["audits"], info["vectors"]
    typer.echo(f"{info['folder']}")
    others = f", {audits['of_other_versions']:,} of them by other versions" if audits["of_other_versions"] else ""
    typer.echo(
        f"audits   {audits['count']:,} ({_size(audits['bytes'])} of at most {_size(audits['most_bytes'])}){others}"
    )
    states = info["states"]
    if states["count"]:
        typer.echo(f"states   {states['count']:,} ({_size(states['bytes'])}), of runs over shards that have not ended")
    typer.echo(f"vectors  {len(vectors['stores']):,} ({_size(vectors['bytes'])})")
    for store in vectors["stores"]:
        used = f"used {store['days_unused']:,} days ago" if store["days_unused"] else "used today"
        typer.echo(f"         {store['name']}  {_size(store['bytes'])}, {used}")


@cache_app.command("clear")
def clear_command(
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Remove embedded vectors too: they must be made again.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before vectors are removed.")] = False,
) -> None:
    """Remove what audits and runs over shards kept, and compute again; vectors stay unless one says so."""
    from offsphere.base.cached_folders import cached_folders, remove_folder, remove_leftovers
    from offsphere.base.kept_states import states_home
    from offsphere.base.question_cache import questions_home

    stores = _stores() if vectors else []
    if stores and not yes:
        _ask(len(stores), sum(store.size for store in stores))
    kept = {"audits": cached_folders(questions_home()), "states": cached_folders(states_home()), "vectors": stores}
    for what, folders in kept.items():
        gone = [folder for folder in folders if remove_folder(folder.path)]
        if what == "audits" or folders or (what == "vectors" and vectors):
            typer.echo(f"{what}: removed {len(gone):,} ({_size(sum(folder.size for folder in gone))})")
        if len(gone) < len(folders):
            typer.echo(f"{what}: kept {len(folders) - len(gone):,}, in use or not allowed to be removed")
    for home in (questions_home(), states_home()):
        remove_leftovers(home)


def _cache_info() -> dict[str, Any]:
    """Everything that is kept, as plain values."""
    from offsphere.base.cached_folders import cached_folders
    from offsphere.base.kept_states import states_home
    from offsphere.base.question_cache import allowed_size, is_of_this_code, questions_home

    questions, states, stores = cached_folders(questions_home()), cached_folders(states_home()), _stores()
    return {
        "folder": str(cache_home()),
        "audits": {
            "count": len(questions),
            "bytes": sum(question.size for question in questions),
            "most_bytes": allowed_size(),
            "of_other_versions": sum(not is_of_this_code(question) for question in questions),
        },
        "states": {"count": len(states), "bytes": sum(state.size for state in states)},
        "vectors": {
            "bytes": sum(store.size for store in stores),
            "stores": [
                {
                    "name": store.path.name,
                    "bytes": store.size,
                    "days_unused": max(0, int((time.time() - store.used) / 86_400)),
                }
                for store in stores
            ],
        },
    }


def _stores() -> list[Any]:
    """The folders of vectors that were embedded without saying where to."""
    from offsphere.base.cached_folders import cached_folders

    return [folder for folder in cached_folders(cache_home()) if folder.path.name not in NO_STORES]


def _ask(count: int, size: int) -> None:
    """Let the user say whether vectors are to be removed; where nobody can be asked, it must have been said."""
    question = f"vectors: remove {count:,} ({_size(size)}), which must be made again?"
    if not sys.stdin.isatty():
        raise ParameterError(f"{question} Nobody is there to ask: say --yes")
    if not typer.confirm(question):
        raise ParameterError("nothing was removed")


def _size(count: int) -> str:
    """A number of bytes as one says it."""
    return next((f"{count / size:.1f} {unit}" for size, unit in UNITS if count >= size), f"{count} bytes")
