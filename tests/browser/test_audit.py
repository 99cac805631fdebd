"""Doubts about a benchmark, in Chromium: what a reader finds."""

from typing import TYPE_CHECKING

import pytest

from tests.report.doubtful import doubtful_home
from tests.report.fair import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return doubtful_home(tmp_path_factory.mktemp("home")).as_uri()


def test_a_doubt_leads_to_its_question_with_its_image(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Audit").click()
    page.get_by_role("row", name="a quiz").get_by_text("wrong keys").wait_for()
    page.get_by_role("link", name="a quiz").click()
    page.get_by_text("2 of 4 checks found something to look at; 1 could not look.").wait_for()
    first = page.get_by_role("listitem").first
    assert "named by 2 doubts" in first.inner_text()
    assert first.locator("img").evaluate("one => one.decode().then(() => one.naturalWidth)") > 1
    first.get_by_role("link", name="quiz/2").click()
    page.get_by_role("heading", name="a quiz: samples").wait_for()
    page.get_by_text("What is 2?").first.wait_for()


def test_what_was_not_examined_says_the_command(page: "Page", address: str) -> None:
    page.goto(f"{address}#/audit")
    page.get_by_text("bench audit run other", exact=True).wait_for()
    page.goto(f"{address}#/audit/other")
    page.get_by_text("bench audit run other", exact=True).wait_for()


def test_a_table_that_is_not_as_expected_is_first_and_open(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Expectations").click()
    page.get_by_text("1 of 2 tables are not as expected.").wait_for()
    bad, good = page.locator("details.expected").all()
    assert "long/questions 6 rows, 0 of 1 hold" in bad.inner_text()
    row = bad.get_by_role("row", name="column values to be unique").inner_text()
    assert row.split()[0] == "no"
    assert HOSTILE in row
    assert good.inner_text().strip() == "✓ quiz/questions 6 rows, 1 of 1 hold"
    page.goto(f"{address}#/expectations?table=quiz%2Fquestions")  # as a check's link has it
    good.get_by_role("row", name="column values to be unique").wait_for()


def test_what_is_no_doubt_stays_closed(page: "Page", address: str) -> None:
    page.goto(f"{address}#/audit/quiz")
    page.get_by_role("heading", name="Could not look").wait_for()
    assert "two models; it takes three" in page.get_by_role("listitem").last.inner_text()
    page.get_by_text("1 that it names").click()
    page.get_by_text("Nobody sees it.").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 380])
def test_axe_finds_nothing_and_nothing_is_cut_off(
    page: "Page", address: str, theme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe")
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    for route in ("audit", "audit/quiz", "audit/other", "expectations"):
        page.goto("about:blank")
        page.goto(f"{address}#/{route}")
        page.get_by_role("heading", level=1).wait_for()
        found = axe.Axe().run(page, options={"preload": False})
        assert not found.response["violations"], found.generate_report()
        beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert beyond <= 0, route
