from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Literal

import pytest

from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation.runner import (
    Baselines,
    GeneratedResponses,
    ModelVerdicts,
    Runner,
    StoredResponses,
    StoredVerdicts,
)
from bench_assets.evaluation.task import RULES, AnsweredQuestion, ByModel, ByRules
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.quiz import TASK, judge_right, quiz
from tests.fakes.rows import question

QUESTIONS = quiz(4)  # the right answer of each is "x"


def by_prefix(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Responses that begin like the key are right."""
    return [
        Judgement.of(
            prediction,
            judge=RULES,
            criterion="right",
            verdict=prediction.text.startswith(question.answer),
            response="",
        )
        for question, prediction in answered
    ]


JUDGED_TASK = replace(TASK, judges={RULES: ByRules(by_prefix), "default": ByModel(judge_right)})


class HalfRefusingModel:
    """A model whose provider permanently refuses every second request."""

    name, signature = "m", "m|t=0"

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Respond to the first request, refuse the second, and so on."""
        refused = Response(error="HTTP 400", refused="content filter")
        return [refused if n % 2 else Response(text="x") for n, _ in enumerate(requests)]


def fixed_model(text: str) -> ScriptedModel:
    """A model with the same response to every request."""
    return ScriptedModel("m", lambda _: text)


def test_every_row_has_the_setup_of_its_model_and_judge():
    runner = Runner(task=JUDGED_TASK, responses=GeneratedResponses.of(fixed_model("x"), "model=0c"))
    evaluation = runner.run(QUESTIONS)
    assert {row.setup for row in evaluation.predictions} == {"model=0c"}
    assert {row.setup for row in evaluation.judgements} == {"judge=rules:"}
    assert {row.setup for row in evaluation.scores} == {"judge=rules:+model=0c"}
    assert {row.setup for row in evaluation.metrics} == {"judge=rules:+model=0c"}
    assert (evaluation.model, evaluation.condition) == ("m", "main")


def test_a_table_of_responses_and_verdicts_gives_the_same_numbers():
    responses = GeneratedResponses.of(fixed_model("x"), "model=0c")
    first = Runner(task=JUDGED_TASK, responses=responses).run(QUESTIONS)
    again = Runner(
        task=JUDGED_TASK,
        responses=StoredResponses(first.predictions),
        judge=StoredVerdicts(first.judgements),
    ).run(QUESTIONS)
    assert again == first


def test_the_judge_is_opened_after_the_model_was_closed():
    events: list[str] = []

    @contextmanager
    def recorded_model(name: str) -> Iterator[ChatModel]:
        events.append(f"open {name}")
        yield ScriptedModel(name, lambda _: "x")
        events.append(f"close {name}")

    runner = Runner(
        task=JUDGED_TASK,
        responses=GeneratedResponses(open=lambda: recorded_model("model")),
        judge=ModelVerdicts(name="default", open=lambda: recorded_model("judge")),
    )
    runner.run(QUESTIONS)
    assert events == ["open model", "close model", "open judge", "close judge"]


def test_a_verdict_names_its_model_and_the_setup_of_its_judge():
    model = ScriptedModel("gpt", lambda _: "x")
    judge = ModelVerdicts(name="default", open=lambda: nullcontext(model), setup="5f")
    responses = GeneratedResponses.of(fixed_model("x"))
    evaluation = Runner(task=JUDGED_TASK, responses=responses, judge=judge).run(QUESTIONS)
    assert {row.judge for row in evaluation.judgements} == {"gpt"}
    assert {row.setup for row in evaluation.judgements} == {"judge=default:5f"}


def test_letters_that_a_model_chose_are_judged_by_rules_without_the_judge():
    def open_judge() -> AbstractContextManager[ChatModel]:
        raise ModelError("weights are loaded")

    choice = question(question_id="t/1", kind="choice", options=("a", "b"), answer=("A",))
    runner = Runner(task=TASK, responses=GeneratedResponses.of(fixed_model("A")))
    rows = [replace(row, decoding="m|elicit=likelihood") for row in runner.predictions([choice])]
    judge = ModelVerdicts(name="default", open=open_judge, setup="5f")
    judging = Runner(task=JUDGED_TASK, responses=StoredResponses(rows), judge=judge)
    (row,) = judging.judgements([choice], rows)
    assert (row.judge, row.verdict) == (RULES, True)


def test_a_missing_response_stops_a_run_that_has_to_be_complete():
    runner = Runner(task=TASK, responses=GeneratedResponses.of(HalfRefusingModel()), complete=True)
    with pytest.raises(ModelError, match="2 of 4 questions without a response"):
        runner.run(QUESTIONS)


def test_a_run_that_accepts_refusals_is_complete_without_their_responses():
    refused: tuple[Literal["refused"]] = ("refused",)
    responses = GeneratedResponses.of(HalfRefusingModel(), accept=refused)
    runner = Runner(task=TASK, responses=responses, complete=True, accept=refused)
    metric, *_ = runner.run(QUESTIONS).metrics
    assert (metric.value, metric.n_refused) == (0.5, 2)


def test_blind_baselines_and_rejected_rows_stand_beside_every_metric():
    runner = Runner(task=TASK, responses=GeneratedResponses.of(fixed_model("y")), n_rejected=3)
    (row, *_) = runner.run(QUESTIONS).metrics
    assert (row.value, row.constant, row.shuffled, row.n_rejected) == (0.0, 1.0, 0.0, 3)


def test_a_metric_without_stored_constants_has_none():
    baselines = Baselines(constants=lambda task, questions: [])
    responses = GeneratedResponses.of(fixed_model("y"))
    (row, *_) = Runner(task=TASK, responses=responses, baselines=baselines).run(QUESTIONS).metrics
    assert row.constant is None
