"""The judge's JSON, the rules that stand in for it, and the accuracy."""

import json

import pytest

from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.baselines.constant_responses import STOCK_RESPONSES
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.journeybench.hallucination_vqa import scoring
from bench_assets.suites.journeybench.hallucination_vqa.dataset import read_trigger_questions
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_cases
from tests.fakes.rows import prediction, question

FIELDS = {
    "question": "Where is the heart?",
    "model_response": "On the left.",
    "groundtruth_response": "There is no heart.",
    "model_response_main_point": "The heart is on the left.",
    "groundtruth_main_point": "There is no heart.",
    "is_prediction_correct": False,
}
JSON = json.dumps(FIELDS)


@pytest.mark.parametrize(
    ("response", "verdict"),
    read_cases(__file__, "judge_responses.jsonl"),
)
def test_the_judges_six_fields(response, verdict):
    assessment = scoring.read_assessment(response)
    assert (assessment.is_prediction_correct if assessment else None) is verdict
    if assessment:
        assert assessment.groundtruth_main_point == "There is no heart."


def test_broken_json_is_unscored_and_counted():
    questions = [
        question(
            question_id=f"q/{n}",
            category="false premises",
            labels={"image_source": "real"},
            group_id=str(n),
        )
        for n in range(3)
    ]
    predictions = [prediction(question_id=f"q/{n}", text=str(n)) for n in range(3)]
    responses = {"0": JSON.replace("false", "true"), "1": JSON, "2": "{"}

    def say(request):
        text = request.prompt.turns[-1].parts[0]
        return next(response for n, response in responses.items() if f"answer: {n}\n" in text)

    judgements = pipeline.judge(TASK, questions, predictions, ScriptedModel("judge", say))
    scores = pipeline.score(TASK, questions, predictions, judgements)
    assert [score.points for score in scores] == [1.0, 0.0, None]
    overall = pipeline.summarise(TASK, questions, predictions, scores)[0]
    assert (overall.value, overall.n_scored, overall.n_unscored) == (0.5, 2, 1)


@pytest.mark.parametrize(
    ("response", "is_right"),
    [
        ("There are four.", True),
        ("I see 4 lemons.", True),
        ("Four, 4", True),
        ("Four, 4, Six, 6, Two, 2", False),
        ("Four or six", False),
    ],
)
def test_a_list_of_counts_is_no_count(response, is_right):
    lemons = question(answer=("There are four lemons", "Four", "4"))
    (judgement,) = scoring.judge_by_rules([AnsweredQuestion(lemons, prediction(text=response))])
    assert judgement.verdict is is_right


HEART = ("There is no blue heart", "Where is the blue heart?")


def test_rules_call_peoples_own_answers_right_and_no_stock_response(shared_data):
    entries = read_trigger_questions(shared_data / "haloquest" / "haloquest-eval.csv").require()
    pairs = [pair(entry, answer) for entry in entries for answer in entry.answers]
    unread = [
        row.prediction.text
        for row, judgement in zip(pairs, scoring.judge_by_rules(pairs), strict=True)
        if not judgement.verdict
    ]
    assert unread == ["What color is the dog in the yard?"]  # a question back is no answer
    for text in ("No", "They cannot be seen.", "There is no such thing.", *STOCK_RESPONSES):
        pairs = [pair(entry, text) for entry in entries]
        right = sum(bool(judgement.verdict) for judgement in scoring.judge_by_rules(pairs))
        assert right <= 0.01 * len(entries)


def pair(entry, response, edition="built"):
    example = question(text=entry.question, answer=entry.answers, edition=edition)
    return AnsweredQuestion(example, prediction(text=response))


@pytest.mark.parametrize(
    ("edition", "points"),
    [
        pytest.param("mini", 1.0, id="the mini edition"),
        pytest.param("published", None, id="the published edition"),
        pytest.param("own", None, id="a part of it, or other questions in its form"),
    ],
)
def test_rules_give_no_points_of_what_stands_beside_published_numbers(edition, points):
    heart = question(
        text=HEART[1], answer=(HEART[0],), edition=edition, labels={"image_source": "real"}
    )
    predicted = prediction(text="There is no blue heart.")
    judgements = pipeline.judge(TASK, [heart], [predicted], None)
    (score,) = pipeline.score(TASK, [heart], [predicted], judgements)
    assert (score.points, score.answer) == (points, ("There is no blue heart.",))
    assert ("name a model as judge" in score.note) is (points is None)
    by_model = pipeline.judge(
        TASK, [heart], [predicted], ScriptedModel("j", lambda _: JSON.replace("false", "true"))
    )
    assert pipeline.score(TASK, [heart], [predicted], by_model)[0].points == 1.0
    overall = pipeline.summarise(
        TASK, [heart], [predicted], pipeline.score(TASK, [heart], [predicted], judgements)
    )
    assert (overall[0].n_scored, overall[0].n_unscored) == ((1, 0) if points else (0, 1))


@pytest.mark.parametrize("n", [0, 2])
def test_anything_but_one_judgement_is_no_verdict(n):
    predicted = prediction(text="There.")
    single = Judgement.of(predicted, judge="j", criterion="right", verdict=True, response="")
    row_score = scoring.score(AnsweredQuestion(question(edition="mini"), predicted), [single] * n)
    assert (row_score.points, row_score.note) == (None, f"{n} judgements instead of one")


def test_broken_json_is_retried_with_the_complaint():
    prompts = []

    def say(request):
        prompts.append(request.prompt.turns[-1].parts)
        return "I have no idea." if len(prompts) < 2 else JSON

    pairs = [
        AnsweredQuestion(question(text=HEART[1], answer=(HEART[0],)), prediction(text="There."))
    ]
    (judgement,) = scoring.judge(pairs, ScriptedModel("judge", say))
    assert judgement.verdict is False
    assert "I have no idea." in prompts[1][-1]
    assert prompts[1][-1].endswith("and nothing else.")
    assert len(prompts) == 2


def test_the_official_reading_has_the_whole_response_judged():
    example = question(answer=("No.",))
    predictions = [
        prediction(question_id=example.question_id, text="No.", raw_text="<think>Yes.</think>No."),
        prediction(question_id=example.question_id, sample=1, text="No.", raw_text="No."),
    ]

    def say(request):
        right = "Model's answer: No." in request.prompt.turns[-1].parts[0]
        return json.dumps({**FIELDS, "is_prediction_correct": right})

    pairs = [AnsweredQuestion(example, row) for row in predictions]
    judgements = scoring.judge(pairs, ScriptedModel("judge", say))
    assert len(judgements) == 3
    points = {
        scorer: [
            row.points for row in pipeline.score(TASK, [example], predictions, judgements, scorer)
        ]
        for scorer in TASK.scorers
    }
    assert points == {"strict": [1.0, 1.0], "official": [0.0, 1.0]}
