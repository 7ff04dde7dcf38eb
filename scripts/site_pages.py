"""What the site has beside the files of docs: pages of the root, the notebook, a reference of every public name.

mkdocs calls the functions on_... while it builds (make docs). The files stay as they are, and read well on their own.
"""

from __future__ import annotations

import ast
import json
import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "offsphere"
# pages of the site that lie outside docs
OUTSIDE = {
    "index.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changes.md": "CHANGELOG.md",
    "security.md": "SECURITY.md",
    "benchmarks.md": "benchmarks/README.md",
}
PLACES = {name: page for page, name in OUTSIDE.items()} | {"docs/tutorial.ipynb": "tutorial.md"}
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s:#]+\.(?:md|ipynb))(?=[#)])")
FOREIGN = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?(?:https?:)?//|<link\b[^>]*\bhref=["']?(?:https?:)?//"""
)
# a chart of a notebook is a script that would fetch its drawing library; the site has the drawing
CHART = re.compile(r"\}\)\((?P<spec>\{.*\}), \{\"mode\": \"vega-lite\"\}\);", re.DOTALL)
# the browser itself refuses whatever a script might ask of other hosts
POLICY = "default-src 'self' file: data: blob: 'unsafe-inline' 'unsafe-eval'"


def public_names() -> dict[str, list[str]]:
    """The public names of the package, by the room each lives in.

    Returns:
        Names as the imports for type checkers have them, sorted, under the names of rooms.
    """
    rooms: dict[str, list[str]] = defaultdict(list)
    for node in ast.walk(ast.parse((SOURCE / "__init__.py").read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("offsphere."):
            rooms[node.module.split(".")[1]] += [alias.name for alias in node.names if alias.asname == alias.name]
    return {room: sorted(set(names) - {"__version__"}) for room, names in sorted(rooms.items())}


def reference_page(room: str, names: list[str]) -> str:
    """The page of the reference that documents the names of a room."""
    purpose = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text("utf-8"))) or ""
    entries = [f"::: offsphere.{name}" for name in names]
    return "\n\n".join([f"# {room.capitalize()}", purpose, *entries]) + "\n"


def reference_index(rooms: dict[str, list[str]]) -> str:
    """The first page of the reference: every public name, and where it is documented."""
    lines = [
        "# Reference",
        "",
        "Every public name, by the room of [the house](../house.md) in which it lives. All of them are names of",
        "`offsphere` itself: `import offsphere as osp`, then `osp.compare(...)`.",
        "",
    ]
    for room, names in rooms.items():
        links = ", ".join(f"[{name}]({room}.md#offsphere.{name})" for name in names)
        lines.append(f"- **{room}**: {links}")
    return "\n".join(lines) + "\n"


def notebook_page(notebook: dict[str, Any]) -> tuple[str, list[str]]:
    """A notebook as Markdown.

    Args:
        notebook: Its JSON.

    Returns:
        The page, and its figures as SVG, which the page has as ``tutorial/1.svg`` and so on.
    """
    parts: list[str] = []
    figures: list[str] = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {"text/plain": output.get("text", [])})
            markup = "".join(data.get("text/html", ""))
            if chart := CHART.search(markup):
                figures.append(_drawn(json.loads(chart["spec"])))
                parts.append(f"![What is drawn](tutorial/{len(figures)}.svg)")
            elif markup:
                parts.append(markup)
            else:
                parts.append(f"```\n{''.join(data['text/plain'])}\n```")
    return "\n\n".join(parts) + "\n", figures


def _drawn(chart: dict[str, Any]) -> str:
    import vl_convert

    return str(vl_convert.vegalite_to_svg(chart))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the reference into the navigation."""
    (reference,) = [section["Reference"] for section in config.nav or [] if "Reference" in section]
    reference += [f"reference/{room}.md" for room in public_names()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is no file of docs."""
    for page, text in _made_pages():
        if known := files.get_file_from_path(page):
            files.remove(known)
        files.append(File.generated(config, page, content=text))
    if notebook := files.get_file_from_path("tutorial.ipynb"):
        files.remove(notebook)
    return files


def _made_pages() -> Iterator[tuple[str, str]]:
    for page, name in OUTSIDE.items():
        yield page, (ROOT / name).read_text("utf-8")
    text, figures = notebook_page(json.loads((ROOT / "docs" / "tutorial.ipynb").read_text("utf-8")))
    yield "tutorial.md", text
    for number, figure in enumerate(figures, 1):
        yield f"tutorial/{number}.svg", figure
    rooms = public_names()
    yield "reference/index.md", reference_index(rooms)
    for room, names in rooms.items():
        yield f"reference/{room}.md", reference_page(room, names)


def relinked(text: str, page: str) -> str:
    """The text of a page with links that lead to pages of the site, where the files link each other.

    Args:
        text: Markdown as it stands in the file.
        page: The page's path in the site, such as ``index.md``.

    Returns:
        The same Markdown; links to what the site does not have stay, and mkdocs complains of them.
    """
    home = posixpath.dirname(OUTSIDE.get(page, f"docs/{page}"))

    def place(match: re.Match[str]) -> str:
        named = posixpath.normpath(posixpath.join(home, match["target"]))
        target = PLACES.get(named, named.removeprefix("docs/"))
        return posixpath.relpath(target, posixpath.dirname(page) or ".")

    return LINK.sub(place, text)


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Have links lead to pages of the site."""
    uri = page.file.src_uri
    return markdown if uri.startswith("reference/") else relinked(markdown, uri)


def on_post_page(output: str, **_: object) -> str:
    """Have the browser refuse whatever would come from another host."""
    return output.replace("<head>", f'<head><meta http-equiv="Content-Security-Policy" content="{POLICY}">', 1)


def on_post_build(config: MkDocsConfig) -> None:
    """Stop where a page of the site would fetch something from another host."""
    for path in Path(config.site_dir).rglob("*.html"):
        if found := FOREIGN.search(path.read_text("utf-8")):
            raise PluginError(f"{os.path.relpath(path, config.site_dir)} asks another host: {found[0]}")
