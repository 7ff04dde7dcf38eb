"""A function of the user's is known by its version, else by its source; one that nobody can know again is never reused.

The source is the file that the function stands in, or its compiled code where there is no file (a notebook, ``python
-c``), with the values that it brings along: defaults, what a closure holds, arguments of a partial. What it calls in
other files, and what it asks of a network, nobody sees: that is what ``function.__version__`` is for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from uuid import uuid4

import numpy as np

from offsphere.base.digests import FILES_DIGITS, digest_of

UNKNOWN = "unknown"  # how the revision of a function or model begins that cannot be known again
_PLAIN = (str, bytes, int, float, complex, bool, type(None), np.generic, Path)


class _OpaqueError(Exception):
    """Something whose content nobody can tell, such as a connection."""


def revision_of(function: Any) -> str:
    """Name a function so that it is known again while it gives the same, and not when it was changed.

    Args:
        function: The function, method, partial or callable object.

    Returns:
        Its ``__version__`` where it has one, else a digest of its source and of the values it brings along; a name that
        is never given again where there is no such digest.

    Example:
        >>> def of_scale(scale):
        ...     return lambda texts: [[scale * len(text)] for text in texts]
        >>> revision_of(of_scale(2)) == revision_of(of_scale(2)), revision_of(of_scale(2)) == revision_of(of_scale(3))
        (True, False)
        >>> from threading import Lock
        >>> revision_of(of_scale(Lock())).startswith("unknown")
        True
    """
    version = getattr(function, "__version__", None)
    if version is not None:
        return str(version)
    try:
        return digest_of(_Parts().of(function))[:FILES_DIGITS]
    except (_OpaqueError, RecursionError, OSError, ValueError, TypeError):
        return unknown_revision()


def unknown_revision() -> str:
    """A name that is never given again: what nobody can know again is never taken for what it was."""
    return f"{UNKNOWN} {uuid4().hex[:FILES_DIGITS]}"


class _Parts:
    """The pieces that a value is digested by; what was seen already is not entered again."""

    def __init__(self) -> None:
        self.seen: dict[int, Any] = {}  # kept alive, so that no number is given to another

    def of(self, value: Any) -> Iterator[bytes]:
        """The pieces of one value, each with its kind before it."""
        yield type(value).__name__.encode()
        if isinstance(value, _PLAIN):
            yield repr(value).encode("utf-8", "surrogatepass")
            return
        if id(value) in self.seen:
            return
        self.seen[id(value)] = value
        yield from self._compound(value)

    def _compound(self, value: Any) -> Iterator[bytes]:
        if isinstance(value, ModuleType):
            yield f"{value.__name__} {getattr(value, '__version__', '')}".encode()
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            yield f"{value.dtype.str} {value.shape}".encode()
            yield np.ascontiguousarray(value).tobytes()
        elif isinstance(value, list | tuple):
            for part in value:
                yield from self.of(part)
        elif isinstance(value, Mapping):
            for name in sorted(value, key=repr):
                yield from self.of(name)
                yield from self.of(value[name])
        elif isinstance(value, set | frozenset):
            for part in sorted(value, key=repr):
                yield from self.of(part)
        else:
            yield from self._callable(value)

    def _callable(self, value: Any) -> Iterator[bytes]:
        if isinstance(value, partial):
            yield from self.of([value.func, value.args, value.keywords])
        elif isinstance(value, MethodType):
            yield from self.of([value.__func__, value.__self__])
        elif isinstance(value, FunctionType):
            yield from self._function(inspect.unwrap(value))
        elif hasattr(value, "__wrapped__"):  # functools.cache and its like
            yield from self.of(inspect.unwrap(value))
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, ModuleType | None):
            yield f"{value.__module__} {value.__qualname__}".encode()
        elif hasattr(value, "__dict__") and not hasattr(type(value), "__slots__"):
            yield from self._class(type(value))
            yield from self.of(vars(value))
        else:
            raise _OpaqueError

    def _function(self, function: Callable[..., Any]) -> Iterator[bytes]:
        if not isinstance(function, FunctionType):
            raise _OpaqueError
        yield function.__qualname__.encode()
        file = Path(function.__code__.co_filename)
        if file.is_file():
            yield file.read_bytes()
        else:
            yield from self._code(function.__code__, function.__globals__)
        yield from self.of([function.__defaults__, function.__kwdefaults__])
        for cell in function.__closure__ or ():
            yield from self.of(cell.cell_contents)

    def _code(self, code: CodeType, names: Mapping[str, Any]) -> Iterator[bytes]:
        """Compiled code, the values in it, and what its names stand for in its module."""
        yield code.co_code
        yield " ".join((*code.co_names, *code.co_varnames, *code.co_freevars)).encode("utf-8", "surrogatepass")
        for constant in code.co_consts:
            yield from self._code(constant, names) if isinstance(constant, CodeType) else self.of(constant)
        for name in code.co_names:
            if name in names:
                yield from self.of(names[name])

    def _class(self, kind: type) -> Iterator[bytes]:
        """The files that a class and those it is made of stand in; what compiled ones hold cannot be told."""
        for part in kind.__mro__[:-1]:
            file = Path(inspect.getfile(part))
            if file.suffix != ".py":
                raise _OpaqueError
            yield part.__qualname__.encode()
            yield file.read_bytes()
