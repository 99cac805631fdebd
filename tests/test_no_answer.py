"""A response that was cut off before its answer is wrong in every task, whatever the measure."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.rows import Score
from bench_assets.defs.tables.leaderboard import as_markdown
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.runner import GeneratedResponses, Runner
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.codis.task import TASK as CODIS
from bench_assets.workspace.console.output import METRIC_COLUMNS
from bench_resources.models.registry.baselines import ScriptedModel
from bench_resources.models.registry.recorded import RecordedModel, RecordedResponse
from tests.cases import read_rows
from tests.fakes.rows import prediction, question, standing

QUESTIONS = read_rows(__file__, "questions_of_tasks.jsonl", tuples=True)
NOT_OF_ANSWERS = {  # measures of the questions, or of a mistake that silence does not make
    "chance": 0.5,
    "hallucination_rate": 0.0,
    "refusals": 0.0,
}
CUT_OFF = Response(text="<think>It is (A), opening, 3", completion_tokens=64)


def questions_of(task):
    return [
        question(**{"question_id": f"t/{n}", "images": ("a" * 64,), "group_id": "g"} | fields)
        for n, (name, fields) in enumerate(QUESTIONS)
        if name == task.name
    ]


class Thinker(ScriptedModel):
    """Never comes to an end."""

    def __init__(self) -> None:
        super().__init__("m", lambda _: "")

    def response(self, requests: Sequence[Request]) -> list[Response]:
        return [CUT_OFF for _ in requests]


class Untouchable(ScriptedModel):
    """A judge that is never asked anything."""

    def __init__(self) -> None:
        super().__init__("judge", lambda _: "")

    def response(self, requests: Sequence[Request]) -> list[Response]:
        assert not requests
        return []


SCORERS = [
    pytest.param(task, name, id=f"{task.name}, {name}")
    for task in load_catalog().only(["blink", "codis", "cogbench", "journeybench", "multi"]).tasks
    for name in task.scorers
]


@pytest.mark.parametrize(("task", "scorer"), SCORERS)
def test_no_answer_is_the_worst_answer_and_no_judge_sees_it(task, scorer):
    questions = questions_of(task)
    predictions = pipeline.predict(task, questions, Thinker())
    judged = pipeline.judge(task, questions, predictions, Untouchable()) if task.is_judged else []
    scores = pipeline.score(task, questions, predictions, judged, scorer)
    assert judged == []
    assert {(s.points, s.note, s.no_answer, s.judge) for s in scores} == {
        (0.0, "no answer in 64 tokens", True, "")
    }
    for row in pipeline.summarise(task, questions, predictions, scores):
        if row.category == "all":
            assert row.value == NOT_OF_ANSWERS.get(row.metric, 0.0), row.metric
            assert row.n_no_answer == len(questions)
        assert (row.n_unscored, row.n_failed) == (0, 0)


def test_a_response_without_an_answer_is_wrong_for_a_scorer_that_cannot_read_an_empty_one():
    def first_word(pair, _):
        return Score.of(pair.prediction, points=float(pair.prediction.text.split()[0] == "x"))

    task = replace(CODIS, scorers={"first": first_word}, judges={})
    predictions = [prediction(text="", no_answer="no answer in 64 tokens"), prediction(text="x")]
    found = pipeline.score(task, [question()], predictions, [])
    assert [(one.points, one.note, one.no_answer) for one in found] == [
        (0.0, "no answer in 64 tokens", True),
        (1.0, "", False),
    ]


@pytest.mark.parametrize(
    ("text", "fields", "why"),
    [
        pytest.param("internal server error.", {}, "", id="the reference in other letters"),
        pytest.param("Segmentation fault", {}, "an error message", id="another error"),
        pytest.param(
            "Segmentation fault.",
            {"kind": "choice", "options": ("segmentation fault", "bus error"), "answer": ("A",)},
            "",
            id="an option",
        ),
    ],
)
def test_what_a_question_asks_for_is_an_answer(text, fields, why):
    query = question(**{"answer": ("Internal Server Error",)} | fields)
    assert pipeline.no_answer_reason(AnsweredQuestion(query, prediction(text=text))) == why


def test_a_pair_with_one_half_cut_off_is_not_answered_differently():
    questions = questions_of(CODIS)
    predictions = [
        prediction(question_id="t/0", text="opening"),
        prediction(question_id="t/1", text="", no_answer="no answer in 64 tokens"),
    ]
    scores = pipeline.score(
        CODIS, questions, predictions, pipeline.judge(CODIS, questions, predictions, None)
    )
    rows = {row.metric: row for row in pipeline.summarise(CODIS, questions, predictions, scores)}
    assert (rows["context_awareness"].value, rows["acc_p"].value, rows["acc_q"].value) == (
        0,
        0,
        0.5,
    )
    assert {row.n_no_answer for row in rows.values()} == {1}


def test_cut_off_responses_are_counted_by_question_and_named_in_the_signature():
    questions = [replace(one, category="x") for one in questions_of(CODIS)]
    responses = pipeline.predict(CODIS, questions, Thinker())
    answered = [prediction(question_id=one.question_id, text="opening") for one in questions]

    def metrics(predictions):
        scores = pipeline.score(CODIS, questions, predictions, [])
        return pipeline.summarise(CODIS, questions, predictions, scores)

    twice = [*responses, *(replace(one, sample=1) for one in responses)]
    assert {(row.category, row.n_no_answer) for row in metrics(twice)} == {("all", 2), ("x", 2)}
    assert "|no_answer:2|n:2" in metrics(responses)[0].signature
    assert "no_answer" not in metrics(answered)[0].signature
    assert metrics(answered)[0].n_no_answer == 0


def test_a_recorded_thought_without_end_is_counted_wherever_numbers_are_shown():
    questions = questions_of(CODIS)
    texts = ("<think>opening?</think>opening", "<think>opening")
    responses = [
        RecordedResponse(where="r.jsonl", question_id=one.question_id, text=text, model="m")
        for one, text in zip(questions, texts, strict=True)
    ]
    recorded = GeneratedResponses.of(RecordedModel("m", responses, Path("r.jsonl")))
    row = Runner(task=CODIS, responses=recorded).run(questions).metrics[1]
    assert (row.metric, row.value, row.n_scored, row.n_no_answer) == ("acc_q", 0.5, 2, 1)
    assert METRIC_COLUMNS["notes"](row) == "1 no answer, only 1 effective cluster"
    assert METRIC_COLUMNS["notes"](replace(row, n_no_answer=None)) == "only 1 effective cluster"
    assert "| 2 (1 no answer) (only 1 effective" in as_markdown([standing(row)])
