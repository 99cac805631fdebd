from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import quiz
from tests.report.fair import build_report, catalog, metric

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

RELEASE_FOLDER = ".of/release-01234567"
RELEASE_EDITION = "published, release-01234567"


def write_edition(tables, edition, n_questions, accuracies):
    """Write questions of two options, and of each model its accuracy and responses to them."""
    questions = [
        replace(question, edition=edition, kind="choice", options=("x", "y"))
        for question in quiz(n_questions)
    ]
    tables.write(["quiz", "questions"], questions, Question)
    for model, accuracy in accuracies.items():
        row = metric(model, accuracy)
        row = replace(row, edition=edition, data=short_digest(digest(questions)))
        tables.write(["quiz", "metrics"], [row], Metric, model)
        texts = {question.question_id: f"{model} of {edition}" for question in questions}
        evaluation = build_evaluation(questions, texts, name=model)
        tables.write(["quiz", "predictions"], evaluation.predictions, Prediction, model)
        tables.write(["quiz", "scores"], evaluation.scores, Score, model)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report whose current edition is mini; an earlier release has numbers of one model more."""
    folder: Path = tmp_path_factory.mktemp("home")
    mini = TableFiles(folder=str(folder / "tables"))
    write_edition(mini, "mini", 6, {"run/step-100": 0.3, "run/step-900": 0.8})
    release = TableFiles(folder=str(folder / "tables"), places={"quiz": RELEASE_FOLDER})
    write_edition(release, "published", 30, {"run/step-100": 0.2, "run/step-900": 0.7, "big": 0.9})
    return build_report(folder, mini, catalog(folder)).as_uri()


def shown_values(page: "Page") -> list[str]:
    return page.locator("table.leaderboard tbody:not([class]) a.value").all_inner_texts()


def test_the_current_edition_is_shown_until_the_other_is_chosen(page: "Page", address: str) -> None:
    page.goto(address)
    page.locator("table.leaderboard").wait_for()
    assert sorted(shown_values(page)) == ["0.300", "0.800"]
    page.get_by_role("row", name="Chance").wait_for()  # one of two options
    page.get_by_text("run/step-900 with accuracy 0.800").wait_for()
    page.get_by_label("Edition").select_option(RELEASE_EDITION)
    page.get_by_text("big with accuracy 0.900").wait_for()
    assert sorted(shown_values(page)) == ["0.200", "0.700", "0.900"]
    assert page.get_by_role("row", name="Chance").count() == 0  # that of the mini edition
    page.reload()
    page.get_by_text("big with accuracy 0.900").wait_for()


def test_a_task_lists_numbers_of_the_other_edition_apart(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_label("Edition").select_option(RELEASE_EDITION)
    page.get_by_role("link", name="0.900, big").click()
    page.get_by_role("heading", name="Measured on other sources").wait_for()
    other_sources = page.get_by_role("region", name="Measured on other sources")
    assert "big" in other_sources.locator("tr.chosen").inner_text()
    assert RELEASE_EDITION in other_sources.locator("tr.chosen").inner_text()
    models = page.get_by_role("region", name="Models", exact=True)
    assert "big" not in models.inner_text()
    assert "0.800" in models.inner_text()
