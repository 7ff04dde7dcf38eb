"""TOML and YAML that comes in; YAML only with its plain values, which run nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from offsphere.base.errors import DataError, MissingExtraError, first_line
from offsphere.base.reading.file_access import read_bounded


def read_settings(path: Path) -> Any:
    """Read the values of a TOML file, or of a YAML file by its ending.

    Raises:
        DataError: It cannot be read, is no UTF-8, or not what its ending says.
        MissingExtraError: It is YAML, and the package that reads it is not installed.
    """
    kind = path.suffix.lstrip(".").upper() or "TOML"
    try:
        text = read_bounded(path).decode("utf-8-sig")
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
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = f" in line {error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise ValueError(f"{error.problem or 'it cannot be parsed'}{line}") from error
    except yaml.YAMLError as error:
        raise ValueError(first_line(error)) from error
