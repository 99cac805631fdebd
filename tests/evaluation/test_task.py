import pytest

from bench_assets.core.schema.chat import Prompt, Response
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel, ByRules, ChosenJudge
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.flowing import JUDGES, QUESTIONS, by_model, by_rules, responses_of, task
from tests.fakes.rows import prediction


class Model:
    """Answers with what it is given, and keeps what it was asked."""

    name, signature = "m", "m|t=0"

    def __init__(self, *responses):
        self.responses, self.asked = responses, []

    def response(self, requests):
        self.asked.append(list(requests))
        return list(self.responses)


def test_all_questions_are_in_one_call():
    model = Model(*[Response(text="x")] * 3)
    rows = pipeline.predict(task(), QUESTIONS, model)
    (requests,) = model.asked
    assert [(r.question, r.prompt, r.sample) for r in requests] == [
        (q, Prompt.of(q.text), 0) for q in QUESTIONS
    ]
    assert [r.question_id for r in rows] == ["t/1", "t/2", "t/3"]


def test_a_prediction_has_its_prompt_and_its_response():
    response = Response(
        text="<think>hm</think> 1",
        finish_reason="length",
        prompt_tokens=5,
        completion_tokens=7,
        seconds=0.5,
    )
    (row,) = pipeline.predict(task(), QUESTIONS[:1], Model(response))
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
    model = Model(*[Response(text=str(n)) for n in range(6)])
    rows = pipeline.predict(task(), QUESTIONS[:2], model, "thrice")
    assert [(r.question_id, r.sample, r.condition, r.text) for r in rows] == [
        ("t/1", 0, "thrice", "0"),
        ("t/1", 1, "thrice", "1"),
        ("t/1", 2, "thrice", "2"),
        ("t/2", 0, "thrice", "3"),
        ("t/2", 1, "thrice", "4"),
        ("t/2", 2, "thrice", "5"),
    ]
    assert {r.temperature for r in model.asked[0]} == {0.7}


def test_what_was_never_answered_is_not_judged():
    judged = pipeline.judge(
        task(judges=JUDGES), QUESTIONS, responses_of(q1="1", q2="", q3="9"), None
    )
    assert [(j.question_id, j.verdict) for j in judged] == [("t/1", True), ("t/3", False)]


def likes(answered, model=None):
    return [
        Judgement.of(p, judge="somebody", criterion="c", verdict=True, response="")
        for _, p in answered
    ]


def test_another_judge_is_called_by_its_name_and_shown_with_the_model_it_asks():
    judging = task(judges={**JUDGES, "kind": ByRules(likes), "mild": ByModel(likes)})
    model = ScriptedModel("gpt", lambda _: "right")
    (by_name,) = pipeline.judge(judging, QUESTIONS, responses_of(q1="9"), None, "kind")
    (by_model,) = pipeline.judge(judging, QUESTIONS, responses_of(q1="9"), model, "mild")
    assert (by_name.judge, by_model.judge) == ("kind", "mild:gpt")


@pytest.mark.parametrize(
    ("setting", "chosen"),
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
def test_a_setting_names_a_judge_or_else_a_model(setting, chosen):
    judges = {**JUDGES, "kind": ByRules(likes), "mild": ByModel(likes)}
    assert task(judges=judges).chosen_judge(setting) == chosen


@pytest.mark.parametrize(
    ("judges", "setting", "ways"),
    [
        pytest.param(
            {**JUDGES, "mild": ByModel(likes)},
            "mild",
            "by rules, mild:MODEL, a model, people, not by 'mild'",
            id="a judge that asks a model, and none named",
        ),
        pytest.param({}, "gpt", "by none, not by 'gpt'", id="no judge at all"),
    ],
)
def test_a_setting_that_names_no_judge_says_which_there_are(judges, setting, ways):
    with pytest.raises(SettingsError, match=f"t is judged {ways}: name the judge"):
        task(judges=judges).chosen_judge(setting)


@pytest.mark.parametrize(
    ("offered", "model"),
    [
        pytest.param({"paper": ByModel(by_model)}, None, id="no rules"),
        pytest.param({"rules": ByRules(by_rules)}, Model(), id="no prompt for a model"),
    ],
)
def test_a_judge_of_the_wrong_kind_is_refused(offered, model):
    with pytest.raises(SettingsError, match="t is judged by"):
        pipeline.judge(task(judges=offered), QUESTIONS, responses_of(q1="1"), model)


def test_each_draw_is_scored_by_its_own_judgement():
    drawn = [prediction(question_id="t/1", sample=n, text=t) for n, t in enumerate("192")]
    judging = task(judges=JUDGES)
    judged = pipeline.judge(judging, QUESTIONS, drawn, None)
    rows = pipeline.score(judging, QUESTIONS, drawn, judged[::-1], "by_verdict")
    assert [(s.sample, s.points, s.judge, s.scorer) for s in rows] == [
        (0, 1.0, "rules", "by_verdict"),
        (1, 0.0, "rules", "by_verdict"),
        (2, 0.0, "rules", "by_verdict"),
    ]


def test_the_first_reading_is_the_default_and_others_go_by_name():
    (row,) = pipeline.score(task(), QUESTIONS, responses_of(q1="1"), [])
    assert row.scorer == "exact"
    with pytest.raises(UnknownNameError, match="'lenient'; known: by_verdict, exact"):
        pipeline.score(task(), QUESTIONS, responses_of(q1="1"), [], "lenient")
