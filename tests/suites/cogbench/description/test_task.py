"""The studies as assets: what they make of tables and settings, with the real encoder."""

import json

import dagster as dg
import pytest

from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.suites.cogbench.description.recognition import EntityMatch
from bench_assets.suites.cogbench.description.task import TASK
from tests.fakes.stories import story_question
from tests.suites.cogbench.graph import Bench

CHAINS = {"event": ["a -> The boy steals.", "b -> The sun shines."]}
QUESTIONS = [
    story_question(CHAINS, image_id="1", entities=["boy", "television"]),
    story_question(CHAINS, image_id="2", entities=["dog"]),
]
DESCRIPTIONS = ["A boy watches the television. The boy steals.", "你好 🎉"]


@pytest.fixture
def study(tmp_path):
    """Materialize studies over the tables above."""
    labels = [
        {"question_id": q.question_id, "criterion": f"event/{n}", "mentioned": n == 1}
        for q in QUESTIONS
        for n in (1, 2)
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))

    def run(*names, model="m", **settings):
        home = Bench(tmp_path, **settings)
        predictions = [
            Prediction(question_id=q.question_id, model="m", condition="main", text=text)
            for q, text in zip(QUESTIONS, DESCRIPTIONS, strict=True)
        ]
        key = ["cogbench", "description"]
        home.tables.write([*key, "questions"], QUESTIONS, Question)
        home.tables.write([*key, "predictions"], predictions, Prediction, "m")
        judged = pipeline.judge(TASK, QUESTIONS, predictions, None)
        home.tables.write([*key, "judgements"], judged, Judgement, "m")
        home.run(dg.AssetSelection.assets(*([*key, name] for name in names)), model)
        return home

    return run


def test_recognition_names_the_nouns_it_found_and_what_found_them(study):
    home = study("entity_matches", "recognition")
    matches = home.rows("description/entity_matches", EntityMatch, "m")
    assert [(m.entity, m.recognised) for m in matches] == [
        ("boy", True),
        ("television", True),
        ("dog", False),
    ]
    rows = {row.metric: row for row in home.rows("description/recognition", Metric, "m")}
    assert rows["recognition"].value == pytest.approx(2 / 3)
    assert rows["recognition_macro"].value == 0.5
    assert rows["recognition_official"].value == pytest.approx(2 / 3)
    signature = rows["recognition"].signature
    assert "nouns:en_core_web_sm" in signature
    assert "encoder:all-MiniLM-L6-v2@sha256:" in signature
    assert "above:0.6604 by pairs:90af9910|n:2" in signature


def test_the_threshold_is_the_one_of_the_settings(study):
    home = study("entity_matches", recognition_threshold="1")
    assert not any(m.recognised for m in home.rows("description/entity_matches", EntityMatch, "m"))


def test_the_oracle_is_scored_by_the_same_rules(study):
    rows = study("oracle", model=None).rows("description/oracle", Metric)
    values = {row.metric: row.value for row in rows if row.category == "all"}
    assert {row.model for row in rows} == {"oracle"}
    assert {"cognition", "cognition_event", "recognition", "recognition_macro"} <= values.keys()
    assert (values["cognition"], values["recognition"]) == (0.0, 0.0)  # "A story." tells nothing
