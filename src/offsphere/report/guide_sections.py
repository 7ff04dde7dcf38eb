"""Sections of the guide that findings lead to: they stand in the page itself, which needs no network to be read on."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

PACKED = "guide"  # beside this file where the package was built: the pages of docs that sections are taken from
CHECKOUT = Path(__file__).parents[3] / "docs"
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\([^)\s]+\)")


class GuideSection(NamedTuple):
    """A part of a page of the guide.

    Attributes:
        title: Its heading.
        page: The file of the page, ``docs/measuring.md``.
        anchor: What the section is called within the report.
        address: Where the whole page is on the web; empty where the package names no documentation.
    """

    title: str
    page: str
    anchor: str
    address: str


def guide_section(name: str) -> GuideSection:
    """Say what a section of the guide is called, and where it is.

    Args:
        name: The page and the section, as links between pages have them: ``measuring#hubness``.

    Returns:
        The section.

    Example:
        >>> from offsphere.report.guide_sections import guide_section
        >>> guide_section("measuring#hubness")[:3]
        ('hubness', 'docs/measuring.md', 'guide-measuring-hubness')
    """
    page, _, anchor = name.partition("#")
    home = documentation_address()
    address = f"{home}/{page}.html#{anchor}" if home else ""
    return GuideSection(_cut_out(name)[0], f"docs/{page}.md", f"guide-{page}-{anchor}", address)


def guide_markup(name: str) -> Any:
    """Give a section as markup, up to its first example, whose numbers are of other data than the report's.

    Args:
        name: The page and the section.

    Returns:
        Markup without links, for what they lead to is not in the page.
    """
    from markdown_it import MarkdownIt
    from markupsafe import Markup

    text = _FENCED.split(_COMMENT.sub("", _cut_out(name)[1]), maxsplit=1)[0].strip()
    text = _LINK.sub(r"\1", f"{text[:-1]}." if text.endswith(":") else text)
    rendered = MarkdownIt("commonmark", {"html": False}).enable("table").render(text)
    wide = rendered.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    return Markup(wide)  # noqa: S704  # ours, and rendered without raw markup


def documentation_address() -> str:
    """Where the site of the documentation is, as the installed package says; nothing where it names none."""
    try:
        named: list[str] = metadata("offsphere").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    addresses = [entry.partition(", ") for entry in named]
    return next((address.rstrip("/") for label, _, address in addresses if label == "Documentation"), "")


@cache
def _cut_out(name: str) -> tuple[str, str]:
    """The heading of a section, and its text up to the next heading."""
    page, _, anchor = name.partition("#")
    text = _page_text(page)
    headings = list(_HEADING.finditer(_FENCED.sub(lambda fenced: " " * len(fenced[0]), text)))
    for number, heading in enumerate(headings):
        if _slug(heading[2]) == anchor:
            end = headings[number + 1].start() if number + 1 < len(headings) else len(text)
            return heading[2], text[heading.end() : end]
    raise LookupError(f"docs/{page}.md has no section {anchor}")


def _slug(heading: str) -> str:
    """What GitHub and the site call a heading in an address."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _page_text(page: str) -> str:
    """A page of the guide: packed when the package was built, else of the checkout."""
    packed = files("offsphere.report") / PACKED / f"{page}.md"
    return packed.read_text("utf-8") if packed.is_file() else (CHECKOUT / f"{page}.md").read_text("utf-8")
