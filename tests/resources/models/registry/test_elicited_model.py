"""A model that is asked for options: its answers, its numbers, and what cannot be asked so."""

import json
from collections.abc import Sequence
from math import exp, log

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.elicitation import Elicitation, format_logprobs
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Condition, Task
from bench_resources.models.registry.baselines import ScriptedModel
from bench_resources.models.registry.elicited_model import ElicitedModel
from tests.fakes.quiz import TASK
from tests.fakes.rows import question

CHOICE = question(
    question_id="q/1", task="q", kind="choice", options=("left", "right", "up"), answer=("B",)
)


class Weighing:
    """A chat model with probabilities of options: 1/8 each, but for what a prompt names."""

    name, signature = "m", "weighing"
    elicits = frozenset({"likelihood"})

    def __init__(self, probable: dict[str, dict[str, float]] | None = None) -> None:
        self.probable = probable or {}
        self.requests: list[Request] = []

    def response(self, requests: Sequence[Request]) -> list[Response]:
        self.requests += requests
        return [Response(text=self._text(request), finish_reason="stop") for request in requests]

    def _text(self, request: Request) -> str:
        of = self.probable.get(str(request.prompt.turns[-1].parts[-1]), {})
        likelihoods = [of.get(option, 1 / 8) for option in request.options]
        return format_logprobs([*map(log, likelihoods)])


def elicit(how: str, model: Weighing, *questions: Question, task: Task = TASK) -> list[Prediction]:
    elicited = ElicitedModel(model, f"m+{how}", Elicitation.parse(how))
    return pipeline.predict(task, questions, elicited)


def test_the_likeliest_option_is_the_answer_and_all_are_ranked():
    (predicted,) = elicit("likelihood", Weighing({"?": {"A": 0.25, "B": 0.5}}), CHOICE)
    assert (predicted.text, predicted.ranking) == ("B", ("B", "A", "C"))
    assert [exp(logprob) for logprob in predicted.logprobs] == pytest.approx(
        [0.25, 0.5, 0.125], abs=1e-6
    )
    assert len(json.loads(predicted.raw_text)["logprobs"]) == 3
    assert predicted.decoding == "weighing|elicit=likelihood-letters-none"
    (score,) = pipeline.score(TASK, [CHOICE], [predicted], [])
    assert (score.points, score.no_answer) == (1.0, False)
    assert score.confidence == pytest.approx(4 / 7, abs=1e-6)


def test_what_is_none_of_the_options_is_an_error_and_no_answer():
    class Chatting(Weighing):
        def _text(self, request: Request) -> str:
            return "I think A."

    (predicted,) = elicit("likelihood", Chatting(), CHOICE)
    assert predicted.error.startswith("not one of the options: ")
    assert not predicted.text


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"kind": "text"}, "text"),
        ({"kind": "choices", "options": ("a", "b")}, "choices"),
        ({"kind": "blanks"}, "blanks"),
        ({"kind": "choice"}, "choice"),
        ({"kind": "choice", "options": ("only",)}, "choice"),
    ],
    ids=["texts", "several right ones", "blanks", "no options", "one option"],
)
def test_a_task_whose_questions_have_not_one_right_option_says_so_in_a_sentence(fields, kind):
    model = Weighing()
    other = question(question_id="q/2", task="q", **fields)
    with pytest.raises(SettingsError) as refused:
        elicit("likelihood", model, CHOICE, other)
    assert str(refused.value) == (
        "q: likelihood cannot be elicited: 1 of 2 questions do not have options of which exactly"
        f" one is right (such as q/2, kind {kind}); use --elicit generate"
    )
    assert model.requests == []


def test_several_draws_of_likelihoods_are_refused():
    task = Task(
        name="q",
        title="q",
        version=1,
        conditions={"main": Condition(prompt=lambda q: Prompt.of(q.text), about="", samples=2)},
        scorers=TASK.scorers,
        measures={"accuracy": lambda scored: mean(ScoredPoint(s.points) for _, s in scored)},
    )
    with pytest.raises(SettingsError, match="several responses are drawn"):
        elicit("likelihood", Weighing(), CHOICE, task=task)


def test_a_model_that_only_talks_is_refused():
    with pytest.raises(ModelError, match=r"^m: does not support likelihood \(expected"):
        ElicitedModel(ScriptedModel("m", lambda _: "A"), "m+likelihood", Elicitation())


def test_it_neither_judges_nor_writes():
    model = ElicitedModel(Weighing(), "m+likelihood", Elicitation())
    with pytest.raises(SettingsError, match="only questions with options"):
        model.response([Request(prompt=Prompt.of("Is it right?"))])
