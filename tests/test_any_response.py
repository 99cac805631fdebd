"""Every reader of responses of the catalog gets through any response.

In time that grows as it does.
"""

import time
from dataclasses import replace
from functools import partial

import pytest

from bench_assets.core.answer_types.definition import AnswerSettings, RowContext
from bench_assets.core.answer_types.registry import make_answer_type
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.metrics.short_answers import anls, exact_match, relaxed_match
from bench_assets.core.reading.json_values import decode_json, read_json
from bench_assets.core.reading.numbered_verdicts import read_numbered_verdicts
from bench_assets.core.reading.reasoning import split_reasoning
from bench_assets.core.schema.chat import Request
from bench_assets.core.text.number_words import words_to_digits
from bench_assets.core.text.sentences import split_sentences
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
READERS = {
    "verdicts by number": lambda response: read_numbered_verdicts(response, 3),
    "verdicts by position": lambda response: read_by_position(response, 3),
    "options of judges": AnswerForm("choice", ("left", "right")).read_reply,
    "objects of judges": read_json,
    "decoded objects": decode_json,
    "numbers written out": words_to_digits,
    "thoughts": split_reasoning,
    "sentences": split_sentences,
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


def grades_of(name):
    """Grade any response as a type of answer."""
    made = make_answer_type(name, AnswerSettings())
    gold = made.gold(GOLDS[name], RowContext(image_size=(640, 480)))
    return lambda response: made.grade(response, gold)


READERS |= {f"answers of type {name}": grades_of(name) for name in GOLDS}
STEP, GROWTH = 4, 10  # four times as long may take ten times as long; quadratic takes sixteen
LEAST = 0.01  # s; what takes less says nothing about growth


def scores_of(task, response):
    questions = questions_of(task.name)
    questions = [replace(one, question_id=f"t/{n}") for n, one in enumerate(questions)]
    predictions = [prediction(question_id=one.question_id, text=response) for one in questions]
    judged = pipeline.judge(task, questions, predictions, None) if task.is_judged else []
    return [
        score
        for scorer in task.scorers
        for score in pipeline.score(task, questions, predictions, judged, scorer)
    ]


def seconds(read, response):
    start = time.process_time()
    read(response)
    return time.process_time() - start


def grows_too_fast(read, bit, n):
    """Whether four times as much takes far more than four times as long, tried again if so."""
    for _ in range(3):
        long = seconds(read, response_of(bit, STEP * n))
        if long < LEAST or long < GROWTH * seconds(read, response_of(bit, n)):
            return False
    return True


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_scorer_gets_through_any_response(task):
    for bit in BITS.values():
        for response in (response_of(bit, 120), bit):
            scores = scores_of(task, response)
            assert not [score for score in scores if "cannot be scored" in score.note]
            known = [score for score in scores if score.points is not None]
            assert all(0 <= score.points <= score.max_points for score in known)


def _always(text: str, _: Request) -> str:
    return text


@pytest.mark.parametrize("task", [task for task in TASKS if task.is_judged], ids=lambda t: t.name)
def test_no_judge_is_understood_who_says_what_no_judge_should(task):
    questions = [
        replace(one, question_id=f"t/{n}") for n, one in enumerate(questions_of(task.name))
    ]
    predictions = [prediction(question_id=one.question_id, text="Hm, hm.") for one in questions]
    names = [name for name, judge in task.judges.items() if isinstance(judge, ByModel)]
    for bit in BITS.values():
        text = response_of(bit, 40)
        judge = ScriptedModel("judge", partial(_always, text))
        judged = pipeline.judge(task, questions, predictions, judge, names[0])
        read = [row for row in judged if row.verdict is not None and row.criterion != EXTRACTED]
        assert read == [] or bit == BITS["numbers of points"]  # which says "1. [1]" and no more


@pytest.mark.parametrize("name", READERS)
def test_a_reader_takes_time_in_proportion_to_the_response(name):
    read = READERS[name]
    assert [what for what, bit in BITS.items() if grows_too_fast(read, bit, 500)] == []


@pytest.mark.long
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_scorer_takes_time_in_proportion_to_the_response(task):
    slow = [b for b in BITS if grows_too_fast(lambda r: scores_of(task, r), BITS[b], 6_000)]
    assert slow == []
