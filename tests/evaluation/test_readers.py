"""The null test of a reader, and the points of what it reads."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from bench_assets.core.judging.second_look import ANSWER, NONE
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.measured_figures import NULL_FOREIGN, NULL_HALVED
from bench_assets.core.schema.rows import Judgement
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.readers import NullTest, null_looks, unread_responses
from bench_assets.evaluation.task import Task
from bench_assets.suites.blink.task import TASK as BLINK
from bench_assets.suites.codis.task import TASK as CODIS
from bench_assets.suites.cogbench.vqa.task import TASK as COGBENCH
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK as HALOQUEST
from bench_assets.suites.journeybench.mcot.task import TASK as MCOT
from bench_assets.suites.multi.task import TASK as MULTI
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.keeping import keep
from tests.fakes.rows import prediction, question
from tests.fakes.signs import QUESTIONS, UNREAD, read_badly, read_well, response

SIGNS = [
    question(question_id=row["id"], kind="choice", options=tuple(row["options"]), answer=("A",))
    for row in QUESTIONS
]
RESPONSES = [
    prediction(question_id=row["id"], text=response(int(str(row["id"])))) for row in QUESTIONS
]


def reader(read):
    def reply(request):
        return read("".join(map(str, request.prompt.turns[-1].parts)))

    return ScriptedModel("gpt", reply)


def test_only_responses_that_state_nothing_are_unread():
    looks = unread_responses(COGBENCH, SIGNS, RESPONSES)
    assert [int(look.question.question_id) for look in looks] == UNREAD
    elicited = [replace(response, decoding="m|elicit=likelihood") for response in RESPONSES]
    assert unread_responses(COGBENCH, SIGNS, elicited) == []


def test_null_responses_have_no_answer_that_a_rule_sees():
    drawn = null_looks(COGBENCH, SIGNS, RESPONSES)
    assert {figure: len(looks) for figure, looks in drawn.items()} == {
        NULL_FOREIGN: len(UNREAD),
        NULL_HALVED: len(SIGNS),
    }
    shown = [
        (figure, look.question, str(look.prompt.turns[0].parts[0]).split("-----")[1].strip())
        for figure, looks in drawn.items()
        for look in looks
    ]
    for figure, row, text in shown:
        form = COGBENCH.form(row)
        assert form is not None
        assert form.read(text) is None
        whole = response(int(row.question_id))
        if figure == NULL_FOREIGN:
            assert f"sign {row.question_id}" not in f"{text} "
        else:
            assert whole.startswith(text)
            assert len(text) <= len(whole) / 2


def test_a_reader_is_tested_once():
    recorded: list[Any] = []
    prompts: list[str] = []
    test = NullTest(
        judge="reader:gpt", setup="0c", earlier_figures=lambda: recorded, record=recorded.extend
    )
    require = partial(test.require, COGBENCH, SIGNS, RESPONSES)
    require(reader(lambda prompt: read_well(keep(prompts, prompt))))
    assert {one.figure: one.value for one in recorded} == {NULL_FOREIGN: 1.0, NULL_HALVED: 1.0}
    n_prompts = len(prompts)
    require(reader(lambda prompt: keep(prompts, prompt) and "A"))
    assert len(prompts) == n_prompts
    other = replace(test, setup="another")
    with pytest.raises(ModelError, match="is not trusted"):
        other.require(COGBENCH, SIGNS, RESPONSES, reader(lambda _: "A"))


@pytest.mark.parametrize(
    ("read", "what"),
    [
        pytest.param(read_badly, "responses to other questions", id="two of five"),
        pytest.param(
            lambda prompt: "Z" if "fox of sign" in prompt else "A", "halved responses", id="halves"
        ),
    ],
)
def test_a_reader_that_finds_answers_where_there_are_none_is_refused(read, what):
    with pytest.raises(ModelError, match=f"it finds an answer in .* {what}"):
        NullTest(judge="reader:gpt").require(COGBENCH, SIGNS, RESPONSES, reader(read))


def looked_at(task, question, text, value, verdict=True, **fields):
    predicted = prediction(question_id=question.question_id, text=text)
    look = Judgement.of(
        predicted,
        judge="reader:gpt",
        criterion=ANSWER,
        verdict=verdict,
        value=value,
        response=value,
    )
    look = replace(look, prompt_sha256="0", **fields)
    rules = pipeline.judge(task, [question], [predicted], None) if task.is_judged else []
    (score,) = pipeline.score(task, [question], [predicted], [*rules, look])
    return score


TRUTH = "There is no cat in the picture."
SUITES: dict[str, tuple[Task, dict[str, Any], str]] = {
    "blink": (BLINK, {"kind": "choice", "options": ("left", "right"), "answer": ("B",)}, "B"),
    "cogbench": (COGBENCH, {"kind": "choice", "options": ("x", "y"), "answer": ("B",)}, "B"),
    "codis": (CODIS, {"options": ("Up.", "Down."), "answer": ("Down.",)}, "Down."),
    "mcot": (MCOT, {"answer": ("12",)}, "12 cups"),
    "cause": (MCOT, {"options": ("image1", "image2"), "answer": ("image2",)}, "B"),
    "haloquest": (HALOQUEST, {"answer": (TRUTH,), "edition": "published"}, TRUTH),
    "multi": (MULTI, {"category": "SA", "options": ("甲", "乙"), "answer": ("B",)}, "B"),
    "several": (MULTI, {"category": "MA", "options": ("甲", "乙"), "answer": ("A", "B")}, "A B"),
}


@pytest.mark.parametrize("name", SUITES)
def test_a_reading_is_scored_like_a_response_of_its_value(name):
    task, fields, value = SUITES[name]
    example = question(**{"labels": {"image_source": "x", "images": "SI"}, **fields})
    right = looked_at(task, example, "Hm, as I said.", value)
    assert (right.points, right.judge, right.unread) == (right.max_points, "reader:gpt", False)
    assert right.asked_again
    assert right.note == f"reader:gpt reads {value}"
    none = looked_at(task, example, "Hm, as I said.", NONE, verdict=False)
    assert (none.points, none.unread, none.asked_again) == (0.0, False, True)
    assert none.no_answer is (name != "haloquest")
    unreadable = looked_at(task, example, "Hm, as I said.", "", verdict=None)
    assert (unreadable.points, unreadable.unread) == (None, True)


def test_a_reader_does_not_change_what_the_authors_read():
    task, fields, _ = SUITES["cogbench"]
    example, predicted = question(**fields), prediction(text="Dogs")
    look = Judgement.of(
        predicted, judge="reader:gpt", criterion=ANSWER, verdict=True, value="B", response="B"
    )
    scores = pipeline.score(
        task, [example], [predicted], [replace(look, prompt_sha256="0")], "official"
    )
    assert scores == pipeline.score(task, [example], [predicted], [], "official")
