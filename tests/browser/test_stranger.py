"""A person who never saw the project, with the report alone: how many clicks the answers take.

Only what is seen is followed: headings, and texts of links and numbers. The second home is the one
that ``make demo`` leaves, where there is one.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.signature import short_digest
from bench_resources.config.environment import default_home
from tests.report.fair import build_report, catalog, metric
from tests.report.many_samples import ManySamples

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

STEPS = {"run/step-100": 0.2, "run/step-900": 0.6}
QUESTIONS = ["quiz", "questions"]


def drawn(folder: Path) -> Path:
    """A home of forty questions with images, and two checkpoints, of which the last is better."""
    home = ManySamples(folder, 40, n_images=5)
    data = short_digest(home.tables.digest(QUESTIONS) or "")
    for model, value in STEPS.items():
        home.add_model(model)
        row = replace(metric(model, value), edition="mini", data=data)
        home.tables.write(["quiz", "metrics"], [row], Metric, model)
    return build_report(folder, home.tables, catalog(folder))


@pytest.fixture(scope="module", params=["drawn", "demo"])
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "drawn":
        return drawn(tmp_path_factory.mktemp("home")).as_uri()
    page = default_home() / "report" / "index.html"
    if not page.is_file():
        pytest.skip("no report of the demo: make demo")
    return page.as_uri()


class Stranger:
    """Clicks on what is seen, and counts."""

    def __init__(self, page: "Page", address: str) -> None:
        self.page, self.clicks = page, 0
        page.goto(address)
        page.get_by_role("heading", name="Leaderboard").wait_for()

    def click(self, seen: "Locator") -> None:
        seen.first.click()
        self.clicks += 1


def test_which_model_is_best_at_what_takes_no_click(page: "Page", address: str) -> None:
    stranger = Stranger(page, address)
    heading = page.get_by_role("heading", name="Best at each task")
    section = page.locator("section", has=heading)
    tasks, best = section.locator("dt"), section.locator("dd")
    best.first.wait_for()
    assert tasks.count() == best.count()
    for one in best.all():
        assert re.search(r" with | no model |none: |only baselines", f" {one.inner_text()}")
    assert stranger.clicks == 0


def test_whether_the_small_model_learned_takes_no_click(page: "Page", address: str) -> None:
    stranger = Stranger(page, address)
    page.locator(".learned").get_by_text(re.compile(r"better at|undecided on")).wait_for()
    assert stranger.clicks == 0


def test_three_images_that_it_got_wrong_take_four_clicks(page: "Page", address: str) -> None:
    stranger = Stranger(page, address)
    model = page.locator(".learned b").first.inner_text()
    stranger.click(page.get_by_role("link", name=f", {model}"))
    stranger.click(page.get_by_role("link", name=f"wrong ones of {model}", exact=True))
    seen = [wrong_image(page)]
    for place in (1, 2):
        stranger.click(page.get_by_role("listbox").get_by_role("option").nth(place))
        seen.append(wrong_image(page))
    assert len({sample for sample, _ in seen}) == 3
    assert all(width > 1 for _, width in seen)
    assert stranger.clicks == 4


def wrong_image(page: "Page") -> tuple[str, int]:
    """The sample that is shown as wrong, and how wide its image is."""
    sample = page.locator(".sample-head h2")
    sample.wait_for()
    page.locator(".responses").get_by_text("wrong", exact=False).first.wait_for()
    image = page.locator(".images img").first
    width = image.evaluate("one => one.decode().then(() => one.naturalWidth)")
    return sample.inner_text(), width


def test_a_task_is_shown_again_after_other_pages(page: "Page", address: str) -> None:
    Stranger(page, address)
    for _ in range(2):
        for name in ("Tasks", "Compare"):
            page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
            page.locator("main h1").get_by_text(name).wait_for()
            if name == "Tasks":
                page.locator("main h2 a, main h3 a").first.click()
                page.locator("main table").first.wait_for()
    page.go_back()
    page.locator("main table").first.wait_for()
    assert page.get_by_role("alert").count() == 0


def test_menus_of_samples_end_within_a_narrow_screen(page: "Page", address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    Stranger(page, address)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Samples").click()
    page.locator("main h2 a, main h3 a, main li a, main td a").first.click()
    menus = page.locator("details.menu summary")
    menus.first.wait_for()
    for menu in menus.all():
        menu.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
