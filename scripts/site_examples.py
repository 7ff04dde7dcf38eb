"""Examples of docstrings as code: griffe reads a heading "Examples:", ours say "Example:"."""

from __future__ import annotations

import re
from typing import Any

import griffe

HEADING = re.compile(r"^Example:$", re.MULTILINE)


class ExampleHeadings(griffe.Extension):
    """Have every docstring name its examples as griffe knows them."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the heading in the docstring of a module, class, function or attribute."""
        if obj.docstring is not None:
            obj.docstring.value = HEADING.sub("Examples:", obj.docstring.value)
