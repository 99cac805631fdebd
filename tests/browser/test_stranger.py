"""The clicks that a person who sees the report for the first time needs to find an answer.

The tests follow only visible headings, and texts of links and numbers. The second home is the one
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


def build_quiz_report(folder: Path) -> Path:
    """Build the report of forty questions with images and two checkpoints, the later one better."""
    home = ManySamples(folder, 40, n_images=5)
    data = short_digest(home.tables.digest(QUESTIONS) or "")
    for model, value in STEPS.items():
        home.add_model(model)
        row = replace(metric(model, value), edition="mini", data=data)
        home.tables.write(["quiz", "metrics"], [row], Metric, model)
    return build_report(folder, home.tables, catalog(folder))


@pytest.fixture(scope="module", params=["quiz", "demo"])
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    if request.param == "quiz":
        return build_quiz_report(tmp_path_factory.mktemp("home")).as_uri()
    page = default_home() / "report" / "index.html"
    if not page.is_file():
        pytest.skip("no report of the demo: make demo")
    return page.as_uri()


class Stranger:
    """A reader of the report whose clicks are counted."""

    def __init__(self, page: "Page", address: str) -> None:
        self.page, self.clicks = page, 0
        page.goto(address)
        page.get_by_role("heading", name="Leaderboard").wait_for()

    def click(self, locator: "Locator") -> None:
        locator.first.click()
        self.clicks += 1


def test_the_best_model_of_each_task_takes_no_click(page: "Page", address: str) -> None:
    stranger = Stranger(page, address)
    heading = page.get_by_role("heading", name="Best at each task")
    section = page.locator("section", has=heading)
    tasks, best = section.locator("dt"), section.locator("dd")
    best.first.wait_for()
    assert tasks.count() == best.count()
    for text in best.all_inner_texts():
        assert re.search(r" with |\bno model |none: |only baselines|not known: ", text)
    assert stranger.clicks == 0


def test_whether_the_small_model_learned_takes_no_click(page: "Page", address: str) -> None:
    stranger = Stranger(page, address)
    page.locator(".learned").get_by_text(re.compile(r"better at|undecided on")).wait_for()
    assert stranger.clicks == 0


def test_three_images_of_wrong_responses_take_four_clicks(page: "Page", address: str) -> None:
    stranger = Stranger(page, address)
    model = page.locator(".learned b").first.inner_text()
    stranger.click(page.get_by_role("link", name=f", {model}"))
    stranger.click(page.get_by_role("link", name=f"wrong ones of {model}", exact=True))
    options = page.get_by_role("listbox").get_by_role("option")
    samples = [shown_wrong_sample(page)]
    stranger.click(options.nth(1))
    samples.append(shown_wrong_sample(page))
    stranger.click(options.nth(2))
    samples.append(shown_wrong_sample(page))
    assert len(set(samples)) == 3
    assert stranger.clicks == 4


def shown_wrong_sample(page: "Page") -> str:
    """The id of the sample that is shown as wrong, with an image that can be decoded."""
    sample = page.locator(".sample-head h2")
    sample.wait_for()
    page.locator(".responses").get_by_text("wrong", exact=False).first.wait_for()
    image = page.locator(".images img").first
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 1
    return sample.inner_text()


def open_page(page: "Page", name: str) -> None:
    page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
    page.locator("main h1").get_by_text(name).wait_for()


def test_a_task_is_shown_again_after_going_back(page: "Page", address: str) -> None:
    page.goto(address)
    open_page(page, "Tasks")
    link = page.locator("main h2 a, main h3 a").first
    title = link.inner_text()
    link.click()
    page.locator("main h1").get_by_text(title).wait_for()
    open_page(page, "Compare")
    page.go_back()
    page.locator("main h1").get_by_text(title).wait_for()
    page.locator("main table").first.wait_for()
    assert page.get_by_role("alert").count() == 0


def test_menus_of_samples_fit_a_narrow_screen(page: "Page", address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    open_page(page, "Samples")
    page.locator("main h2 a, main h3 a, main li a, main td a").first.click()
    menus = page.locator("details.menu summary")
    menus.first.wait_for()
    for menu in menus.all():
        menu.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
