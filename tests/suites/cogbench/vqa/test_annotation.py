"""The score of people as an asset."""

import json
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


def run(home, **settings):
    opened = Bench(home, **settings)
    opened.tables.write(["cogbench", "vqa", "questions"], QUESTIONS, Question)
    opened.run(HUMAN)
    return opened.rows("vqa/human", Metric)


def test_people_are_scored_from_the_file_of_the_settings(tmp_path):
    lines = [
        {"question_id": question.question_id, "person": person, "answer": answer}
        for question, answers in zip(QUESTIONS, ("AA", "BC"), strict=True)
        for person, answer in zip("pr", answers, strict=True)
    ]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = run(tmp_path, human_answers="people.jsonl")
    assert [(row.model, row.category, row.value, row.n_scored) for row in rows] == [
        ("people", "all", 0.75, 4),
        ("people", "Event", 0.75, 4),
    ]
    assert "people:2|n:2" in rows[0].signature


def test_people_answer_each_question_and_the_last_answer_counts(tmp_path):
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
    opened = Bench(tmp_path, human_answers="people.jsonl")
    lines = [{"question_id": second.unit_id, "person": "p", "answer": "B"}]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, lines)))
    opened.tables.write(HUMAN_TASK.table("answers").split("/"), answers, Answer)
    opened.tables.write(["cogbench", "vqa", "questions"], QUESTIONS, Question)
    opened.run(HUMAN)
    row = opened.rows("vqa/human", Metric)[0]
    assert (row.value, row.n_scored) == (pytest.approx(2 / 3), 3)  # A, then C instead of B, and B


def test_without_a_file_there_is_no_score_of_people(tmp_path):
    assert run(tmp_path) == []
