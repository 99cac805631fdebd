from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.report.pages.comparison import ComparisonPage
from bench_assets.report.pages.index import IndexPage
from bench_assets.report.pages.numbers import NumberPages
from bench_assets.report.pages.tasks import TaskPages
from bench_assets.report.site.folder import Site, slug
from bench_resources.config.bench_toml import Settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import standing
from tests.report.quiz_report import catalog_of

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def quiz_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two models on 40 questions, of which "old" has 20 right and "new" 30."""
    home = tmp_path_factory.mktemp("home")
    tables = TableFiles(folder=str(home / "tables"))
    questions = quiz(40, categories=2)
    tables.write(["quiz", "questions"], questions, Question)
    standings = []
    for name, n_right in (("old", 20), ("new", 30)):
        texts = {f"quiz/{n}": "x" if n < n_right else "y" for n in range(40)}
        evaluation = build_evaluation(questions, texts, name=name, decoding=f"{name}|t=0,max=8")
        tables.write(["quiz", "predictions"], evaluation.predictions, Prediction, name)
        tables.write(["quiz", "scores"], evaluation.scores, Score, name)
        metrics = [
            replace(row, unread=0.0, if_unread_wrong=None, if_unread_right=None)
            for row in evaluation.metrics
        ]
        tables.write(["quiz", "metrics"], metrics, Metric, name)
        standings.append(standing(metrics[0]))
    site = Site(home / "report", ImageStore(folder=str(home / "images")))
    settings = Settings(home=home)
    for part in (
        IndexPage(standings, [], settings),
        TaskPages(standings, [], {}),
        NumberPages(settings=settings),
        ComparisonPage(),
    ):
        part.write(site, tables, catalog_of(TASK))
    site.finish()
    return (site.folder / "index.html").as_uri()


@pytest.mark.browser
def test_the_comparison_of_two_models_has_change_and_interval(page, quiz_report):
    page.goto(f"{quiz_report}#/compare?a=old&b=new")
    row = page.get_by_role("row", name="a quiz")
    # 10 of 40 gained a point: the t quantile 2.023 times sqrt(7.5 / 39 / 40) is 0.140.
    row.get_by_text("+0.250", exact=True).wait_for()
    row.get_by_text("+0.110 to +0.390").wait_for()
    row.get_by_text("on 40 units").wait_for()
    page.get_by_text("better at a quiz").wait_for()
    page.get_by_role("heading", name="What differs").wait_for()
    page.get_by_role("button", name="Swap").click()
    page.get_by_text("worse at a quiz").wait_for()


@pytest.mark.browser
def test_the_page_of_a_number_has_its_provenance(page: "Page", quiz_report: str) -> None:
    page.goto(f"{quiz_report}#/number/{slug('quiz')}-{slug('new')}")
    page.get_by_role("heading", name="new on a quiz").wait_for()
    page.get_by_text("at most 8 tokens").wait_for()
    page.get_by_text("Nothing is known of checks").wait_for()
    page.get_by_text("bench tables show quiz/questions").wait_for()
