"""Options that come together, as one dataclass a group; a command takes the group, typer sees an option a field.

typer knows functions alone, whose every parameter is an option. ``with_groups`` shows it such a function: where a
command has a group, all fields of the group stand in its place, in their order and with their help.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Take the groups of a command apart for typer, and put them together when it is called.

    Args:
        command: A function; a parameter whose type is a dataclass is a group, whose fields may be groups themselves.

    Returns:
        A function of one parameter an option.

    Raises:
        ValueError: Two options have one name.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Size:
        ...     width: int = 2
        ...     height: int = 1
        >>> @with_groups
        ... def draw(name: str, *, size: Size, thick: bool = False) -> None:
        ...     print(name, size.width * size.height, thick)
        >>> list(inspect.signature(draw).parameters)
        ['name', 'width', 'height', 'thick']
        >>> draw(name="a box", width=3, height=5, thick=True)
        a box 15 True
    """
    given = inspect.signature(command, eval_str=True).parameters.values()

    @wraps(command)
    def flat(**typed: Any) -> None:
        command(**{parameter.name: _value(parameter.name, parameter.annotation, typed) for parameter in given})

    parameters = [part for parameter in given for part in _parts(parameter)]
    shown: Any = flat
    shown.__signature__ = inspect.Signature(parameters)
    shown.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flat


def _parts(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The options that a parameter stands for; by keyword alone, so that one without a default may follow others."""
    if not is_dataclass(parameter.annotation):
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(parameter.annotation, include_extras=True)
    for field in fields(parameter.annotation):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        part = inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default)
        yield from _parts(part.replace(annotation=hints[field.name]))


def _value(name: str, kind: Any, typed: Mapping[str, Any]) -> Any:
    """What was typed for an option, or for all options of a group."""
    if not is_dataclass(kind):
        return typed[name]
    hints = get_type_hints(kind, include_extras=True)
    make: Any = kind
    return make(**{field.name: _value(field.name, hints[field.name], typed) for field in fields(kind)})
