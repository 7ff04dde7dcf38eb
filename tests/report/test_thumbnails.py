"""A report on images shows them: inside the page, small, with escaped names, and the browser asks nobody."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from PIL import Image as Pillow

import offsphere as osp
from offsphere.data.captioned import CaptionedImage, caption_task
from offsphere.report import to_html
from offsphere.report.live_pictures import MOST as LIVE_MOST
from offsphere.report.live_pictures import live_pictures
from offsphere.report.thumbnails import MOST, thumbnail
from tests.report.test_page import browser, opened  # noqa: F401  # a fixture

NAME = '"><script>alert(1)</script>.png'


@pytest.fixture(scope="module")
def page_of_pictures(tmp_path_factory):
    random = np.random.default_rng(0)
    pixels = random.integers(0, 256, (80, 40, 60, 3), np.uint8)
    rows = [CaptionedImage(f"{n}{NAME}", osp.Image.of(pixels[n], NAME), [f"caption {n}"], "x") for n in range(80)]
    task = caption_task("pictures", rows, "x")
    documents = random.normal(size=(80, 8)) * np.exp(random.normal(0, 0.7, (80, 1)))
    queries = documents + random.normal(0, 1, documents.shape)
    vectors = task.vectors(queries.astype(np.float32), documents.astype(np.float32))
    audit = osp.audit(task, vectors, cache=False)
    assert audit.examples
    path = tmp_path_factory.mktemp("report") / "pictures.html"
    path.write_text(to_html(audit), "utf-8")
    return path, audit


def test_chromium_draws_every_thumbnail(page_of_pictures, browser):  # noqa: F811
    path, audit = page_of_pictures
    page, messages = opened(browser, path, viewport={"width": 1_000, "height": 900})
    sizes = page.eval_on_selector_all(".example img", "all => all.map(one => [one.naturalWidth, one.naturalHeight])")
    shown = sum(len(example.first) + len(example.second) for example in audit.examples)
    assert sizes == [[60, 40]] * shown
    assert page.eval_on_selector(".example img", "one => one.alt") == NAME
    assert messages == []


def test_documents_worth_a_look_and_the_lists_one_ranks_again_show_pictures(page_of_pictures, browser):  # noqa: F811
    path, audit = page_of_pictures
    page, messages = opened(browser, path, viewport={"width": 1_000, "height": 900})
    page.eval_on_selector_all("#documents details", "all => all.forEach(one => one.open = true)")
    drawn = "all => all.map(one => one.naturalWidth + one.naturalHeight)"
    listed = [group for group in (audit.documents.hubs, audit.documents.never, audit.documents.longest) if group]
    several = sum(map(len, listed)) + len(audit.documents.shortest)
    assert page.eval_on_selector_all("#documents img", drawn) == [100] * several
    page.locator("#try-rows button.opens[aria-expanded=false]").first.click()
    below = page.eval_on_selector_all("#try-rows tr.below:not([hidden]) li", "all => all.length")
    sizes = page.eval_on_selector_all("#try-rows tr.below:not([hidden]) img.tiny", drawn)
    assert below >= 10
    assert sizes == [80] * below
    assert messages == []


def test_pictures_of_the_lists_take_no_more_than_their_room():
    pixels = np.random.default_rng(0).integers(0, 256, (30, 60, 40, 3), np.uint8)
    images = [osp.Image.of(each) for each in pixels]
    whole = live_pictures(images, 10**6)
    assert all(whole)
    assert max(map(len, whole)) <= 4 / 3 * LIVE_MOST + 30
    part = live_pictures(images, 5_000)
    assert sum(map(len, part)) <= 5_000
    assert part[0] == whole[0]
    assert part[-1] == ""


def test_names_are_escaped_and_json_has_names_alone(page_of_pictures):
    path, audit = page_of_pictures
    assert NAME not in path.read_text("utf-8")
    assert audit.to_json()["examples"]["queries"][0]["first"][0]["image"] == NAME


def test_a_thumbnail_is_bounded_whatever_the_picture():
    noise = np.random.default_rng(0).integers(0, 256, (1_500, 2_000, 3), np.uint8)
    content = base64.b64decode(thumbnail(osp.Image.of(noise)).partition(",")[2])
    assert len(content) <= MOST
    from io import BytesIO

    assert Pillow.open(BytesIO(content)).size == (96, 72)


def test_a_picture_that_is_gone_shows_its_name_alone(tmp_path):
    assert thumbnail(osp.Image.of(tmp_path / "gone.png")) == ""
    assert thumbnail(None) == ""
