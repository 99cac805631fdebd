from dataclasses import replace

import dagster as dg
import pytest

from bench_assets.annotation.tasks import Answer
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.suites.cogbench.vqa.annotation import HUMAN as HUMAN_TASK
from tests.fakes.answers import answer
from tests.fakes.rows import question
from tests.suites.cogbench.graph import Bench

QUESTIONS = [
    question(
        question_id=f"cogbench/vqa/kite/{number}",
        kind="choice",
        options=("a", "b", "c", "d"),
        answer=(key,),
        category="Event",
    )
    for number, key in ((1, "A"), (2, "B"))
]
HUMAN_ASSET = dg.AssetSelection.assets(["cogbench", "vqa", "human"])


def test_five_people_answer_each_question_without_seeing_its_key():
    unit, _ = HUMAN_TASK.units([replace(row, images=("a" * 64,)) for row in QUESTIONS])
    assert (unit.unit_id, unit.needed) == (QUESTIONS[0].question_id, 5)
    assert unit.shown == {"Question": QUESTIONS[0].text}


def test_the_human_score_is_the_share_of_right_answers(tmp_path):
    first_id, second_id = (row.question_id for row in QUESTIONS)
    answers = [
        answer(first_id, "p", answer="A. a"),
        answer(second_id, "p", answer="C. c"),
        answer(second_id, "r", answer="B. b"),
    ]
    bench = Bench(tmp_path)
    bench.tables.write(HUMAN_TASK.table("answers").split("/"), answers, Answer)
    bench.tables.write(["cogbench", "vqa", "questions"], QUESTIONS, Question)

    bench.materialize_and_check(HUMAN_ASSET)

    overall, *_ = bench.rows("vqa/human", Metric)
    assert (overall.model, overall.n_scored) == ("people", 3)
    assert overall.value == pytest.approx(2 / 3)


def test_without_answers_there_is_no_human_score(tmp_path):
    bench = Bench(tmp_path)
    bench.tables.write(["cogbench", "vqa", "questions"], QUESTIONS, Question)
    bench.materialize_and_check(HUMAN_ASSET)
    assert bench.rows("vqa/human", Metric) == []
