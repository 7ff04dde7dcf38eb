"""The report of an audit: one self-contained HTML page, Markdown, or JSON."""

from offsphere.report.markdown import to_markdown
from offsphere.report.page import to_html

__all__ = ["to_html", "to_markdown"]
