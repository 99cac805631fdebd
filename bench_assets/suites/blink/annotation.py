"""Annotation tasks of BLINK.

Answer checks are the paper's data quality control (section 3.2: "we manually go through all
collected data and filter out data that are ambiguous"), ``human`` its human baseline (appendix A.4:
two people a task). The instructions are ours.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench_assets.annotation.answers.values import lettered_choices
from bench_assets.annotation.responses.person_answers import person_answers_task
from bench_assets.annotation.responses.units import images_of
from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import Answer, Unit, field_value, suite_task
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.rater_agreement import majority
from bench_assets.core.tables.build import Table

_PEOPLE = 2  # annotators of each task (appendix A.4)

_TASKS = read_tasks(Path(__file__).with_name("annotation.toml"))
_CHECK = _TASKS["answer_check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCheck:
    """A person's verdict on a question's key."""

    question_id: str
    person: str
    verdict: str  # "right", "wrong" or "ambiguous"
    note: str = ""


def check_units(questions: Sequence[Question]) -> list[Unit]:
    """Make a unit of each question with images and a known answer, and show the answer."""
    return [
        Unit(
            task=_CHECK.name,
            unit_id=question.question_id,
            shown={
                "Question": question.text,
                "Options": "\n".join(lettered_choices(question.options)),
                "Called right": ", ".join(question.answer),
            },
            images=images_of(question),
        )
        for question in questions
        if question.answer and question.images
    ]


def to_answer_checks(answers: Sequence[Answer]) -> list[AnswerCheck]:
    """Convert annotation answers to verdicts on keys."""
    return [
        AnswerCheck(
            question_id=answer.unit_id,
            person=answer.person,
            verdict=field_value(answer, "verdict"),
            note=" ".join(field_value(answer, "note").split()),
        )
        for answer in answers
    ]


def apply_checks(questions: Sequence[Question], checks: Sequence[AnswerCheck]) -> Table[Question]:
    """Reject questions whose most frequent verdict is "wrong" or "ambiguous".

    Unchecked questions and ties are kept. A published edition becomes ``"own"`` if any is rejected.
    """
    verdicts_by_question: dict[str, list[str]] = defaultdict(list)
    for check in checks:
        verdicts_by_question[check.question_id].append(check.verdict)
    table = Table[Question]()
    for question in questions:
        verdicts = verdicts_by_question[question.question_id]
        verdict = majority(verdicts)
        if verdict in (None, "right"):
            table.rows.append(question)
        else:
            count = f"{verdicts.count(verdict)} of {len(verdicts)} people"
            table.reject(question.question_id, f"{count} call its answer {verdict}")
    if table.rejections:
        table.rows = [_mark_as_own(question) for question in table.rows]
    return table


def _mark_as_own(question: Question) -> Question:
    return replace(question, edition="own") if question.edition == "published" else question


ANSWER_CHECK = suite_task(_CHECK, check_units, to_answer_checks, questions="items")
HUMAN = person_answers_task(_TASKS["human"], "blink/questions", _PEOPLE)
