"""The site: links of the files lead to its pages, and the notebook and every public name are among them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import offsphere
from tests.processes import ROOT, environment_with

pytest.importorskip("mkdocs", reason="offsphere[docs] is not installed")
from scripts.site_pages import notebook_page, public_names, reference_index, relinked


@pytest.mark.parametrize(
    ("page", "link", "leads_to"),
    [
        ("index.md", "docs/comparing.md", "comparing.md"),
        ("index.md", "docs/tutorial.ipynb", "tutorial.md"),
        ("index.md", "benchmarks/README.md", "benchmarks.md"),
        ("promises.md", "../SECURITY.md", "security.md"),
        ("experiments/debian.md", "../papers.md#claims", "../papers.md#claims"),
        ("questions/where-to-cut.md", "../../README.md", "../index.md"),
        ("benchmarks.md", "../docs/search.md", "search.md"),
        ("data.md", "https://example.org/page.md", "https://example.org/page.md"),
    ],
)
def test_links_between_files_lead_to_pages_of_the_site(page, link, leads_to):
    assert relinked(f"see [it]({link}).", page) == f"see [it]({leads_to})."


def test_the_reference_has_every_public_name():
    assert sorted(name for names in public_names().values() for name in names) == offsphere.__all__
    assert all(f"#offsphere.{name})" in reference_index(public_names()) for name in offsphere.__all__)


def test_the_notebook_is_a_page_with_its_charts():
    text, figures = notebook_page(json.loads((ROOT / "docs" / "tutorial.ipynb").read_text("utf-8")))
    assert text.startswith("# ")
    assert len(figures) == text.count("![") > 0
    assert all(figure.startswith("<svg") for figure in figures)


@pytest.mark.slow
def test_the_site_builds_strictly_and_asks_no_other_host(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    subprocess.run(command, cwd=ROOT, env=environment_with(ROOT), check=True)
    page = (tmp_path / "site" / "reference" / "comparison.html").read_text("utf-8")
    assert 'id="offsphere.compare"' in page
    assert "Content-Security-Policy" in page
