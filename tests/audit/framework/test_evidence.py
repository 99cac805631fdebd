import numpy as np
import pytest

from bench_assets.audit.framework.evidence import ANSWER_SEPARATOR
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import metric


def score(number, model, points, answer=(), **fields):
    return Score(
        question_id=f"quiz/{number}",
        model=model,
        condition="main",
        points=points,
        answer=answer,
        **fields,
    )


@pytest.fixture
def evidence(tmp_path):
    """Evidence of a model, a model without answers, and one that was asked other questions."""
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], quiz(3), Question)
    data = short_digest(str(tables.digest(["quiz", "questions"])))
    scores_by_model = {
        "good": [
            score(0, "good", 1.0, ("A",)),
            score(1, "good", 1.0, ("A", "C"), max_points=2.0),
            score(2, "good", 1.0, ("C",), sample=1),
            score(2, "good", 0.0, ("B",), sample=0),
        ],
        "mute": [score(0, "mute", 0.0), score(1, "mute", None)],
        "old": [score(0, "old", 1.0, ("A",))],
    }
    for model, scores in scores_by_model.items():
        tables.write(["quiz", "scores"], scores, Score, model)
        data_of_model = "other" if model == "old" else data
        row = metric(model, 1.0, task="quiz", data=data_of_model)
        tables.write(["quiz", "metrics"], [row], Metric, model)
    return TaskEvidence(TASK, tables, ImageStore(folder=str(tmp_path / "images")))


def test_points_are_shares_and_answers_those_of_the_first_draw(evidence):
    results = evidence.results()
    assert results.questions == ("quiz/0", "quiz/1", "quiz/2")
    np.testing.assert_array_equal(results.points, [[1.0, 0.5, 0.5], [0.0, np.nan, np.nan]])
    assert results.answers.tolist() == [["A", f"A{ANSWER_SEPARATOR}C", "B"], ["", "", ""]]


def test_models_that_were_asked_other_questions_are_left_out(evidence):
    assert evidence.results().models == ("good", "mute")
