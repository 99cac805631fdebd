import dagster as dg
import pytest

from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.suites.cogbench.description.recognition import EntityMatch
from bench_assets.suites.cogbench.description.task import TASK
from tests.fakes.rows import prediction
from tests.fakes.stories import story_question
from tests.suites.cogbench.graph import Bench

CHAINS = {"event": ["a -> The boy steals.", "b -> The sun shines."]}
QUESTIONS = [
    story_question(
        CHAINS,
        image_id="1",
        entities=["boy", "television"],
        description="The boy steals. The sun shines.",
    ),
    story_question(CHAINS, image_id="2", entities=["dog"], description="The sun shines on a dog."),
]
DESCRIPTIONS = ["A boy watches the television. The boy steals.", "你好 🎉"]


@pytest.fixture
def materialize_studies(tmp_path):
    """A function that materializes studies over the tables above and returns their home."""

    def materialize(*names, model="m", **settings):
        home = Bench(tmp_path, **settings)
        predictions = [
            prediction(question_id=question.question_id, text=text)
            for question, text in zip(QUESTIONS, DESCRIPTIONS, strict=True)
        ]
        key = ["cogbench", "description"]
        home.tables.write([*key, "questions"], QUESTIONS, Question)
        home.tables.write([*key, "predictions"], predictions, Prediction, "m")
        judgements = pipeline.judge(TASK, QUESTIONS, predictions, None)
        home.tables.write([*key, "judgements"], judgements, Judgement, "m")
        selection = dg.AssetSelection.assets(*([*key, name] for name in names))
        home.materialize_and_check(selection, model)
        return home

    return materialize


def test_recognition_is_the_share_of_matched_entities(materialize_studies):
    home = materialize_studies("entity_matches", "recognition")
    matches = home.rows("description/entity_matches", EntityMatch, "m")
    assert [(match.entity, match.recognised) for match in matches] == [
        ("boy", True),
        ("television", True),
        ("dog", False),
    ]
    rows = {row.metric: row for row in home.rows("description/recognition", Metric, "m")}
    assert rows["recognition"].value == pytest.approx(2 / 3)  # two of three entities
    assert rows["recognition_macro"].value == 0.5  # both of the first image, none of the second
    assert rows["recognition_official"].value == pytest.approx(2 / 3)


def test_recognition_is_signed_with_its_tools_and_its_threshold(materialize_studies):
    home = materialize_studies("entity_matches", "recognition")
    signature = home.rows("description/recognition", Metric, "m")[0].signature
    assert "nouns:en_core_web_sm" in signature
    assert "encoder:all-MiniLM-L6-v2@sha256:" in signature
    # The threshold and the digest of the pairs that it was chosen on: KNOWN_THRESHOLDS.
    assert "above:0.6604 by pairs:90af9910|n:2" in signature


def test_the_threshold_is_the_one_of_the_settings(materialize_studies):
    home = materialize_studies("entity_matches", recognition_threshold="1")
    matches = home.rows("description/entity_matches", EntityMatch, "m")
    assert [match.recognised for match in matches] == [False] * 3


def test_the_oracle_is_scored_by_the_same_rules(materialize_studies):
    rows = materialize_studies("oracle", model=None).rows("description/oracle", Metric)
    values = {row.metric: row.value for row in rows if row.category == "all"}
    assert {row.model for row in rows} == {"oracle"}
    assert values["cognition"] == values["cognition_event"] == 0.75  # only one boy is told
    assert values["recognition"] == pytest.approx(2 / 3)  # all but the television
    assert values["recognition_macro"] == 0.75  # half of the first image, all of the second
