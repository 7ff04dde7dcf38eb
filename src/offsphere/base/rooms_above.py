"""The one door upwards: what results of lower rooms offer as methods, and a higher room makes.

A room imports only from those below it. But ``audit.save("page.html")`` belongs to the audit, and pages are made by the
report. Such methods are few: each is named here, with who makes it, and is looked up when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

MADE_ABOVE: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "chart": ("offsphere.report.charts", "chart_of_result"),
        "page": ("offsphere.report.saving", "save_page"),
    }
)


def from_above(what: str) -> Callable[..., Any]:
    """Find the function of a higher room that makes something.

    Args:
        what: One of the names above.

    Returns:
        The function.

    Example:
        >>> from offsphere.base.rooms_above import from_above
        >>> from_above("chart").__name__
        'chart_of_result'
    """
    module, name = MADE_ABOVE[what]
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
