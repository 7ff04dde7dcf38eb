"""TOML and YAML that comes in; YAML only with its plain values, which run nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError, MissingExtraError, first_line
from offsphere.base.reading.file_access import read_bounded

MOST_BYTES, MOST_VALUES = 1 << 20, 100_000  # of settings that a person writes


def read_settings(path: Path) -> Any:
    """Read the values of a TOML file, or of a YAML file by its ending.

    Raises:
        DataError: It cannot be read, is no UTF-8, not what its ending says, or far more than settings are.
        MissingExtraError: It is YAML, and the package that reads it is not installed.
    """
    kind = path.suffix.lstrip(".").upper() or "TOML"
    try:
        text = read_bounded(path, MOST_BYTES).decode("utf-8-sig")
        return _parse_yaml(text) if path.suffix.lower() in (".yaml", ".yml") else tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error
    except RecursionError as error:
        raise DataError(f"{path} is no {kind} file that can be read: it is nested too deep") from error
    except ValueError as error:  # TOML's error is one
        raise DataError(f"{path} is no {kind} file: {first_line(error)}") from error


def _parse_yaml(text: str) -> Any:
    """Parse YAML; its errors, of many lines, become a ValueError that says where."""
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("pyyaml", "models") from error
    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            _count_values(node, {})
            return loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise ValueError(f"{error.problem or 'it cannot be parsed'}{line}") from error
    except (yaml.YAMLError, LookupError, TypeError, AttributeError) as error:  # of an explicit type: !!int ''
        raise ValueError(first_line(error)) from error


def _count_values(node: Any, counted: dict[int, int]) -> int:
    """Count the values below a node, those that an alias repeats as often as it does.

    Raises:
        ValueError: There are too many, or a value holds itself: nobody writes settings so.
    """
    if id(node) not in counted:
        counted[id(node)] = MOST_VALUES + 1  # while it is being counted: who meets it then, meets itself
        parts = node.value if isinstance(getattr(node, "value", None), list) else []
        inner = [one for part in parts for one in (part if isinstance(part, tuple) else (part,))]
        counted[id(node)] = 1 + sum(_count_values(one, counted) for one in inner)
    if counted[id(node)] > MOST_VALUES:
        raise ValueError(f"its aliases make more than {MOST_VALUES:,} values of it")
    return counted[id(node)]
