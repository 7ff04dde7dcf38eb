"""A report as a file: a page, Markdown or JSON, by how its name ends."""

from __future__ import annotations

import json
from pathlib import Path

from offsphere.auditing.run import Audit
from offsphere.base.errors import ParameterError
from offsphere.base.files import write_whole
from offsphere.report.markdown import to_markdown
from offsphere.report.page import to_html


def save_page(audit: Audit, path: str | Path, engine: str | None = None) -> Path:
    """Write the report of an audit; the file appears whole or not at all.

    Args:
        audit: What ``offsphere.audit`` returned.
        path: Where to: a page for ``.html``, Markdown for ``.md``, everything for machines for ``.json``.
        engine: The search engine whose settings a page shows first.

    Returns:
        The path.

    Raises:
        ParameterError: The name ends in something else.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind in (".html", ".htm"):
        text = to_html(audit, engine)
    elif kind == ".md":
        text = to_markdown(audit)
    elif kind == ".json":
        text = json.dumps(audit.to_json(), indent=2, allow_nan=False) + "\n"
    else:
        raise ParameterError(f"{path}: a report ends in .html, .md or .json")
    write_whole(path, text.encode("utf-8", "replace"))
    return path
