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
    """Of 40 questions OLD has 0 to 19 right, and NEW has 1 to 29 right.

    NEW is another model, asks 20 to 29 with another prompt, and never ends its answer to 0.
    """
    home: Path = tmp_path_factory.mktemp("home")
    tables = TableFiles(folder=str(home / "tables"))
    questions = quiz(40, categories=3)
    tables.write(["quiz", "questions"], questions, Question)
    for name, right in ((OLD, range(20)), (NEW, range(1, 30))):
        texts = {f"quiz/{n}": "x" if n in right else "y" for n in range(40)}
        evaluation = build_evaluation(questions, texts, name=name, decoding=f"{name}|t=0,max=8")
        predictions = list(evaluation.predictions)
        if name == NEW:
            predictions[0] = replace(predictions[0], text="", raw_text="<think>It never ends")
            for n in range(20, 30):
                predictions[n] = replace(predictions[n], prompt_sha256="q")
        tables.write(["quiz", "predictions"], predictions, Prediction, name)
        tables.write(["quiz", "scores"], evaluation.scores, Score, name)
        tables.write(["quiz", "metrics"], evaluation.metrics, Metric, name)
    return build_report(home, tables, catalog(home)).as_uri()


def test_each_cause_has_the_change_of_its_questions(page: "Page", address: str) -> None:
    page.goto(address)
    # It compares the first and the last checkpoint, without a choice.
    page.get_by_role("link", name="Compare", exact=True).click()
    page.get_by_role("heading", name="Why the score moved").wait_for()
    page.get_by_text("10 questions gained points, 1 lost some, of 40 that both have").wait_for()
    table = page.get_by_role("table", name="Why the score moved")
    prompt_and_model = table.get_by_role("row", name="prompt + model")
    prompt_and_model.get_by_text("+0.250", exact=True).wait_for()  # 10 of 40
    model_header = page.get_by_role("rowheader", name="model", exact=True)
    model_alone = table.get_by_role("row").filter(has=model_header)
    model_alone.get_by_text("−0.025", exact=True).wait_for()  # 1 of 40
    model_alone.get_by_role("link", name="quiz/0").click()
    page.get_by_text("What is 0?").first.wait_for()
