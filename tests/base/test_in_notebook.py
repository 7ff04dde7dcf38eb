"""Results in a notebook: what they show, their data frames and charts, and the page that an audit saves."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import altair as alt
import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import MissingExtraError, OffsphereError, ParameterError, UnknownNameError
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def results():
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    documents = (rng.normal(size=(120, 6)) * np.exp(rng.normal(0, 0.4, (120, 1)))).astype(np.float32)
    queries = (documents[:40] + rng.normal(0, 0.7, (40, 6))).astype(np.float32)
    task = osp.RankingTask.build(
        HOSTILE,
        ItemList([f"q{q}" for q in range(40)]),
        ItemList([f"d{d}{HOSTILE}" for d in range(120)]),
        [Judgment(f"q{q}", f"d{q}{HOSTILE}", 1.0) for q in range(40)],
    )
    vectors = osp.RankingVectors.of(task, queries, documents)
    audit = osp.audit(task, vectors, cache=False)
    variants = [osp.Variant(f"{HOSTILE} {n}", osp.Recipe(epochs=1, batch=8), [(0.05, 0.01)]) for n in (1, 2)]
    return {
        "Comparison": audit.table,
        "Geometry": audit.shape,
        "Advice": audit.advice,
        "Audit": audit,
        "Learned": osp.learn((task, vectors), None, [osp.Recipe(epochs=1, batch=8)]),
        "Ablation": osp.ablate((task, vectors), variants=variants, seeds=1),
    }


NAMES = ["Comparison", "Geometry", "Advice", "Audit", "Learned", "Ablation"]


class Seen(HTMLParser):
    """The tags and the text of some markup."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.feed(markup)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_shows_the_verdict_and_a_table_and_no_markup_of_the_data(results, name):
    seen = Seen(results[name]._repr_html_())
    assert seen.open == []
    assert set(seen.tags) <= {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert seen.tags.count("tr") > 1
    assert len(repr(results[name])) < 2_000
    if name in ("Advice", "Audit"):
        assert all(sentence in seen.text for sentence in results["Advice"].verdict)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_data_frames_have_every_row_and_its_numbers(results, name, package):
    pytest.importorskip(package)
    frame = getattr(results[name], f"to_{package}")()
    records = results[name].records()
    assert len(frame) == len(records) > 0
    assert list(frame.columns) == list(records[0])
    if name in ("Comparison", "Audit", "Learned"):
        assert np.allclose(np.asarray(frame["value"], float), [row["value"] for row in records])
        assert "cosine" in list(frame["scorer"])


def test_without_the_package_one_is_told_how_to_get_it(results, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'offsphere\[polars\]'"):
        results["Comparison"].to_polars()


@pytest.mark.parametrize("name", ["Comparison", "Geometry", "Audit", "Learned", "Ablation"])
def test_plots_are_charts_that_vega_draws(results, name):
    import vl_convert

    chart = results[name].plot()
    assert isinstance(chart, alt.TopLevelMixin)
    spec = json.dumps(chart.to_dict())
    assert '"@' not in spec
    assert vl_convert.vegalite_to_svg(chart.to_dict()).count("<path") > 3


def test_a_figure_is_chosen_by_its_name_and_an_unknown_one_lists_those_there_are(results):
    assert results["Audit"].plot("lengths").to_dict()["title"] == "Lengths"
    with pytest.raises(UnknownNameError, match="forest"):
        results["Audit"].plot("forset")
    with pytest.raises(OffsphereError, match="nothing to draw of this Advice"):
        results["Advice"].plot()


def test_an_audit_saves_its_page_as_the_command_writes_it(results, tmp_path):
    from offsphere.report import to_html

    audit = results["Audit"]
    page = audit.save(tmp_path / "page.html", engine="pgvector")
    assert page.read_text("utf-8") == to_html(audit, "pgvector")
    assert json.loads(audit.save(tmp_path / "page.json").read_text())["advice"]["scorer"] == audit.advice.name
    assert "## What to set" in audit.save(str(tmp_path / "page.md")).read_text()
    with pytest.raises(ParameterError, match=r"ends in \.html, \.md or \.json"):
        audit.save(tmp_path / "page.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page.html", "page.json", "page.md"]
