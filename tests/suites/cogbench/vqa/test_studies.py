"""The score of people as an asset."""

import json

import dagster as dg

from bench_assets.core.schema.rows import Metric, Question
from tests.rows import question
from tests.suites.cogbench.graph import Home

ASKED = [
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
    opened = Home(home, **settings)
    opened.tables.write(["cogbench", "vqa", "questions"], ASKED, Question)
    opened.materialize(HUMAN)
    return opened.rows("vqa/human", Metric)


def test_people_are_scored_from_the_file_of_the_settings(tmp_path):
    lines = [
        {"question_id": question.question_id, "person": person, "answer": answer}
        for question, answers in zip(ASKED, ("AA", "BC"), strict=True)
        for person, answer in zip("pr", answers, strict=True)
    ]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = run(tmp_path, human_answers="people.jsonl")
    assert [(row.model, row.category, row.value, row.n_scored) for row in rows] == [
        ("people", "all", 0.75, 4),
        ("people", "Event", 0.75, 4),
    ]
    assert "people:2|n:2" in rows[0].signature


def test_without_a_file_there_is_no_score_of_people(tmp_path):
    assert run(tmp_path) == []
