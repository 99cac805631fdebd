"""What models said and got, gathered from the tables of a home."""

from dataclasses import replace

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
def gathered(tmp_path):
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], quiz(3), Question)
    data = short_digest(str(tables.digest(["quiz", "questions"])))
    row = metric("good", 1.0, task="quiz", data=data)
    texts = {
        "good": [
            score(0, "good", 1.0, ("A",)),
            score(1, "good", 1.0, ("A", "C"), max_points=2.0),
            score(2, "good", 1.0, ("C",), sample=1),
            score(2, "good", 0.0, ("B",), sample=0),
        ],
        "mute": [score(0, "mute", 0.0), score(1, "mute", None)],
        "old": [score(0, "old", 1.0, ("A",))],
    }
    for model, scores in texts.items():
        tables.write(["quiz", "scores"], scores, Score, model)
        of_model = replace(row, model=model, data="other" if model == "old" else data)
        tables.write(["quiz", "metrics"], [of_model], Metric, model)
    return TaskEvidence(TASK, tables, ImageStore(folder=str(tmp_path / "images")))


def test_points_are_shares_and_answers_those_of_the_first_draw(gathered):
    found = gathered.results()
    assert found.models == ("good", "mute")  # "old" was asked other questions
    assert found.questions == ("quiz/0", "quiz/1", "quiz/2")
    assert found.points[0].tolist() == [1.0, 0.5, 0.5]
    assert found.answers[0].tolist() == ["A", f"A{ANSWER_SEPARATOR}C", "B"]
    assert found.answers[1].tolist() == ["", "", ""]
    assert found.points[1, 0] == 0
    assert str(found.points[1].tolist()) == "[0.0, nan, nan]"
