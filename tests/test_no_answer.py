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
VALUES_WITHOUT_ANSWERS = {  # of metrics that do not count right answers
    "chance": 0.5,
    "hallucination_rate": 0.0,
    "refusals": 0.0,
}
CUT_OFF = Response(text="<think>It is (A), opening, 3", completion_tokens=64)


def questions_of(task):
    """Two or more questions of one group."""
    questions = []
    for n, (task_name, fields) in enumerate(QUESTIONS):
        if task_name == task.name:
            defaults = {"question_id": f"t/{n}", "images": ("a" * 64,), "group_id": "g"}
            questions.append(question(**{**defaults, **fields}))
    return questions


class EndlessThinker(ScriptedModel):
    """A model whose thought never ends."""

    def __init__(self) -> None:
        super().__init__("m", lambda _: "")

    def response(self, requests: Sequence[Request]) -> list[Response]:
        return [CUT_OFF for _ in requests]


class UnusedJudge(ScriptedModel):
    """A judge that fails if it gets a request."""

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
def test_no_answer_scores_like_the_worst_answer_without_a_judge(task, scorer):
    questions = questions_of(task)
    predictions = pipeline.predict(task, questions, EndlessThinker())
    if task.is_judged:
        assert pipeline.judge(task, questions, predictions, UnusedJudge()) == []
    scores = pipeline.score(task, questions, predictions, [], scorer)
    assert {(score.points, score.note, score.no_answer, score.judge) for score in scores} == {
        (0.0, "no answer in 64 tokens", True, "")
    }
    rows = pipeline.summarise(task, questions, predictions, scores)
    assert {(row.n_unscored, row.n_failed) for row in rows} == {(0, 0)}
    for row in rows:
        if row.category == "all":
            assert row.value == VALUES_WITHOUT_ANSWERS.get(row.metric, 0.0), row.metric
            assert row.n_no_answer == len(questions)


def test_a_response_without_an_answer_is_wrong_although_its_scorer_would_raise():
    def score_first_word(pair, _):
        first_word = pair.prediction.text.split()[0]  # raises for an empty text
        return Score.of(pair.prediction, points=float(first_word == "x"))

    task = replace(CODIS, scorers={"first": score_first_word}, judges={})
    predictions = [prediction(text="", no_answer="no answer in 64 tokens"), prediction(text="x")]
    scores = pipeline.score(task, [question()], predictions, [])
    assert [(score.points, score.note, score.no_answer) for score in scores] == [
        (0.0, "no answer in 64 tokens", True),
        (1.0, "", False),
    ]


@pytest.mark.parametrize(
    ("text", "fields", "expected_reason"),
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
def test_an_error_message_is_an_answer_if_the_question_asks_for_it(text, fields, expected_reason):
    asked_question = question(**{"answer": ("Internal Server Error",), **fields})
    reason = pipeline.no_answer_reason(AnsweredQuestion(asked_question, prediction(text=text)))
    assert reason == expected_reason


def test_a_pair_with_one_half_cut_off_is_not_answered_differently():
    questions = questions_of(CODIS)
    predictions = [
        prediction(question_id="t/0", text="opening"),
        prediction(question_id="t/1", text="", no_answer="no answer in 64 tokens"),
    ]
    judgements = pipeline.judge(CODIS, questions, predictions, None)
    scores = pipeline.score(CODIS, questions, predictions, judgements)
    rows = pipeline.summarise(CODIS, questions, predictions, scores)
    values = {row.metric: row.value for row in rows}
    assert values["context_awareness"] == 0
    assert (values["acc_p"], values["acc_q"]) == (0, 0.5)
    assert {row.n_no_answer for row in rows} == {1}


PAIR = [replace(question, category="x") for question in questions_of(CODIS)]
CUT_OFF_PAIR = pipeline.predict(CODIS, PAIR, EndlessThinker())


def measure_pair(predictions):
    scores = pipeline.score(CODIS, PAIR, predictions, [])
    return pipeline.summarise(CODIS, PAIR, predictions, scores)


def test_cut_off_responses_are_counted_by_question():
    second_samples = [replace(row, sample=1) for row in CUT_OFF_PAIR]
    rows = measure_pair([*CUT_OFF_PAIR, *second_samples])
    counts = {(row.category, row.n_no_answer) for row in rows}
    assert counts == {("all", 2), ("x", 2)}  # two questions, of two samples each


def test_a_signature_has_the_number_of_cut_off_responses_if_there_are_any():
    answered = [prediction(question_id=q.question_id, text="opening") for q in PAIR]
    cut_off_row, answered_row = measure_pair(CUT_OFF_PAIR)[0], measure_pair(answered)[0]
    assert cut_off_row.signature.endswith("|no_answer:2|n:2")
    assert "no_answer" not in answered_row.signature


def test_a_recorded_thought_without_end_is_in_the_notes_of_metrics_and_leaderboard():
    questions = questions_of(CODIS)
    texts = ("<think>opening?</think>opening", "<think>opening")
    responses = [
        RecordedResponse(where="r.jsonl", question_id=q.question_id, text=text, model="m")
        for q, text in zip(questions, texts, strict=True)
    ]
    recorded = GeneratedResponses.of(RecordedModel("m", responses, Path("r.jsonl")))
    _, row, *_ = Runner(task=CODIS, responses=recorded).run(questions).metrics
    assert (row.metric, row.value, row.n_scored, row.n_no_answer) == ("acc_q", 0.5, 2, 1)
    assert METRIC_COLUMNS["notes"](row) == "1 no answer, only 1 effective cluster"
    assert METRIC_COLUMNS["notes"](replace(row, n_no_answer=None)) == "only 1 effective cluster"
    assert "| 2 (1 no answer) (only 1 effective" in as_markdown([standing(row)])
