"""The page in a real browser."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import offsphere as osp
from offsphere.data.ranking_task import ItemList, Judgment
from offsphere.engines.registry import ENGINES
from offsphere.learning.ablation.variants import grid
from offsphere.learning.adapters.learn import learn
from offsphere.report import guide_sections, to_html, to_markdown
from tests.processes import PATIENCE, ROOT
from tests.report.test_evidence_links import documented

SCRIPT = "<script>alert(1)</script> & more </script>"
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


def audited(documents=600, queries=60, *, learning=False):
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(documents, 12))
    lengths = np.exp(rng.normal(0, 0.5, documents))
    rows = directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths[:, None]
    asked = directions[:queries] + rng.normal(0, 0.6, (queries, 12))
    texts = [SCRIPT + " word" * int(rng.integers(1, 60)) for _ in range(documents)]
    ids = [f"<b>d{d}</b>" for d in range(documents)]
    task = osp.RankingTask.build(
        'a "task" <i>',
        ItemList([f"q{q}" for q in range(queries)], [f"{SCRIPT} {q}" for q in range(queries)]),
        ItemList(ids, texts),
        [Judgment(f"q{q}", ids[q], 1.0) for q in range(queries)],
    )
    vectors = osp.RankingVectors.of(task, asked.astype(np.float32), rows.astype(np.float32))
    return osp.audit(task, vectors, cache=False, **(learned_on(task, vectors) if learning else {}))


def learned_on(task, vectors):
    recipes = [osp.Recipe(epochs=30), osp.Recipe(epochs=30, normalize="query")]
    variants = grid(osp.Recipe(epochs=2), [(0.05, 1e-3)])
    judged_too = (task, osp.RankingVectors.of(task, vectors.queries * 2, vectors.documents))
    return {
        "learned": learn((task, vectors), None, recipes),
        "ablation": osp.ablate((task, vectors), also=[judged_too], variants=variants, seeds=1),
    }


@pytest.fixture(scope="module")
def audit():
    return audited(learning=True)


@pytest.fixture(scope="module")
def page_file(audit, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "audit.html"
    path.write_text(to_html(audit), "utf-8")
    return path


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no chromium here: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE * 1_000)
        yield launched
        launched.close()


def new_page(browser, **options):
    """A page that waits for what it is asked for, however busy the machine is."""
    page = browser.new_page(**options)
    page.set_default_timeout(PATIENCE * 1_000)
    return page


MARKS = """[...document.querySelectorAll('.chart')].map(chart => [chart.dataset.figure, chart.querySelectorAll(
    'svg .mark-rule.role-mark line, svg .mark-rect.role-mark path, svg .mark-symbol.role-mark path, ' +
    'svg .mark-line.role-mark path, svg .mark-area.role-mark path').length])"""
DRAWN = "document.querySelectorAll('.chart svg').length == document.querySelectorAll('.chart').length"


@pytest.mark.parametrize("width", [390, 1_400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_everything_and_asks_nobody(browser, page_file, width, scheme):
    page = new_page(browser, viewport={"width": width, "height": 900}, color_scheme=scheme)
    requests, messages, alerts = [], [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append((message.type, message.text)))
    page.on("pageerror", lambda error: messages.append(("error", str(error))))
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.goto(page_file.as_uri())
    page.wait_for_function(DRAWN)
    marks = dict(page.evaluate(MARKS))
    tracks = {"cosines", "scatter", "track-lengths", "anisotropy", "effect", "uniformity", "spread", "exponents"}
    tracks |= {"scale"}
    expected = {"forest", "sweep", "lengths", "text-length", "spectrum", "dimensions", "hubs", "differences"}
    expected |= {"ceiling"}
    assert set(marks) == expected | {"learned", "grid"} | tracks | {f"grid-{name}" for name in tracks}
    assert all(count > 0 for count in marks.values()), marks
    assert messages == []
    assert alerts == []
    assert requests == [page_file.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    verdict = page.locator("#verdict").bounding_box()
    assert verdict["y"] < 120  # the first thing one sees
    page.close()


def opened(browser, path, **options):
    """The page, drawn; and what the browser said of it."""
    page = new_page(browser, **options)
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_function(DRAWN)
    return page, messages


def shown_panels(page):
    return [panel.inner_text().split(":")[0] for panel in page.locator(".panel").all() if panel.is_visible()]


@pytest.mark.parametrize("width", [390, 1_400])
def test_the_top_is_what_to_do_then_the_engine_then_the_contents(browser, page_file, width):
    page, _ = opened(browser, page_file, viewport={"width": width, "height": 900})
    order = page.evaluate("[...document.querySelectorAll('main h1, main h2')].map(head => head.textContent)")
    titles = [
        title for title in order if title in ("What to do now", "Contents", "Which scorer", "How it was measured")
    ]
    assert page.evaluate("document.querySelector('main h1, main h2').tagName") == "H1"
    assert titles == ["What to do now", "Contents", "Which scorer", "How it was measured"]
    large, small = (
        page.evaluate(f"parseFloat(getComputedStyle(document.querySelector('{name}')).fontSize)")
        for name in ("#verdict h1", "#verdict p")
    )
    assert large > 1.2 * small
    links = page.evaluate("[...document.querySelectorAll('nav a')].map(link => link.getAttribute('href'))")
    assert len(links) >= 6
    assert all(page.locator(f"{link} h2").count() for link in links)
    page.close()


def test_every_engine_can_be_reached_by_keyboard_and_by_pointer(browser, page_file):
    page, messages = opened(browser, page_file, viewport={"width": 1_000, "height": 900})
    names = page.locator(".engines label").all_inner_texts()
    assert names == [engine.name for engine in ENGINES]
    assert shown_panels(page) == [names[0]]
    page.locator(".engines input").first.focus()
    for name in [*names[1:], names[0]]:
        page.keyboard.press("ArrowRight")
        assert shown_panels(page) == [name]
    page.locator(".engines label").nth(3).click()
    assert shown_panels(page) == [names[3]]
    untried = [engine.name for engine in ENGINES if not engine.tested]
    panels = page.locator(".panel", has_text="it was not tried here")
    assert panels.count() == len(untried)
    page.emulate_media(media="print")
    assert shown_panels(page) == [names[3]]  # paper has no tabs: it gets the engine that was chosen
    assert not page.locator(".engines label").first.is_visible()
    code = page.locator(".panel pre:visible").first
    assert code.evaluate("code => code.scrollWidth <= code.clientWidth")  # nothing of it is cut off
    assert messages == []
    page.close()


def test_the_engine_that_is_asked_for_is_open(browser, audit, tmp_path):
    path = tmp_path / "audit.html"
    path.write_text(to_html(audit, "pgvector"), "utf-8")
    page, _ = opened(browser, path)
    assert shown_panels(page) == ["pgvector"]
    page.close()


@pytest.mark.parametrize("width", [390, 1_400])
def test_terms_explain_themselves_to_pointer_keyboard_and_touch(browser, page_file, width):
    page, messages = opened(browser, page_file, viewport={"width": width, "height": 900}, has_touch=True)
    term = page.locator("#verdict .term").first
    tip = term.locator(".tip")
    assert not tip.is_visible()
    term.hover()
    assert tip.is_visible()
    page.mouse.move(0, 0)
    assert not tip.is_visible()
    term.focus()
    assert tip.is_visible()
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.locator("#verdict .term").nth(1).tap()
    assert page.locator("#verdict .term").nth(1).locator(".tip").is_visible()
    page.keyboard.press("Escape")
    for each in page.locator(".term:visible").all():  # none leaves the window, wherever its word stands
        each.focus()
        box = each.locator(".tip").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 900
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert messages == []
    page.close()


def test_a_term_is_marked_once_in_a_section_and_stands_among_the_words(browser, page_file):
    page, _ = opened(browser, page_file)
    for section in page.locator("header, section:not(.verdict)").all():
        meanings = section.locator(".tip").all_text_contents()
        assert len(meanings) == len(set(meanings))
    used = set(page.locator(".tip").all_text_contents())
    assert used == set(page.locator("#words dd").all_text_contents())
    page.close()


def test_scorers_have_their_phrase_beside_their_name(audit):
    from offsphere.report.page import figures_of

    forest = next(figure for figure in figures_of(audit) if figure.name == "forest")
    phrases = {row.label: row.scorer.phrase for row in audit.table.rows}
    assert "what it does" in forest.heads
    assert all(row[1] == phrases[row[0]] for row in forest.rows)


def test_the_shares_of_the_choices_make_a_whole(audit):
    from offsphere.report.scorer_figures import choice_cells

    rows = choice_cells(audit.table.procedure)
    assert sum(float(row[-1].removesuffix(" %")) for row in rows) == pytest.approx(100, abs=len(rows) / 2)
    text = to_html(audit)
    assert "How often each was chosen" in text
    assert "Holm" not in text
    assert "Westfall" in text


def test_what_is_far_below_is_named_at_the_edge_and_presses_nothing_together():
    from offsphere.report.figure import far_rows

    def row(name, value, kind="other"):
        return {"scorer": name, "value": value, "low": value - 0.04, "high": value + 0.04, "kind": kind}

    rows = [row("a", 0.55, "recommended"), row("b", 0.54), row("cosine", 0.51, "cosine"), row("dot", 0.3)]
    assert [far["scorer"] for far in far_rows(rows)] == ["dot"]
    assert far_rows([*rows[:3], row("dot", 0.47)]) == []
    assert far_rows([row("cosine", 0.5, "cosine"), row("dot", 0.1, "recommended")]) == []


def test_there_is_no_legend_for_documents_that_are_not_there():
    from dataclasses import replace

    from offsphere.report.shape_figures import length_histogram

    audit = audited()
    relevant, others = audit.relevant_lengths
    everything = replace(audit, relevant_lengths=(np.concatenate([relevant, others]), others[:0]))
    figure = length_histogram(everything)
    assert {row[0] for row in figure.rows} == {"documents"}
    assert '"other"' not in str(figure.spec).replace("'", '"')
    assert "others" not in figure.caption
    assert sum(int(row[3].replace(",", "")) for row in figure.rows) == len(relevant) + len(others)
    assert {row[0] for row in length_histogram(audit).rows} == {"relevant", "other"}


def test_texts_from_the_data_are_shown_as_text(browser, page_file):
    page = new_page(browser)
    page.goto(page_file.as_uri())
    page.wait_for_function(DRAWN)
    assert "<script>alert(1)</script> & more </script>" in page.locator(".example").first.inner_text()
    assert page.locator(".example script").count() == 0
    assert page.locator(".example b").count() == 0
    page.close()


def test_it_is_one_small_file_without_links(page_file):
    text = page_file.read_text("utf-8")
    assert len(text) < 3_000_000
    assert "<link" not in text
    assert " src=" not in text.split("<script>")[0]


def test_a_page_of_ten_thousand_documents_is_under_three_megabytes():
    assert len(to_html(audited(documents=10_000, queries=200)).encode()) < 3_000_000


def test_every_figure_has_a_caption_and_a_table(audit):
    from offsphere.report.page import figures_of

    for figure in figures_of(audit):
        assert len(figure.caption) > 50
        assert figure.rows
        assert all(len(row) == len(figure.heads) for row in figure.rows)


def test_markdown_has_the_verdict_and_no_markup_from_the_data(audit):
    text = to_markdown(audit)
    assert all(sentence[:30] in text for sentence in audit.advice.verdict)
    assert "<b>" not in text
    heads = [line for line in text.splitlines() if line.startswith("#")]
    assert heads[1] == "## What to set"  # below the verdict, as on the page


def test_markdown_from_the_data_is_no_link_no_image_and_no_mention():
    from offsphere.report.markdown import _escape

    assert _escape("![x](http://a/b.png) @bob <b>") == "\\!\\[x\\](http://a/b.png) &#64;bob &lt;b>"


def test_the_page_of_factors_shows_its_pictures_and_asks_nobody(browser, tmp_path):
    from offsphere.factors.experiment import experiment
    from offsphere.report.factor_page import factors_to_html

    path = tmp_path / "factors.html"
    path.write_text(factors_to_html(experiment(osp.simulate(500, 120, most_items=40, seed=0), 20)), "utf-8")
    page = new_page(browser, viewport={"width": 390, "height": 900})
    requests, messages = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.goto(path.as_uri())
    widths = page.evaluate("[...document.images].map(image => image.naturalWidth)")
    assert widths == [120] * 6
    captions = page.locator("figcaption").all_inner_texts()
    assert len(captions) == 6
    assert all(caption.startswith("See whether clusters stand out as dark squares (") for caption in captions)
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    assert messages == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.close()


def test_the_page_of_a_sweep_draws_its_tracks_and_asks_nobody(browser, audit, tmp_path):
    from dataclasses import replace

    from offsphere.report.sweep_page import sweep_to_html

    sweep = audit.ablation
    names = {row.name: f"temperature {number}" for number, row in enumerate(sweep.rows)}
    dynamics = [
        {**row, "variant": names[row["variant"]], "token_anisotropy": 0.1, "token_length": 2.0}
        for row in sweep.dynamics
    ]
    rows = [row._replace(name=names[row.name]) for row in sweep.rows]
    path = tmp_path / "sweep.html"
    path.write_text(sweep_to_html(replace(sweep, rows=rows, dynamics=dynamics), "Sweep <b>over</b>"), "utf-8")
    page = new_page(browser, viewport={"width": 1000, "height": 900})
    requests, messages = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.goto(path.as_uri())
    page.wait_for_function(DRAWN)
    drawn = page.evaluate("[...document.querySelectorAll('figure')].map(figure => figure.id)")
    assert {"grid", "grid-cosines", "grid-anisotropy", "grid-tokens", "grid-token-lengths"} <= set(drawn)
    assert [url for url in requests if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
    assert messages == []
    assert page.evaluate("document.querySelector('#verdict b')") is None
    page.close()


def test_no_legend_names_other_documents_where_there_are_none(audit):
    from offsphere.report.shape_figures import length_histogram

    relevant, others = audit.relevant_lengths
    assert {row[0] for row in length_histogram(audit).rows} == {"relevant", "other"}
    figure = length_histogram(replace(audit, relevant_lengths=(relevant, others[:0])))
    assert {row[0] for row in figure.rows} == {"documents"}
    assert "other" not in json.dumps(figure.spec)
    assert "nothing to compare them with" in figure.caption


def test_the_picture_of_lengths_says_nothing_of_relevance_by_made_judgments(audit):
    from offsphere.report.shape_figures import length_histogram

    made = replace(audit.shape.relevance, made=True, relevant=233, others=7)
    caption = length_histogram(replace(audit, shape=replace(audit.shape, relevance=made))).caption
    assert "not divided by relevance: the judgments were made, and 233 of 240 documents" in caption
    assert "Cohen" not in caption


def test_every_caption_begins_with_what_to_see(audit):
    from offsphere.report.learn_figures import TRACKS
    from offsphere.report.page import figures_of

    assert [figure.name for figure in figures_of(audit) if not figure.caption.startswith("See ")] == []
    assert [track.name for track in TRACKS if not track.caption.startswith("See ")] == []


def test_a_finding_is_one_click_from_its_chart_and_from_the_guide(browser, page_file):
    page, messages = opened(browser, page_file)
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    charts = page.locator(".behind a", has_text="chart:").all()
    guides = page.locator(".behind a", has_text="guide:").all()
    assert len(guides) == page.locator(".behind").count()
    assert len(charts) >= 3
    for link in charts:
        assert page.locator(f"figure{link.get_attribute('href')} svg").count() == 1
    for link in guides:
        link.click()
        section = page.locator(f"article{link.get_attribute('href')}")
        assert section.locator("h3").is_visible()
        assert -1 < section.bounding_box()["y"] < page.viewport_size["height"]
        assert len(section.inner_text()) > 150
    assert requests == []
    assert messages == []
    page.close()


class Links(HTMLParser):
    """Where a page leads, the ids that it has, and what it would fetch."""

    def __init__(self, page):
        super().__init__()
        self.ids, self.links, self.fetched = set(), [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given["id"]} if "id" in given else set()
        self.links += [given["href"]] if tag == "a" else []
        self.fetched += [given[name] for name in ("src", "data") if not given.get(name, "data:").startswith("data:")]


def test_every_sentence_of_the_report_leads_to_a_section_that_is_in_it(audit, page_file):
    text = re.sub(r"<script.*?</script>", "", page_file.read_text("utf-8"), flags=re.DOTALL)
    read = Links(text)
    assert {link.removeprefix("#") for link in read.links} <= read.ids
    sections = dict(re.findall(r'<section [^>]*?id="(\w+)">(.*?)</section>', text, re.DOTALL))
    told = {name: re.findall(r"<(?:p|li)>(.*?)</(?:p|li)>", sections[name], re.DOTALL) for name in ("scorers", "wrong")}
    told["learning"] = re.findall(r"<p>(.*?)</p>", sections["learning"], re.DOTALL)
    assert len(told["scorers"]) >= 1 + len(audit.advice.about("scorer")[1:])
    assert len(told["learning"]) == len(audit.learned.sentences) + 1
    sentences = [sentence for name in told for sentence in told[name] if not sentence.startswith("The choice was made")]
    assert [sentence for sentence in sentences if 'href="#guide-' not in sentence] == []


def test_whole_pages_are_linked_where_the_package_names_its_documentation(audit, monkeypatch):
    monkeypatch.setattr(guide_sections, "metadata", lambda name: documented())
    read = Links(to_html(audit))
    there = [link for link in read.links if not link.startswith("#")]
    assert len(there) >= 3
    assert all(re.fullmatch(r"https://docs\.example\.org/offsphere/[\w-]+\.html#[\w-]+", link) for link in there)
    assert read.fetched == []  # nothing is asked until one clicks
    assert "](https://docs.example.org/offsphere/" in to_markdown(audit)


def test_markdown_says_for_every_sentence_where_the_guide_explains_it(audit):
    named = re.findall(r"\(guide: .+ in `(docs/[\w-]+\.md)`\)$", to_markdown(audit), re.MULTILINE)
    assert len(named) >= len(audit.advice.verdict) + len(audit.advice.about("wrong")) + len(audit.learned.sentences) + 1
    assert all((ROOT / page).is_file() for page in named)


def test_a_snippet_is_copied_as_the_export_tests_run_it(browser, audit, page_file):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page, messages = opened(context, page_file)
    kept = [(number, setting) for number, setting in enumerate(audit.advice.settings) if setting.snippet]
    assert len(kept) > 5
    for number, setting in kept:
        page.locator(".engines label").nth(number).click()
        page.locator(".panel:visible pre .copy").click()
        page.locator(".panel:visible pre .copy", has_text="copied").wait_for()
        assert page.evaluate("navigator.clipboard.readText()") == setting.snippet
        page.locator(".panel:visible dd > .copy").first.click()
        assert page.locator(".panel:visible dd > .copy").first.inner_text() in ("copy", "copied")
    assert messages == []
    page.emulate_media(media="print")
    assert not page.locator(".panel:visible pre .copy").is_visible()
    context.close()
