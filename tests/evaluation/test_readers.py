from dataclasses import replace
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
from tests.fakes.rows import prediction, question
from tests.fakes.signs import QUESTIONS, UNREAD, read_badly, read_well, response

SIGNS = [
    question(question_id=row["id"], kind="choice", options=tuple(row["options"]), answer=("A",))
    for row in QUESTIONS
]
RESPONSES = [
    prediction(question_id=row["id"], text=response(int(str(row["id"])))) for row in QUESTIONS
]


def reader_model(read):
    """A model that responds to the text of the last turn with what ``read`` returns."""
    return ScriptedModel(
        "gpt", lambda request: read("".join(map(str, request.prompt.turns[-1].parts)))
    )


def test_only_responses_that_state_nothing_are_unread():
    looks = unread_responses(COGBENCH, SIGNS, RESPONSES)
    assert [int(look.question.question_id) for look in looks] == UNREAD


def test_elicited_letters_are_not_unread():
    elicited = [replace(row, decoding="m|elicit=likelihood") for row in RESPONSES]
    assert unread_responses(COGBENCH, SIGNS, elicited) == []


def shown_response(look):
    """The response in a prompt of a reader, which stands between lines of dashes."""
    return str(look.prompt.turns[0].parts[0]).split("-----")[1].strip()


def test_null_responses_have_no_answer_that_a_rule_reads():
    looks = null_looks(COGBENCH, SIGNS, RESPONSES)
    assert len(looks[NULL_FOREIGN]) == len(UNREAD)
    assert len(looks[NULL_HALVED]) == len(SIGNS)
    for look in [*looks[NULL_FOREIGN], *looks[NULL_HALVED]]:
        form = COGBENCH.form(look.question)
        assert form is not None
        assert form.read(shown_response(look)) is None


def test_foreign_null_responses_are_of_other_questions():
    looks = null_looks(COGBENCH, SIGNS, RESPONSES)[NULL_FOREIGN]
    assert looks
    for look in looks:
        assert f"sign {look.question.question_id} " not in f"{shown_response(look)} "


def test_halved_null_responses_are_at_most_the_first_half():
    looks = null_looks(COGBENCH, SIGNS, RESPONSES)[NULL_HALVED]
    assert looks
    for look in looks:
        complete, halved = response(int(look.question.question_id)), shown_response(look)
        assert complete.startswith(halved)
        assert len(halved) <= len(complete) / 2


def test_a_reader_is_tested_once_per_setup():
    recorded: list[Any] = []
    test = NullTest(
        judge="reader:gpt", setup="0c", earlier_figures=lambda: recorded, record=recorded.extend
    )
    test.require(COGBENCH, SIGNS, RESPONSES, reader_model(read_well))
    assert {row.figure: row.value for row in recorded} == {NULL_FOREIGN: 1.0, NULL_HALVED: 1.0}

    bad_reader = reader_model(lambda _: "A")
    test.require(COGBENCH, SIGNS, RESPONSES, bad_reader)  # not tested again, else refused
    with pytest.raises(ModelError, match="is not trusted"):
        replace(test, setup="another").require(COGBENCH, SIGNS, RESPONSES, bad_reader)


@pytest.mark.parametrize(
    ("read", "null_responses"),
    [
        pytest.param(read_badly, "responses to other questions", id="two of five"),
        pytest.param(
            lambda prompt: "Z" if "fox of sign" in prompt else "A", "halved responses", id="halves"
        ),
    ],
)
def test_a_reader_that_finds_answers_in_null_responses_is_refused(read, null_responses):
    with pytest.raises(ModelError, match=f"it finds an answer in .* {null_responses}"):
        NullTest(judge="reader:gpt").require(COGBENCH, SIGNS, RESPONSES, reader_model(read))


def score_reading(task, question, text, value, verdict=True):
    """Score a response to which a reader added the answer ``value``."""
    predicted = prediction(question_id=question.question_id, text=text)
    reading = Judgement.of(
        predicted,
        judge="reader:gpt",
        criterion=ANSWER,
        verdict=verdict,
        value=value,
        response=value,
    )
    reading = replace(reading, prompt_sha256="0")
    judgements = pipeline.judge(task, [question], [predicted], None) if task.is_judged else []
    (score,) = pipeline.score(task, [question], [predicted], [*judgements, reading])
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


def score_example(name, value, verdict=True):
    task, fields, _ = SUITES[name]
    example = question(**{"labels": {"image_source": "x", "images": "SI"}, **fields})
    return score_reading(task, example, "Hm, as I said.", value, verdict)


@pytest.mark.parametrize(("name", "value"), [(name, SUITES[name][2]) for name in SUITES])
def test_a_reading_is_scored_like_a_response_of_its_value(name, value):
    right = score_example(name, value)
    assert (right.points, right.judge, right.unread) == (right.max_points, "reader:gpt", False)
    assert right.asked_again
    assert right.note == f"reader:gpt reads {value}"


# A response that says none of HaloQuest's references may still be an answer.
@pytest.mark.parametrize(
    ("name", "no_answer"), {**dict.fromkeys(SUITES, True), "haloquest": False}.items()
)
def test_a_response_in_which_a_reader_finds_no_answer_has_no_points(name, no_answer):
    none = score_example(name, NONE, verdict=False)
    assert (none.points, none.unread, none.asked_again) == (0.0, False, True)
    assert none.no_answer is no_answer


@pytest.mark.parametrize("name", SUITES)
def test_an_unreadable_reading_leaves_the_response_unread(name):
    unreadable = score_example(name, "", verdict=None)
    assert (unreadable.points, unreadable.unread) == (None, True)


def test_a_reader_does_not_change_the_official_score():
    task, fields, _ = SUITES["cogbench"]
    example, predicted = question(**fields), prediction(text="Dogs")
    reading = Judgement.of(
        predicted, judge="reader:gpt", criterion=ANSWER, verdict=True, value="B", response="B"
    )
    scores = pipeline.score(
        task, [example], [predicted], [replace(reading, prompt_sha256="0")], "official"
    )
    assert scores == pipeline.score(task, [example], [predicted], [], "official")
