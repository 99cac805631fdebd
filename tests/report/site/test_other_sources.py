"""A home with tables of two sources of one suite: their numbers never stand in one column."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench_assets.core.schema.rows import Edition, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import quiz
from tests.report.fair import catalog, metric, report

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

PLACE = ".of/release-01234567"
OTHER = "published, release-01234567"


def fill(tables: TableFiles, edition: Edition, n: int, values: dict[str, float]) -> None:
    questions = [
        replace(one, edition=edition, kind="choice", options=("x", "y")) for one in quiz(n)
    ]
    tables.write(["quiz", "questions"], questions, Question)
    for model, value in values.items():
        row = replace(metric(model, value), edition=edition, data=short_digest(digest(questions)))
        tables.write(["quiz", "metrics"], [row], Metric, model)
        one = build_evaluation(
            questions, {q.question_id: f"{model} of {edition}" for q in questions}, name=model
        )
        tables.write(["quiz", "predictions"], one.predictions, Prediction, model)
        tables.write(["quiz", "scores"], one.scores, Score, model)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The mini edition is current; more models were asked of the release before."""
    folder: Path = tmp_path_factory.mktemp("home")
    mini = TableFiles(folder=str(folder / "tables"))
    fill(mini, "mini", 6, {"run/step-100": 0.3, "run/step-900": 0.8})
    release = TableFiles(folder=str(folder / "tables"), places={"quiz": PLACE})
    fill(release, "published", 30, {"run/step-100": 0.2, "run/step-900": 0.7, "big": 0.9})
    return report(folder, mini, catalog(folder)).as_uri()


def values(page: "Page") -> list[str]:
    return page.locator("table.leaderboard tbody:not([class]) a.value").all_inner_texts()


def test_the_current_edition_is_shown_first_and_the_other_is_chosen(
    page: "Page", address: str
) -> None:
    page.goto(address)
    page.locator("table.leaderboard").wait_for()
    assert sorted(values(page)) == ["0.300", "0.800"]
    page.get_by_role("row", name="Chance").wait_for()  # one of two options
    page.get_by_text("run/step-900 with accuracy 0.800").wait_for()
    page.get_by_label("Edition").select_option(OTHER)
    page.get_by_text("big with accuracy 0.900").wait_for()
    assert sorted(values(page)) == ["0.200", "0.700", "0.900"]
    assert page.get_by_role("row", name="Chance").count() == 0  # that of the mini edition
    page.reload()
    page.get_by_text("big with accuracy 0.900").wait_for()


def test_a_number_of_the_other_edition_stands_apart_on_its_task(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_label("Edition").select_option(OTHER)
    page.get_by_role("link", name="0.900, big").click()
    page.get_by_role("heading", name="Measured on other sources").wait_for()
    apart = page.get_by_role("region", name="Measured on other sources")
    assert "big" in apart.locator("tr.chosen").inner_text()
    assert OTHER in apart.locator("tr.chosen").inner_text()
    here = page.get_by_role("region", name="Models", exact=True)
    assert "big" not in here.inner_text()
    assert "0.800" in here.inner_text()
