from collections.abc import Sequence
from math import exp, log
from typing import Any

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


class ModelWithLikelihoods:
    """A chat model with probabilities of options, by the last text of a prompt; else 1/8 each."""

    name, signature = "m", "weighing"
    elicits = frozenset({"likelihood"})

    def __init__(self, probabilities: dict[str, dict[str, float]] | None = None) -> None:
        self.probabilities = probabilities or {}
        self.requests: list[Request] = []

    def response(self, requests: Sequence[Request]) -> list[Response]:
        self.requests += requests
        return [Response(text=self._text(request), finish_reason="stop") for request in requests]

    def _text(self, request: Request) -> str:
        probabilities = self.probabilities.get(str(request.prompt.turns[-1].parts[-1]), {})
        likelihoods = [probabilities.get(option, 1 / 8) for option in request.options]
        return format_logprobs([*map(log, likelihoods)])


def predict_likelihoods(
    model: ModelWithLikelihoods, *questions: Question, task: Task = TASK
) -> list[Prediction]:
    elicited = ElicitedModel(model, "m+likelihood", Elicitation.parse("likelihood"))
    return pipeline.predict(task, questions, elicited)


def test_the_likeliest_option_is_the_answer_and_all_are_ranked() -> None:
    model = ModelWithLikelihoods({"?": {"A": 0.25, "B": 0.5}})
    (predicted,) = predict_likelihoods(model, CHOICE)
    assert (predicted.text, predicted.ranking) == ("B", ("B", "A", "C"))
    probabilities = [exp(logprob) for logprob in predicted.logprobs]
    assert probabilities == pytest.approx([0.25, 0.5, 1 / 8], abs=1e-6)


def test_the_confidence_is_the_likeliest_option_s_share_of_all() -> None:
    model = ModelWithLikelihoods({"?": {"A": 0.25, "B": 0.5}})
    predictions = predict_likelihoods(model, CHOICE)
    (score,) = pipeline.score(TASK, [CHOICE], predictions, [])
    assert (score.points, score.no_answer) == (1.0, False)
    assert score.confidence == pytest.approx(0.5 / (0.25 + 0.5 + 0.125), abs=1e-6)


class ChattingModel(ModelWithLikelihoods):
    """Answers with words where likelihoods are requested."""

    def _text(self, request: Request) -> str:
        return "I think A."


def test_a_response_without_likelihoods_is_an_error_and_no_answer() -> None:
    (predicted,) = predict_likelihoods(ChattingModel(), CHOICE)
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
def test_a_question_without_exactly_one_right_option_is_named_and_nothing_is_requested(
    fields: dict[str, Any], kind: str
) -> None:
    model = ModelWithLikelihoods()
    unsuitable = question(question_id="q/2", task="q", **fields)
    with pytest.raises(SettingsError) as raised:
        predict_likelihoods(model, CHOICE, unsuitable)
    assert str(raised.value) == (
        "q: likelihood cannot be elicited: 1 of 2 questions do not have options of which exactly"
        f" one is right (such as q/2, kind {kind}); use --elicit generate"
    )
    assert model.requests == []


def test_several_samples_of_likelihoods_are_refused() -> None:
    task = Task(
        name="q",
        title="q",
        version=1,
        conditions={"main": Condition(prompt=lambda q: Prompt.of(q.text), about="", samples=2)},
        scorers=TASK.scorers,
        measures={"accuracy": lambda rows: mean(ScoredPoint(score.points) for _, score in rows)},
    )
    with pytest.raises(SettingsError, match="several responses are drawn"):
        predict_likelihoods(ModelWithLikelihoods(), CHOICE, task=task)


def test_a_model_that_only_generates_text_is_refused() -> None:
    with pytest.raises(ModelError, match=r"^m: does not support likelihood \(expected"):
        ElicitedModel(ScriptedModel("m", lambda _: "A"), "m+likelihood", Elicitation())


def test_a_request_without_a_question_is_refused() -> None:
    model = ElicitedModel(ModelWithLikelihoods(), "m+likelihood", Elicitation())
    with pytest.raises(SettingsError, match="only questions with options"):
        model.response([Request(prompt=Prompt.of("Is it right?"))])
