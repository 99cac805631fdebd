"""Annotation tasks: review of written questions (2.3.2, manual refinement), human answers (3.4)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench_assets.annotation.answers.values import (
    answers_by_unit,
    choice_letter,
    entries,
    lettered_choices,
)
from bench_assets.annotation.responses.units import option_units
from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import (
    Answer,
    Unit,
    suite_task,
    word,
)
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.core.stats.rater_agreement import majority
from bench_assets.core.tables.build import Table
from bench_assets.suites.cogbench.construction.selection import images_by_id, question_id
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from bench_assets.suites.cogbench.vqa.questions import WrittenQuestion, as_source_question
from bench_assets.suites.cogbench.vqa.refinement import (
    SOLVABLE,
    Action,
    LanguageOnly,
    Refinement,
    find_flags,
)
from bench_assets.suites.cogbench.vqa.scoring import PersonAnswer

_PEOPLE = 5  # who answered every question (section 3.4)

_TASKS = read_tasks(Path(__file__).parents[1] / "annotation.toml").tasks
_REVIEW, _HUMAN = _TASKS["question_review"], _TASKS["human"]
_ACTIONS: Mapping[str, Action] = dict(
    zip(_REVIEW.fields[0].choices, ("keep", "drop", "replace"), strict=True)
)


def review_units(
    written: Sequence[WrittenQuestion],
    language_only: Sequence[LanguageOnly],
    images: Sequence[StoredImage],
) -> list[Unit]:
    """Make one unit per written question, with its flags."""
    digests = images_by_id(images)
    by_id = {question_id(question): question for question in map(as_source_question, written)}
    doubts: dict[str, list[str]] = {}
    for name, doubt in sorted(set(find_flags(list(by_id.values())))):
        doubts.setdefault(name, []).append(doubt)
    for solved in language_only:
        if solved.solvable:
            doubts.setdefault(solved.question_id, []).append(SOLVABLE)
    return [
        Unit(
            task=_REVIEW.name,
            unit_id=name,
            shown=_shown_fields(question, doubts.get(name, [])),
            images={"Image": digests[question.image_id].sha256},
        )
        for name, question in by_id.items()
        if question.image_id in digests
    ]


def refinements(answers: Sequence[Answer]) -> Table[Refinement]:
    """Aggregate answers by majority; of several replacements, the first counts.

    A tie or an incomplete replacement leaves the question unchanged, with a rejection.
    """
    found = Table[Refinement]()
    for name, unit_answers in answers_by_unit(answers).items():
        decision = majority(word(answer, "action") for answer in unit_answers)
        if not decision:
            found.reject(f"review of {name}", "no majority among reviewers")
            continue
        reason = ""
        if _ACTIONS[decision] == "replace":
            unit_answers = [answer for answer in unit_answers if word(answer, "action") == decision]  # noqa: PLW2901
            reason = _missing_fields(unit_answers[0])
        if reason:
            found.reject(f"review of {name}", reason)
        else:
            found.rows.append(_refinement(name, _ACTIONS[decision], unit_answers[0]))
    return found


def _rows(answers: Sequence[Answer]) -> list[Refinement]:
    return refinements(answers).rows


def _shown_fields(one: SourceQuestion, doubts: Sequence[str]) -> dict[str, str]:
    fields = {
        "Kind": one.category,
        "Question": one.text,
        "Options": "\n".join(lettered_choices(one.options)),
        "Called right": one.answer,
    }
    return fields | ({"Doubtful": "; ".join(doubts)} if doubts else {})


def _missing_fields(answer: Answer) -> str:
    missing = [name for name in ("question", "options", "right") if not entries(answer, name)]
    return f"replacement without {', '.join(missing)}" if missing else ""


def _refinement(name: str, action: Action, answer: Answer) -> Refinement:
    return Refinement(
        question_id=name,
        action=action,
        note=" ".join(word(answer, "note").split()),
        replacement=_replacement(answer) if action == "replace" else None,
    )


def _replacement(answer: Answer) -> SourceQuestion:
    return SourceQuestion(
        where=f"review by {answer.person}",
        image_id="",
        category="",
        text=" ".join(word(answer, "question").split()),
        options=entries(answer, "options"),
        answer=choice_letter(word(answer, "right")),
    )


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


QUESTION_REVIEW = suite_task(
    _REVIEW,
    review_units,
    _rows,
    written="vqa/written_questions",
    language_only="vqa/language_only",
)
HUMAN = suite_task(_HUMAN, _human_units, _human_answers, questions="vqa/questions")
