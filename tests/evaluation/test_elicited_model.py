"""A model that is asked for options: its answers, its numbers, and what cannot be asked so."""

import json
from collections.abc import Sequence
from math import exp, log

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.elicitation import Elicitation, OptionLikelihoods
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.core.schema.rows import Question
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
    elicits = frozenset({"likelihood", "constrained"})

    def __init__(self, probable: dict[str, dict[str, float]] | None = None) -> None:
        self.probable = probable or {}
        self.requests: list[Request] = []

    def response(self, requests: Sequence[Request]) -> list[Response]:
        self.requests += requests
        return [Response(text=self._text(one), finish_reason="stop") for one in requests]

    def _text(self, request: Request) -> str:
        of = self.probable.get(str(request.prompt.turns[-1].parts[-1]), {})
        found = [of.get(option, 1 / 8) for option in request.options]
        if request.elicit == "constrained":
            return request.options[found.index(max(found))]
        return OptionLikelihoods(tuple(map(log, found)), (1,) * len(found)).to_json()


def elicit(
    how: str, model: Weighing, *questions: Question, task: Task = TASK
) -> list[pipeline.Prediction]:
    elicited = ElicitedModel(model, f"m+{how}", Elicitation.parse(how))
    return pipeline.predict(task, questions, elicited)


def test_the_likeliest_option_is_the_answer_and_all_are_ranked():
    (predicted,) = elicit("likelihood", Weighing({"?": {"A": 0.25, "B": 0.5}}), CHOICE)
    assert (predicted.text, predicted.ranking) == ("B", ("B", "A", "C"))
    assert [exp(one) for one in predicted.logprobs] == pytest.approx([0.25, 0.5, 0.125], abs=1e-6)
    assert json.loads(predicted.raw_text)["tokens"] == [1, 1, 1]
    assert predicted.decoding == "weighing|elicit=likelihood-letters-none"


def test_equally_likely_options_are_the_first_one():
    (predicted,) = elicit("likelihood", Weighing(), CHOICE)
    assert (predicted.text, predicted.ranking) == ("A", ("A", "B", "C"))


def test_what_is_likely_without_a_question_is_taken_off():
    model = Weighing({"?": {"A": 0.5, "B": 0.25}, "": {"A": 0.5}})
    (plain,) = elicit("likelihood", model, CHOICE)
    (without,) = elicit("likelihood-unconditional", model, CHOICE)
    assert (plain.text, without.text) == ("A", "B")
    assert [exp(one) for one in without.logprobs] == pytest.approx([1, 2, 1], abs=1e-5)
    assert model.requests[-1].prompt == Prompt.of("")


def test_one_of_the_options_is_the_answer_by_its_letter():
    (predicted,) = elicit("constrained-texts", Weighing({"?": {"up": 0.5}}), CHOICE)
    assert (predicted.text, predicted.raw_text, predicted.ranking, predicted.logprobs) == (
        "C",
        "up",
        (),
        (),
    )


def test_what_is_none_of_the_options_is_an_error_and_no_answer():
    class Chatting(Weighing):
        def _text(self, request: Request) -> str:
            return "I think A."

    for how in ("likelihood", "constrained"):
        (predicted,) = elicit(how, Chatting(), CHOICE)
        assert predicted.error.startswith("not one of the options: ")
        assert not predicted.text


def test_an_error_of_the_prior_is_one_of_the_answer():
    class Failing(Weighing):
        def response(self, requests: Sequence[Request]) -> list[Response]:
            failed = Response(error="busy")
            empty = Prompt.of("")
            predicted = super().response(requests)
            return [
                failed if one.prompt == empty else given
                for one, given in zip(requests, predicted, strict=True)
            ]

    (predicted,) = elicit("likelihood-unconditional", Failing(), CHOICE)
    assert predicted.error == "busy"


def test_scores_have_the_confidence_of_the_answer():
    predictions = elicit("likelihood", Weighing({"?": {"A": 0.25, "B": 0.5}}), CHOICE)
    (score,) = pipeline.score(TASK, [CHOICE], predictions, [])
    assert (score.points, score.no_answer) == (1.0, False)
    assert score.confidence == pytest.approx(4 / 7, abs=1e-6)


def test_generated_texts_have_no_confidence():
    (predicted,) = pipeline.predict(TASK, [CHOICE], ScriptedModel("m", lambda _: "B"))
    (score,) = pipeline.score(TASK, [CHOICE], [predicted], [])
    assert (predicted.logprobs, score.confidence) == ((), None)


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


def test_several_draws_of_likelihoods_are_refused_and_those_of_options_are_not():
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
    assert len(elicit("constrained", Weighing(), CHOICE, task=task)) == 2


def test_a_model_that_only_talks_is_refused():
    with pytest.raises(ModelError, match=r"^m: does not support likelihood \(expected"):
        ElicitedModel(ScriptedModel("m", lambda _: "A"), "m+likelihood", Elicitation("likelihood"))


def test_it_neither_judges_nor_writes():
    model = ElicitedModel(Weighing(), "m+likelihood", Elicitation("likelihood"))
    with pytest.raises(SettingsError, match="only questions with options"):
        model.response([Request(prompt=Prompt.of("Is it right?"))])
