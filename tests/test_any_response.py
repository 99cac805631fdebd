import time
from dataclasses import replace
from functools import partial

import pytest

from bench_assets.core.answer_types.definition import AnswerSettings, RowContext
from bench_assets.core.answer_types.registry import make_answer_type
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.judging.verdicts import RIGHT_OR_WRONG, read_grade, read_word
from bench_assets.core.metrics.short_answers import anls, exact_match, relaxed_match
from bench_assets.core.reading.blanks import read_blanks
from bench_assets.core.reading.choices import read_choice, read_choices
from bench_assets.core.reading.json_values import decode_json, read_json
from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from bench_assets.core.reading.numbers import read_number
from bench_assets.core.reading.reasoning import split_reasoning
from bench_assets.core.reading.yes_no import read_yes_no
from bench_assets.core.schema.chat import Request
from bench_assets.core.text.number_words import words_to_digits
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import ByModel
from bench_assets.suites.blink.task import TASK as BLINK
from bench_assets.suites.codis.task import TASK as CODIS
from bench_assets.suites.cogbench.description.recognition import remove_denied
from bench_assets.suites.cogbench.description.scoring import read_by_position
from bench_assets.suites.cogbench.description.task import TASK as DESCRIPTION
from bench_assets.suites.cogbench.vqa.task import TASK as VQA
from bench_assets.suites.journeybench.captioning.dataset import split_captions
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK as HALOQUEST
from bench_assets.suites.journeybench.mcot.task import TASK as MCOT
from bench_assets.suites.journeybench.multi_image_vqa.task import TASK as MULTI_IMAGE
from bench_assets.suites.journeybench.solution_verification import EXTRACTED
from bench_assets.suites.multi.task import TASK as MULTI
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.any_responses import BITS, questions_of, response_of
from tests.fakes.rows import prediction

TASKS = [BLINK, CODIS, DESCRIPTION, VQA, CAPTIONING, HALOQUEST, MCOT, MULTI_IMAGE, MULTI]
LOOPS = ("answer is ", "is correct ", "A\n", "\nQ:", "</s>", "<answer>", '"answer": ', "\\boxed{")
READERS = {
    "choice": lambda text: read_choice(text, ("left", "right")),
    "choices": lambda text: read_choices(text, ("left", "right", "up")),
    "number": read_number,
    "yes_no": read_yes_no,
    "blanks": lambda text: read_blanks(text, 3),
    "word": lambda text: read_word(text, RIGHT_OR_WRONG),
    "grade": lambda text: read_grade(text, 1, 5),
    "verdicts by number": lambda response: read_numbered_verdicts(response, 3),
    "verdicts by position": lambda response: read_by_position(response, 3),
    "options of judges": AnswerForm("choice", ("left", "right")).read_reply,
    "objects of judges": read_json,
    "decoded objects": decode_json,
    "numbers written out": words_to_digits,
    "thoughts": split_reasoning,
    "captions": split_captions,
    "what is remove_denied": remove_denied,
    "short texts": lambda response: (
        exact_match(response, ["3"]),
        anls(response, ["an owl"]),
        relaxed_match(response, ["3"]),
    ),
}
GOLDS = {
    "number": "5 cm",
    "box": [1, 2, 3, 4],
    "point": [1, 2, 3, 4],
    "list": ["a", "b"],
    "json": {"a": 1},
}


def make_grader(name):
    """A function that grades a response as a type of answer."""
    answer_type = make_answer_type(name, AnswerSettings())
    gold = answer_type.gold(GOLDS[name], RowContext(image_size=(640, 480)))
    return lambda response: answer_type.grade(response, gold)


READERS |= {f"answers of type {name}": make_grader(name) for name in GOLDS}
LENGTH_FACTOR = 4
TIME_FACTOR = 10  # allowed for four times the length; quadratic time takes sixteen
LEAST_SECONDS = 0.01  # shorter times do not show growth


def numbered_questions(task):
    """The questions of a task, each with an id of its own."""
    return [
        replace(question, question_id=f"t/{n}")
        for n, question in enumerate(questions_of(task.name))
    ]


def predictions_of(questions, text):
    return [prediction(question_id=question.question_id, text=text) for question in questions]


def score_everywhere(task, response):
    """Scores of a response to every question of a task, by every scorer."""
    questions = numbered_questions(task)
    predictions = predictions_of(questions, response)
    judgements = pipeline.judge(task, questions, predictions, None) if task.is_judged else []
    scores = []
    for scorer in task.scorers:
        scores += pipeline.score(task, questions, predictions, judgements, scorer)
    return scores


def cpu_seconds(reader, response):
    start = time.process_time()
    reader(response)
    return time.process_time() - start


def grows_too_fast(reader, unit, n):
    """Whether reading ``LENGTH_FACTOR * n`` units takes too long; measured again if so."""
    for _ in range(3):
        long_time = cpu_seconds(reader, response_of(unit, LENGTH_FACTOR * n))
        if long_time < LEAST_SECONDS:
            return False
        if long_time < TIME_FACTOR * cpu_seconds(reader, response_of(unit, n)):
            return False
    return True


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_scorer_scores_any_response(task):
    for unit in BITS.values():
        for response in (response_of(unit, 120), unit):
            scores = score_everywhere(task, response)
            assert not [score for score in scores if "cannot be scored" in score.note]
            scored = [score for score in scores if score.points is not None]
            assert all(0 <= score.points <= score.max_points for score in scored)


def _repeat(text: str, _: Request) -> str:
    return text


@pytest.mark.parametrize("task", [task for task in TASKS if task.is_judged], ids=lambda t: t.name)
def test_no_verdict_is_read_from_a_response_that_no_judge_should_give(task):
    questions = numbered_questions(task)
    predictions = predictions_of(questions, "Hm, hm.")
    judge_name = next(name for name, judge in task.judges.items() if isinstance(judge, ByModel))
    for unit_name, unit in BITS.items():
        if unit_name == "numbers of points":  # "1. [1]" and so on, which are verdicts
            continue
        judge = ScriptedModel("judge", partial(_repeat, response_of(unit, 40)))
        judgements = pipeline.judge(task, questions, predictions, judge, judge_name)
        verdicts = [row.verdict for row in judgements if row.criterion != EXTRACTED]
        assert [verdict for verdict in verdicts if verdict is not None] == []


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_time_in_proportion_to_the_response(name):
    units = [*BITS.values(), *LOOPS]
    assert [unit for unit in units if grows_too_fast(READERS[name], unit, 3_000)] == []


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_scorer_takes_time_in_proportion_to_the_response(task):
    reader = partial(score_everywhere, task)
    slow_units = [key for key, unit in BITS.items() if grows_too_fast(reader, unit, 6_000)]
    assert slow_units == []
