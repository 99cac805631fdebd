"""Annotation task: human answers (3.4)."""

from collections.abc import Sequence
from pathlib import Path

from bench_assets.annotation.answers.values import choice_letter
from bench_assets.annotation.responses.units import option_units
from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import Answer, Unit, suite_task, word
from bench_assets.core.schema.rows import Question
from bench_assets.suites.cogbench.vqa.scoring import PersonAnswer

_PEOPLE = 5  # who answered every question (section 3.4)

_HUMAN = read_tasks(Path(__file__).parents[1] / "annotation.toml").tasks["human"]


def _human_answers(answers: Sequence[Answer]) -> list[PersonAnswer]:
    return [
        PersonAnswer(
            question_id=answer.unit_id,
            person=answer.person,
            answer=choice_letter(word(answer, "answer")),
        )
        for answer in answers
    ]


def _human_units(questions: Sequence[Question]) -> list[Unit]:
    return option_units(_HUMAN, questions, _PEOPLE)


HUMAN = suite_task(_HUMAN, _human_units, _human_answers, questions="vqa/questions")
