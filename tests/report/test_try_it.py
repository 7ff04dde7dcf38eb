"""The knobs of the page in a real browser: it ranks as the library does, and everything follows the slider."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.comparison import rerankable
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from offsphere.report import to_html
from offsphere.report.live_data import live_data
from tests.report.test_page import SCRIPT, browser, opened  # noqa: F401  # a fixture

QUERIES, DOCUMENTS = 45, 300
SETTINGS = [  # chain, exponent, weight of a norm-mix; none of the exponents is one that lists were made for
    (0, 1, None),
    (0, 0, None),
    (0, 0.37, None),
    (0, -0.83, None),
    (0, 1.71, None),
    (1, 0.62, None),
    (2, 1.06, None),
    (0, 1, 0.93),
    (2, 1, 0.61),
]


def of_size(queries, **options):
    rng = np.random.default_rng(3)
    documents = (rng.normal(0.3, 1, (DOCUMENTS, 12)) * np.exp(rng.normal(0, 0.5, (DOCUMENTS, 1)))).astype(np.float32)
    documents[4] = documents[3]  # a tie
    asked = np.arange(queries)
    rows = (documents[asked % DOCUMENTS] + rng.normal(0, 0.9, (queries, 12))).astype(np.float32)
    grades = {(f"q{q}", f"d{d % DOCUMENTS}"): g for q in range(queries) for d, g in ((q, 2.0), (7 * q, 1.0)) if q} | {
        ("q0", "d0"): 1.0
    }
    task = osp.RankingTask.build(
        "knobs",
        ItemList([f"q{q}" for q in range(queries)], [f"what about {SCRIPT} {q}" for q in range(queries)]),
        ItemList([f"d{d}" for d in range(DOCUMENTS)], [f"{SCRIPT} number {d}" for d in range(DOCUMENTS)]),
        [Judgment(*pair, grade) for pair, grade in grades.items()],
    )
    vectors = osp.RankingVectors.of(task, rows, documents)
    return task, vectors, osp.audit(task, vectors, cache=False, **options)


@pytest.fixture(scope="module")
def made():
    return of_size(QUERIES)


@pytest.fixture(scope="module")
def page_file(made, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "audit.html"
    path.write_text(to_html(made[2]), "utf-8")
    return path


@pytest.fixture
def page(browser, page_file):  # noqa: F811
    page, messages = opened(browser, page_file, viewport={"width": 1_200, "height": 900})
    yield page
    assert messages == []
    page.close()


RANKED = """([chain, exponent, weight]) => {
  const setting = { chain, exponent, weight }, ready = live.prepare(setting);
  const lists = live.data.queries.slice(0, live.data.held).map((row, query) => {
    const { places, scores } = live.top(query, ready);
    const documents = places.map((place) => live.data.ids[live.shown(query, place).document]);
    return [row[0], documents, scores, live.ndcg(query, ready)];
  });
  return { name: live.name(setting), value: live.value(setting), lists };
}"""


def ndcg_by_oracle(task, documents):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judged = {}
    for q, d, grade in zip(task.judgments.queries, task.judgments.documents, task.judgments.grades, strict=True):
        judged.setdefault(task.query_ids[q], {})[task.document_ids[d]] = int(grade)
    run = {
        task.query_ids[q]: {task.document_ids[d]: float(10 - rank) for rank, d in enumerate(row)}
        for q, row in enumerate(documents)
    }
    values = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10"}).evaluate(run)
    return {query: each["ndcg_cut_10"] for query, each in values.items()}


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_browser_ranks_as_the_library_does(page, made, setting):
    task, vectors, _ = made
    ranked = page.evaluate(RANKED, list(setting))
    scorer = osp.parse_scorer(ranked["name"]).fit(osp.Moments.of(vectors.documents))
    (exact,) = osp.search(vectors.queries, vectors.documents, [scorer], 10)
    values = ndcg_by_oracle(task, exact.documents)
    assert ranked["value"] == pytest.approx(np.mean(list(values.values())), abs=1e-6)
    assert len(ranked["lists"]) == task.units
    rows = {query: row for row, query in enumerate(task.query_ids)}
    for query, documents, scores, value in ranked["lists"]:
        row = rows[query]
        assert documents == [task.document_ids[d] for d in exact.documents[row]]
        assert scores == pytest.approx(exact.scores[row], rel=1e-6, abs=1e-6)
        assert value == pytest.approx(values[query], abs=1e-6)


def text(page, name):
    return page.locator(f"#try-{name}").inner_text()


def settle(page):
    page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))")


def test_everything_follows_the_slider_by_keyboard(page):
    start = {name: text(page, name) for name in ("name", "value", "gain", "exponent-value")}
    assert (start["name"], start["exponent-value"], start["gain"]) == ("cosine", "1.00", "+0.0000")
    yours = page.locator("#try .three").first.locator("div").nth(2)
    before, place = yours.inner_text(), page.locator("#try-curve .point").get_attribute("cx")
    page.locator("#try-exponent").focus()
    page.keyboard.press("Home")
    settle(page)
    assert (text(page, "name"), text(page, "exponent-value")) == ("polar(1, -1)", "\u22121.00")
    assert text(page, "value") != start["value"]
    assert yours.inner_text() != before
    assert page.locator("#try-curve .point").get_attribute("cx") != place
    page.keyboard.press("ArrowRight")
    settle(page)
    assert text(page, "name") == "polar(1, -0.99)"
    page.locator("#try-reset").click()
    settle(page)
    assert {name: text(page, name) for name in start} == start


def test_the_point_lies_on_the_curve_that_the_audit_drew(page, made):
    """With every query held, the value at an exponent is that of the audit's own curve, of all queries."""
    _, _, audit = made
    raw = audit.curves[0]
    for exponent, value in zip(raw.exponents.tolist(), raw.values.tolist(), strict=True):
        here = page.evaluate(f"live.value({{ chain: 0, exponent: {exponent}, weight: null }})")
        assert here == pytest.approx(value, abs=1e-6)


def test_vectors_are_toggled_and_a_weight_is_typed(page):
    page.get_by_label("subtract the mean document").check()
    settle(page)
    assert text(page, "name") == "center + cosine"
    page.get_by_label("whiten fully").check()
    page.locator("#try-weight").fill("0.9")
    settle(page)
    assert text(page, "name") == "whiten(1) + norm-mix(0.9)"
    assert not page.locator("#try-curve .point").is_visible()
    page.locator("#try-weight").fill("7")
    assert page.locator("#try-weight").evaluate("field => !field.checkValidity()")
    settle(page)
    assert text(page, "name") == "whiten(1) + norm-mix(0.9)"
    page.locator("#try-weight").fill("")
    settle(page)
    assert text(page, "name") == "whiten(1) + cosine"


def row_texts(page):
    return page.locator("#try-rows > tr:not(.below)").all_inner_texts()


def test_queries_are_sorted_by_change_searched_and_opened(page, made):
    _, _, audit = made
    first = page.locator("#try-rows > tr").first.locator("small.id").inner_text().strip()
    largest = np.abs(audit.differences).max()
    assert abs(audit.differences[int(first[1:])]) == pytest.approx(largest)
    assert len(row_texts(page)) == 25
    page.locator("#try-more").click()
    assert len(row_texts(page)) == QUERIES
    assert not page.locator("#try-more").is_visible()
    page.locator("#try-search").fill("ABOUT 17")
    assert [row for row in row_texts(page) if "q17" in row] == row_texts(page) != []
    assert page.locator("#try-count").inner_text() == "1 of 1 found"
    button = page.locator("#try-rows .opens")
    assert button.get_attribute("aria-expanded") == "false"
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    columns = page.locator("#try .three").first.locator("h4").all_inner_texts()
    assert columns == [*audit.compared, "yours: cosine"]
    assert page.locator("#try .three").first.locator("li").count() == 15
    page.locator("#try-search").fill("no query says this")
    assert row_texts(page) == []
    page.locator("#try-search").fill("")
    page.get_by_role("button", name="query", exact=True).click()
    heads = page.locator("#try th").first
    assert heads.get_attribute("aria-sort") == "ascending"


def test_what_is_shown_side_by_side_is_what_the_two_scorers_find(page, made):
    task, vectors, audit = made
    rows = page.evaluate(
        "live.data.queries.slice(0, live.data.held).map((row, query) => [row[0], [0, 1].map((side) =>"
        " live.compared(side, query).map((each) => [live.data.ids[each.document], each.grade]))])"
    )
    cosine = audit.compared.index("cosine")
    (exact,) = osp.search(vectors.queries, vectors.documents, [osp.Scorer()], 5)
    grades = task.judgments.gains(exact.documents)
    for query, sides in rows:
        row = int(query[1:])
        expected = [[task.document_ids[d], g] for d, g in zip(exact.documents[row], grades[row], strict=True)]
        assert sides[cosine] == expected


def test_no_text_of_the_data_becomes_markup(page):
    assert SCRIPT in page.locator("#try-rows").inner_text()
    assert page.locator("#try script, #try b:not([id]), #documents script").count() == 0
    assert page.locator("#documents li").count() > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_paper_has_no_knobs(browser, page_file, scheme):  # noqa: F811
    page, messages = opened(browser, page_file, viewport={"width": 390, "height": 844}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for name in ("#try-exponent", "#try-weight", "#try-search"):
        box = page.locator(name).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    page.locator("#documents summary").nth(1).click()
    assert page.locator("#documents details").nth(1).locator("li").first.is_visible()
    page.emulate_media(media="print")
    assert not page.locator("#try-exponent").is_visible()
    assert page.locator("#try-rows tr").first.is_visible()
    assert messages == []
    page.close()


def test_a_small_room_holds_those_that_change_most_and_says_so(made):
    _, _, audit = made
    whole = live_data(audit.rerankable, audit.compared, "ndcg@10", 10**9)
    assert whole["held"] == QUERIES
    assert f"over all {QUERIES} queries" in whole["note"]
    size = len(json.dumps(whole))
    some = live_data(audit.rerankable, audit.compared, "ndcg@10", int(size * 0.9))
    assert 30 < some["held"] < QUERIES
    assert len(json.dumps(some)) <= size * 0.9
    assert sum(some["weights"]) == pytest.approx(QUERIES, abs=1e-3)
    least = live_data(audit.rerankable, audit.compared, "ndcg@10", 1)
    assert least["held"] == 30
    assert "30 queries that change most" in least["note"]


def test_pairs_have_no_knobs():
    rows = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    task = osp.PairTask("pairs", (rows @ rows[0]).astype(float))
    page = to_html(osp.audit(task, osp.PairVectors.of(task, np.tile(rows[0], (40, 1)), rows), cache=False))
    assert 'id="live-data"' not in page
    assert "Longest vectors" in page


CROWD = rerankable.TRIED + 60
ASKED = ["q451", "q17"]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """More queries than a page holds, two of them asked for, and the page."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(rerankable, "ROOM", 1)  # a page that has room for none but those that are looked at first
        task, vectors, audit = of_size(CROWD, show=ASKED)
    path = tmp_path_factory.mktemp("crowd") / "audit.html"
    path.write_text(to_html(audit), "utf-8")
    return task, vectors, audit, path


def test_what_a_page_does_not_hold_it_says_how_to_get_and_what_was_asked_for_is_on_top(browser, crowd):  # noqa: F811
    task, vectors, audit, path = crowd
    page, messages = opened(browser, path, viewport={"width": 1_200, "height": 900})
    first = page.locator("#try-rows > tr:not(.below) small.id").all_inner_texts()[:2]
    assert [name.strip() for name in first] == ASKED
    assert page.locator("#try .three").first.is_visible()
    rows = {name: row for row, name in enumerate(task.query_ids)}
    (exact,) = osp.search(vectors.queries[[rows[name] for name in ASKED]], vectors.documents, [osp.Scorer()], 5)
    cosine = audit.compared.index("cosine")
    for place in range(2):
        sides = page.evaluate(f"live.compared({cosine}, {place}).map((each) => live.data.ids[each.document])")
        assert sides == [task.document_ids[document] for document in exact.documents[place]]
    held = {task.query_ids[row] for row in audit.rerankable.queries.tolist()}
    absent = next(name for name in reversed(task.query_ids) if name not in held)
    page.locator("#try-search").fill(absent)
    (row,) = [text for text in row_texts(page) if absent in text.split()]
    assert f"results not in this page: audit again with --show {absent}" in row
    line = page.locator("#try-rows > tr", has_text=f"--show {absent}").first
    assert line.locator("button").count() == 0
    assert "Not every query can be opened: audit again with --show" in page.locator("#try-note").inner_text()
    page.locator("#try-search").fill("")
    page.get_by_role("button", name="query", exact=True).click()
    names = [name.strip() for name in page.locator("#try-rows > tr:not(.below) small.id").all_inner_texts()]
    assert names[:2] != ASKED  # whoever sorts gets what was sorted
    assert messages == []
    page.close()


def test_a_page_that_holds_all_says_nothing_of_others(made):
    _, _, audit = made
    assert "--show" not in live_data(audit.rerankable, audit.compared, "ndcg@10", 10**9)["note"]


def test_those_that_are_asked_for_are_held_in_any_room_and_unlisted_ones_are_counted(crowd):
    _, _, audit, _ = crowd
    least = live_data(audit.rerankable, audit.compared, "ndcg@10", 1)
    assert least["held"] == 32
    assert [row[0] for row in least["queries"][:2]] == ASKED
    assert f"over the 32 queries that were asked for or change most, of {CROWD}" in least["note"]
    assert f"The table lists {rerankable.TRIED} of all {CROWD} queries." in least["note"]
