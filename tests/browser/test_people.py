"""What people were asked, in Chromium: who is behind, what they differ on, on a phone too."""

from typing import TYPE_CHECKING

import pytest

from bench_resources.tables.parquet import TableFiles
from tests.report.asked_people import CATALOG, annotated_home
from tests.report.fair import HOSTILE, measure, report

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("home")
    annotated_home(folder)
    tables = TableFiles(folder=str(folder / "tables"))
    measure(tables, "a-model", 0.5)
    return report(folder, tables, CATALOG).as_uri()


def test_a_form_says_how_far_it_is_and_what_people_differ_on(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Annotation").click()
    page.get_by_text("Write a caption").wait_for()  # which nobody was asked
    page.get_by_role("link", name="quiz/votes").click()
    page.get_by_text("2 of 3 units are done; open: 1, answers they lack: 1.").wait_for()
    assert "2" in page.get_by_role("row", name="cem").inner_text()
    disputed = page.get_by_role("listitem").filter(has_text="About b?")
    assert "no 2" in disputed.inner_text()
    assert HOSTILE in disputed.inner_text()
    assert disputed.locator("img").evaluate("one => one.decode().then(() => one.naturalWidth)") > 1
    page.get_by_text("1: right: 'perhaps' is none of yes, no").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_and_nothing_is_cut(
    page: "Page", address: str, theme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="no axe")
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 844})
    for route in ("annotation", "annotation/quiz%2Fvotes"):
        page.goto(f"{address}#/{route}")
        page.locator("h1").wait_for()
        page.wait_for_load_state("networkidle")
        found = axe.Axe().run(page, options={"preload": False})
        assert not found.response["violations"], found.generate_report()
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
