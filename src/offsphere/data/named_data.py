"""Settings behind the name of data: ``banking77?shots=5&ways=20`` is the data in ``banking77``, told how to be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.base.local_paths import path_exists
from offsphere.base.remote_path import given_path
from offsphere.data.download import set_folder


class NamedData(NamedTuple):
    """Data as somebody types it: where it is, and how it is to be read."""

    path: Path
    settings: Mapping[str, str]


def named_data(data: str | Path) -> NamedData:
    """Take the settings off the name of data.

    Args:
        data: A path, and settings behind a question mark, ``name=value``, with an ampersand between two of them.

    Returns:
        The path and the settings; a path that exists as it is typed has none. The name of a known data set is the
        folder where it is kept, unless there is such a path here.

    Raises:
        ParameterError: A setting has no value, or stands there twice.
        DataError: It is an address in the network.

    Example:
        >>> from offsphere.data.named_data import named_data
        >>> path, settings = named_data("data/banking77?shots=5&ways=20")
        >>> path.name, dict(settings)
        ('banking77', {'shots': '5', 'ways': '20'})
    """
    given_path(data)
    path, mark, typed = str(data).partition("?")
    if not mark or path_exists(Path(data)):
        return NamedData(_folder(str(data)), {})
    settings: dict[str, str] = {}
    for part in typed.split("&"):
        name, equals, value = part.partition("=")
        if not (equals and name and value):
            raise ParameterError(f"{data}: {part!r} is no setting: write name=value, such as shots=5")
        if name in settings:
            raise ParameterError(f"{data}: {name!r} is set twice: keep one")
        settings[name] = value
    return NamedData(_folder(path), settings)


def data_and_folder(typed: str) -> tuple[str, str | None]:
    """Take the folder of the vectors off what somebody types as ``DATA=DIR``.

    Args:
        typed: The data, perhaps with settings, and perhaps a folder behind an equals sign.

    Returns:
        The data with its settings, and the folder; nothing where none is named.

    Example:
        >>> from offsphere.data.named_data import data_and_folder
        >>> data_and_folder("cisi=vectors/cisi"), data_and_folder("banking77?shots=5&ways=20")
        (('cisi', 'vectors/cisi'), ('banking77?shots=5&ways=20', None))
    """
    path, mark, settings = typed.partition("?")
    if not mark or "=" in path:  # a question mark behind the equals sign is part of the folder
        data, _, folder = typed.partition("=")
        return data, folder or None
    *others, last = settings.split("&")
    name, equals, value = last.partition("=")
    value, _, folder = value.partition("=")
    return f"{path}?{'&'.join([*others, name + equals + value])}", folder or None


def refuse_unknown(settings: Mapping[str, str], known: Sequence[str], what: str) -> None:
    """Refuse settings that data of this kind does not have."""
    for name in settings:
        if not known:
            raise ParameterError(f"{what} has no settings: leave out ?{name}={settings[name]}")
        if name not in known:
            raise UnknownNameError("setting", name, list(known))


def whole_setting(settings: Mapping[str, str], name: str, default: int, least: int = 1) -> int:
    """The setting of that name as a whole number of at least so much; the default where it is not set."""
    text = settings.get(name, str(default))
    if not (text.isascii() and text.isdigit()) or int(text) < least:
        raise ParameterError(f"{name}={text}: give a whole number of at least {least}")
    return int(text)


def one_of(settings: Mapping[str, str], name: str, choices: Sequence[str], default: str) -> str:
    """The setting of that name, which must be one of some words; the default where it is not set."""
    text = settings.get(name, default)
    if text not in choices:
        raise ParameterError(f"{name}={text}: choose {' or '.join(choices)}")
    return text


def _folder(name: str) -> Path:
    """The folder of a data set that is known by name; else the path itself."""
    kept = set_folder(name)
    return kept if kept is not None and not path_exists(Path(name)) else given_path(name)
