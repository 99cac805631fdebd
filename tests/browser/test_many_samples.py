"""20,000 questions and ten models stay fluid in Chromium, in time of its main thread."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.many_samples import ManySamples

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.long]

N, MODELS = 20_000, 10


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    many = ManySamples(tmp_path_factory.mktemp("many"), N, 50)
    for number in range(MODELS):
        many.add_model(f"run/step-{100 * number}")
    return many.report()


@pytest.fixture
def seconds(page: "Page") -> Callable[[], float]:
    """Seconds that the page's main thread worked until now, whatever else the machine did."""
    page.set_default_timeout(60_000)
    chromium = page.context.new_cdp_session(page)
    chromium.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        metrics = chromium.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "TaskDuration"))

    return worked


def test_the_first_samples_are_there_within_a_second(
    page: "Page", index: Path, seconds: Callable[[], float]
) -> None:
    started = seconds()
    page.goto(f"{index.as_uri()}#/samples/quiz?model=run/step-900")
    page.locator(".response pre").first.wait_for()
    assert seconds() - started < 1.0


@pytest.mark.parametrize(
    ("label", "value"),
    [
        pytest.param("Show", "wrong-by-all", id="wrong by all"),
        pytest.param("Show", "disagree", id="models disagree"),
        pytest.param("Show", "worse", id="worse than the checkpoint before"),
        pytest.param("Category", "kind 3", id="a category"),
    ],
)
def test_a_filter_takes_less_than_a_fifth_of_a_second(
    page: "Page", index: Path, seconds: Callable[[], float], label: str, value: str
) -> None:
    page.goto(f"{index.as_uri()}#/samples/quiz?model=run/step-900")
    page.locator(".response pre").first.wait_for()
    page.wait_for_timeout(500)  # what the first sight still has to do is not the filter's
    started = seconds()
    page.get_by_role("combobox", name=label).select_option(value)
    page.wait_for_function("() => !document.querySelector('.found').textContent.startsWith('20 0')")
    page.wait_for_function("() => document.querySelector('.sample-row')")
    assert seconds() - started < 0.2


def test_a_search_of_all_texts_takes_less_than_a_fifth_of_a_second_once_they_are_read(
    page: "Page", index: Path, seconds: Callable[[], float]
) -> None:
    page.goto(f"{index.as_uri()}#/samples/quiz?model=run/step-900&q=kite+river")
    page.wait_for_function("() => document.querySelector('.found').textContent.endsWith('samples')")
    page.wait_for_timeout(500)
    started = seconds()
    page.get_by_role("searchbox").fill("what is 19999")
    page.locator(".sample-detail h2").get_by_text("quiz/19999").wait_for()
    assert seconds() - started < 0.2


def test_no_more_is_drawn_than_is_in_sight(page: "Page", index: Path) -> None:
    page.set_default_timeout(60_000)
    page.goto(f"{index.as_uri()}#/samples/quiz")
    page.locator(".sample-row").first.wait_for()
    page.keyboard.press("End")
    page.locator(".row-id").get_by_text("quiz/19999").wait_for()
    assert page.locator(".sample-row").count() < 40
