"""Why a score moved, in Chromium, of any two models: the causes of ``bench tables diff``."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_resources.tables.parquet import TableFiles
from tests.comparison.sides import build_evaluation
from tests.fakes.quiz import quiz
from tests.report.fair import build_report, catalog

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

OLD, NEW = "run/step-1", "run/step-20"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of 40 questions 20 were right; 10 more are, whose prompt is another, as the model is of all.

    One that was right no longer is: 20 + 10 - 1.
    """
    home: Path = tmp_path_factory.mktemp("home")
    tables = TableFiles(folder=str(home / "tables"))
    questions = quiz(40, categories=3)
    tables.write(["quiz", "questions"], questions, Question)
    for name, right in ((OLD, range(20)), (NEW, range(1, 30))):
        texts = {f"quiz/{n}": "x" if n in right else "y" for n in range(40)}
        one = build_evaluation(questions, texts, name=name, decoding=f"{name}|t=0,max=8")
        rows = [
            replace(row, prompt_sha256="q")
            if name == NEW and 20 <= int(row.question_id.partition("/")[2]) < 30
            else row
            for row in one.predictions
        ]
        if name == NEW:  # the one that is no longer right
            rows[0] = replace(rows[0], text="", raw_text="<think>It never ends")
        tables.write(["quiz", "predictions"], rows, Prediction, name)
        tables.write(["quiz", "scores"], one.scores, Score, name)
        tables.write(["quiz", "metrics"], one.metrics, Metric, name)
    return build_report(home, tables, catalog(home)).as_uri()


def test_each_cause_says_what_it_did(page: "Page", address: str) -> None:
    page.goto(address)
    page.get_by_role(
        "link", name="Compare", exact=True
    ).click()  # the first and the last checkpoint, without a choice
    page.get_by_role("heading", name="Why the score moved").wait_for()
    page.get_by_text("10 questions gained points, 1 lost some, of 40 that both have").wait_for()
    table = page.get_by_role("table", name="Why the score moved")
    both = table.get_by_role("row", name="prompt + model")
    both.get_by_text("+0.250", exact=True).wait_for()  # 10 of 40
    alone = table.get_by_role("row").filter(
        has=page.get_by_role("rowheader", name="model", exact=True)
    )
    alone.get_by_text("−0.025", exact=True).wait_for()  # 1 of 40
    alone.get_by_role("link", name="quiz/0").click()
    page.get_by_text("What is 0?").first.wait_for()
