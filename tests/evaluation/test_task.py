import pytest

from bench_assets.core.schema.chat import Prompt, Response
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel, ByRules, ChosenJudge
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.flowing import JUDGES, QUESTIONS, by_model, by_rules, responses_of, task
from tests.fakes.quiz import call_right, judge_right
from tests.fakes.rows import prediction


class RecordingModel:
    """Gives fixed responses and keeps the requests of every call."""

    name, signature = "m", "m|t=0"

    def __init__(self, *responses):
        self.responses = list(responses)
        self.calls = []

    def response(self, requests):
        self.calls.append(list(requests))
        return self.responses


def test_all_questions_are_in_one_call():
    model = RecordingModel(*[Response(text="x")] * 3)
    rows = pipeline.predict(task(), QUESTIONS, model)
    (requests,) = model.calls
    assert [(request.question, request.prompt, request.sample) for request in requests] == [
        (question, Prompt.of(question.text), 0) for question in QUESTIONS
    ]
    assert [row.question_id for row in rows] == ["t/1", "t/2", "t/3"]


def test_a_prediction_has_its_prompt_and_its_response():
    response = Response(
        text="<think>hm</think> 1",
        finish_reason="length",
        prompt_tokens=5,
        completion_tokens=7,
        seconds=0.5,
    )
    (row,) = pipeline.predict(task(), QUESTIONS[:1], RecordingModel(response))
    assert row == prediction(
        text="1",
        raw_text="<think>hm</think> 1",
        prompt_sha256=Prompt.of("one?").sha256,
        decoding="m|t=0",
        finish_reason="length",
        prompt_tokens=5,
        completion_tokens=7,
        seconds=0.5,
    )


def test_several_draws_of_a_question_are_numbered():
    model = RecordingModel(*[Response(text=str(n)) for n in range(6)])
    rows = pipeline.predict(task(), QUESTIONS[:2], model, "thrice")
    (requests,) = model.calls
    assert [(row.question_id, row.sample, row.condition, row.text) for row in rows] == [
        ("t/1", 0, "thrice", "0"),
        ("t/1", 1, "thrice", "1"),
        ("t/1", 2, "thrice", "2"),
        ("t/2", 0, "thrice", "3"),
        ("t/2", 1, "thrice", "4"),
        ("t/2", 2, "thrice", "5"),
    ]
    assert {request.temperature for request in requests} == {0.7}


def test_a_request_that_failed_is_not_judged():
    responses = responses_of(q1="1", q2="", q3="9")
    judgements = pipeline.judge(task(judges=JUDGES), QUESTIONS, responses, None)
    assert [(row.question_id, row.verdict) for row in judgements] == [("t/1", True), ("t/3", False)]


def test_a_judge_is_called_by_its_name_and_recorded_with_its_model():
    judging = task(judges={**JUDGES, "kind": ByRules(call_right), "mild": ByModel(judge_right)})
    model = ScriptedModel("gpt", lambda _: "right")
    (by_kind,) = pipeline.judge(judging, QUESTIONS, responses_of(q1="9"), None, "kind")
    (by_mild,) = pipeline.judge(judging, QUESTIONS, responses_of(q1="9"), model, "mild")
    assert (by_kind.judge, by_mild.judge) == ("kind", "mild:gpt")


@pytest.mark.parametrize(
    ("setting", "expected_judge"),
    [
        pytest.param("rules", ChosenJudge("rules", ""), id="rules"),
        pytest.param("kind", ChosenJudge("kind", ""), id="another that needs no model"),
        pytest.param("gpt", ChosenJudge("paper", "gpt"), id="a model: the default judge asks it"),
        pytest.param("mild:gpt", ChosenJudge("mild", "gpt"), id="a judge and its model"),
        pytest.param("paper:gpt", ChosenJudge("paper", "gpt"), id="the default judge by name"),
        pytest.param("paper", ChosenJudge("paper", "paper"), id="a model called like the default"),
        pytest.param("people", ChosenJudge("people", ""), id="annotators"),
        pytest.param("qwen:7b", ChosenJudge("paper", "qwen:7b"), id="a model with a colon"),
    ],
)
def test_a_setting_names_a_judge_or_else_a_model(setting, expected_judge):
    judges = {**JUDGES, "kind": ByRules(call_right), "mild": ByModel(judge_right)}
    assert task(judges=judges).chosen_judge(setting) == expected_judge


def test_a_scorer_without_verdicts_asks_no_model():
    unjudged = task(judges=JUDGES, unjudged_scorers=frozenset({"official"}))
    assert unjudged.asked_judge("gpt", "official") == ChosenJudge("", "")
    assert unjudged.asked_judge("gpt", "") == ChosenJudge("paper", "gpt")
    assert unjudged.asked_judge("rules", "official") == ChosenJudge("rules", "")


@pytest.mark.parametrize(
    ("judges", "setting", "expected_choices"),
    [
        pytest.param(
            {**JUDGES, "mild": ByModel(judge_right)},
            "mild",
            "by rules, mild:MODEL, a model, people, not by 'mild'",
            id="a judge that asks a model, and none named",
        ),
        pytest.param({}, "gpt", "by none, not by 'gpt'", id="no judge at all"),
    ],
)
def test_a_setting_that_names_no_judge_lists_the_judges(judges, setting, expected_choices):
    with pytest.raises(SettingsError, match=f"t is judged {expected_choices}: name the judge"):
        task(judges=judges).chosen_judge(setting)


@pytest.mark.parametrize(
    ("judges", "model"),
    [
        pytest.param({"paper": ByModel(by_model)}, None, id="no rules"),
        pytest.param({"rules": ByRules(by_rules)}, RecordingModel(), id="no prompt for a model"),
    ],
)
def test_a_judge_of_the_wrong_kind_is_refused(judges, model):
    with pytest.raises(SettingsError, match="t is judged by"):
        pipeline.judge(task(judges=judges), QUESTIONS, responses_of(q1="1"), model)


def test_each_draw_is_scored_by_its_own_judgement():
    draws = [
        prediction(question_id="t/1", sample=sample, text=text)
        for sample, text in enumerate(["1", "9", "2"])
    ]
    judging = task(judges=JUDGES)
    judgements = pipeline.judge(judging, QUESTIONS, draws, None)
    # In another order than the draws.
    rows = pipeline.score(judging, QUESTIONS, draws, judgements[::-1], "by_verdict")
    assert [(row.sample, row.points, row.judge, row.scorer) for row in rows] == [
        (0, 1.0, "rules", "by_verdict"),
        (1, 0.0, "rules", "by_verdict"),
        (2, 0.0, "rules", "by_verdict"),
    ]


def test_the_first_scorer_is_the_default():
    (row,) = pipeline.score(task(), QUESTIONS, responses_of(q1="1"), [])
    assert row.scorer == "exact"


def test_an_unknown_scorer_is_refused_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="'lenient'; known: by_verdict, exact"):
        pipeline.score(task(), QUESTIONS, responses_of(q1="1"), [], "lenient")
