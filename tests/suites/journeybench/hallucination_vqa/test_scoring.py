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


@pytest.mark.parametrize(("response", "verdict"), read_cases(__file__, "judge_responses.jsonl"))
def test_points_follow_the_verdict_in_the_json_of_the_judge(response, verdict):
    pair = AnsweredQuestion(heart_question(), prediction(text="There."))
    judgements = scoring.judge([pair], ScriptedModel("judge", lambda _: response))
    points = {True: 1.0, False: 0.0, None: None}[verdict]
    assert scoring.score(pair, judgements).points == points


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
def test_rules_accept_a_single_count_only(response, is_right):
    lemons = question(answer=("There are four lemons", "Four", "4"))
    (judgement,) = scoring.judge_by_rules([AnsweredQuestion(lemons, prediction(text=response))])
    assert judgement.verdict is is_right


@pytest.fixture(scope="module")
def trigger_questions(shared_data):
    return read_trigger_questions(shared_data / "haloquest" / "haloquest-eval.csv").require()


def answered(row, response):
    example = question(text=row.question, answer=row.answers, edition="built")
    return AnsweredQuestion(example, prediction(text=response))


def test_rules_accept_the_answers_of_annotators(trigger_questions):
    pairs = [answered(row, answer) for row in trigger_questions for answer in row.answers]
    refused = [
        pair.prediction.text
        for pair, judgement in zip(pairs, scoring.judge_by_rules(pairs), strict=True)
        if not judgement.verdict
    ]
    assert refused == ["What color is the dog in the yard?"]  # a question back is no answer


@pytest.mark.parametrize(
    "response", ["No", "They cannot be seen.", "There is no such thing.", *STOCK_RESPONSES]
)
def test_rules_accept_a_stock_response_to_one_question_in_a_hundred_at_most(
    trigger_questions, response
):
    pairs = [answered(row, response) for row in trigger_questions]
    n_right = sum(bool(judgement.verdict) for judgement in scoring.judge_by_rules(pairs))
    assert n_right <= 0.01 * len(trigger_questions)


def heart_question(edition="mini"):
    return question(
        text="Where is the blue heart?",
        answer=("There is no blue heart",),
        edition=edition,
        labels={"image_source": "real"},
    )


@pytest.mark.parametrize(
    ("edition", "points", "n_scored", "note"),
    [
        pytest.param("mini", 1.0, 1, "gives 'There is no blue heart'", id="the mini edition"),
        pytest.param("published", None, 0, scoring.NAME_A_JUDGE, id="the published edition"),
        pytest.param(
            "own", None, 0, scoring.NAME_A_JUDGE, id="a part of it, or others in its form"
        ),
    ],
)
def test_rules_score_only_editions_without_published_numbers(edition, points, n_scored, note):
    questions, predictions = [heart_question(edition)], [prediction(text="There is no blue heart.")]
    judgements = pipeline.judge(TASK, questions, predictions, None)
    scores = pipeline.score(TASK, questions, predictions, judgements)
    (score,) = scores
    assert (score.points, score.answer) == (points, ("There is no blue heart.",))
    assert note in score.note
    overall, *_ = pipeline.summarise(TASK, questions, predictions, scores)
    assert (overall.n_scored, overall.n_unscored) == (n_scored, 1 - n_scored)


@pytest.mark.parametrize("edition", ["mini", "built", "published", "own"])
def test_a_judge_model_scores_every_edition(edition):
    questions, predictions = [heart_question(edition)], [prediction(text="There is no blue heart.")]
    judge = ScriptedModel("j", lambda _: JSON.replace("false", "true"))
    judgements = pipeline.judge(TASK, questions, predictions, judge)
    (score,) = pipeline.score(TASK, questions, predictions, judgements)
    assert score.points == 1.0


@pytest.mark.parametrize("n_judgements", [0, 2])
def test_a_response_needs_exactly_one_judgement(n_judgements):
    pair = AnsweredQuestion(question(edition="mini"), prediction(text="There."))
    judgement = Judgement.of(
        pair.prediction, judge="j", criterion="right", verdict=True, response=""
    )
    score = scoring.score(pair, [judgement] * n_judgements)
    assert (score.points, score.note) == (None, f"{n_judgements} judgements instead of one")


def test_broken_json_is_retried_with_the_complaint():
    last_turns = []

    def answer(request):
        last_turns.append(request.prompt.turns[-1].parts)
        return "I have no idea." if len(last_turns) == 1 else JSON

    pairs = [AnsweredQuestion(heart_question(), prediction(text="There."))]
    (judgement,) = scoring.judge(pairs, ScriptedModel("judge", answer))
    assert judgement.verdict is False
    _, (*_, complaint) = last_turns
    assert "I have no idea." in complaint
    assert complaint.endswith("and nothing else.")


def test_the_official_scorer_judges_the_thinking_too():
    example = question(answer=("No.",))
    predictions = [
        prediction(question_id=example.question_id, text="No.", raw_text="<think>Yes.</think>No."),
        prediction(question_id=example.question_id, sample=1, text="No.", raw_text="No."),
    ]

    def answer(request):
        is_right = "Model's answer: No." in request.prompt.turns[-1].parts[0]
        return json.dumps({**FIELDS, "is_prediction_correct": is_right})

    pairs = [AnsweredQuestion(example, row) for row in predictions]
    judgements = scoring.judge(pairs, ScriptedModel("judge", answer))
    assert len(judgements) == 3  # two of the first response, one of the second
    strict = pipeline.score(TASK, [example], predictions, judgements, "strict")
    official = pipeline.score(TASK, [example], predictions, judgements, "official")
    assert [score.points for score in strict] == [1.0, 1.0]
    assert [score.points for score in official] == [0.0, 1.0]
