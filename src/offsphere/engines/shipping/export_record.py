"""The record that an export leaves in a folder; it tells whether a collection still holds a model's own vectors.

An export that lowers a scorer, or has transforms, stores what it makes of the vectors. Whoever reads them back, as an
audit does, has to know: raw queries do not belong to them.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from offsphere.base.errors import OffsphereError
from offsphere.base.reading.json_files import read_json_object
from offsphere.engines.engine import Engine
from offsphere.engines.registry import engine_of
from offsphere.engines.target import Target

VERIFICATION = "verification.json"


def export_folder(engine: Engine, where: Target) -> Path:
    """Where an export keeps its record where nobody says.

    Args:
        engine: To which it goes.
        where: The collection.
    """
    return Path("export") / f"{engine.prefix}-{where.name or Path(where.public_location).stem}"


def changed_for(engine: Engine, where: Target, rows: int) -> str | None:
    """Tell for which scorer an export changed the vectors that a collection holds.

    Args:
        engine: Whose it is.
        where: The collection.
        rows: How many vectors it has.

    Returns:
        The name of the scorer; nothing where they are as the model gave them, or no record is kept where an export of
        this collection keeps it.
    """
    with suppress(OffsphereError, OSError):
        record = read_json_object(export_folder(engine, where) / VERIFICATION)
        strategy = record.get("strategy")
        changed = isinstance(strategy, dict) and strategy.get("as_given") is False
        if changed and record.get("rows") == rows and _is_of(record, where):
            return str(record.get("scorer", ""))
    return None


def _is_of(record: dict[str, Any], where: Target) -> bool:
    """Whether a record is of this collection, however its file or folder was written."""
    _, other = engine_of(str(record.get("target")))
    if other.is_address or where.is_address:
        return str(other) == str(where)
    same_place = Path(other.location).absolute() == Path(where.location).absolute()
    return same_place and (other.engine, other.name) == (where.engine, where.name)
