"""The score of people as an asset."""

from dataclasses import replace

import dagster as dg
import pytest

from bench_assets.annotation.tasks import Answer
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.suites.cogbench.vqa.annotation import HUMAN as HUMAN_TASK
from tests.fakes.answers import answer, fits
from tests.fakes.rows import question
from tests.suites.cogbench.graph import Bench

QUESTIONS = [
    question(
        question_id=f"cogbench/vqa/kite/{name}",
        kind="choice",
        options=("a", "b", "c", "d"),
        answer=(answer,),
        category="Event",
    )
    for name, answer in (("1", "A"), ("2", "B"))
]
HUMAN = dg.AssetSelection.assets(["cogbench", "vqa", "human"])


def test_people_answer_each_question(tmp_path):
    shown = [replace(question, images=("a" * 64,)) for question in QUESTIONS]
    first, second = HUMAN_TASK.units(shown)
    assert (first.unit_id, first.needed, "Right" in first.shown) == (
        QUESTIONS[0].question_id,
        5,
        False,
    )
    answers = [
        answer(first.unit_id, "p", answer="A. a"),
        answer(second.unit_id, "p", answer="C. c"),
        answer(second.unit_id, "r", answer="B. b"),
    ]
    assert [
        fits(HUMAN_TASK.task, unit, answer)
        for unit, answer in zip((first, second), answers, strict=False)
    ] == ["", ""]
    opened = Bench(tmp_path)
    opened.tables.write(HUMAN_TASK.table("answers").split("/"), answers, Answer)
    opened.tables.write(["cogbench", "vqa", "questions"], QUESTIONS, Question)
    opened.run(HUMAN)
    row = opened.rows("vqa/human", Metric)[0]
    assert (row.model, row.value, row.n_scored) == ("people", pytest.approx(2 / 3), 3)
    assert "people:2|n:2" in row.signature


def test_without_answers_there_is_no_score_of_people(tmp_path):
    opened = Bench(tmp_path)
    opened.tables.write(["cogbench", "vqa", "questions"], QUESTIONS, Question)
    opened.run(HUMAN)
    assert opened.rows("vqa/human", Metric) == []
