"""Functions by name: ``callable:module:function`` is a function of a module that can be imported from here."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from offsphere.base.errors import OffsphereError

CALLABLE = "callable:"


def import_function(name: str) -> object:
    """The function that ``callable:module:function`` names; modules of the folder one is in can be named too.

    Raises:
        OffsphereError: There is no such module or function.
    """
    _, module, function = (*name.split(":"), "", "")[:3]
    here = str(Path.cwd())
    if here not in sys.path:  # as `python -c` has it, and a command that is installed does not
        sys.path.insert(0, here)
    try:
        return getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise OffsphereError(f"cannot find {name!r}: write callable:module:function ({error})") from error
