"""The score of people: the mean accuracy of several who answered the questions (section 3.4)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import read_lines
from bench_assets.core.records import records
from bench_assets.core.rows import Question
from bench_assets.core.stats import Mean, Point, mean


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAnswer:
    """What one person answered to one question."""

    question_id: str
    person: str
    answer: str  # a letter; "" if the person did not know


def read_human_answers(file: Path) -> list[HumanAnswer]:
    """Read people's answers: JSON lines with the fields of ``HumanAnswer``.

    Raises:
        SourceError: If the file cannot be read, or a line is not such an object or answers
            something again; names file and line.
    """
    answers = records(read_lines(file), HumanAnswer, unique=("person", "question_id"))
    return [replace(answer, answer=answer.answer.strip().upper()) for answer in answers]


def human_accuracy(
    questions: Sequence[Question], answers: Iterable[HumanAnswer]
) -> dict[str, Mean]:
    """Share of right answers by category, "all" first; every answer of every person counts once.

    If all people answer all questions this is the mean of their accuracies. A question that nobody
    answered counts in ``n_unscored``.

    Raises:
        SourceError: If somebody answered a question that there is not.
    """
    by_question: dict[str, list[HumanAnswer]] = defaultdict(list)
    for answer in answers:
        by_question[answer.question_id].append(answer)
    if strange := sorted(by_question.keys() - {q.question_id for q in questions}):
        raise SourceError(f"human answers: {len(strange)} unknown questions, such as {strange[0]}")
    points: dict[str, list[Point]] = {"all": []}
    for question in questions:
        given = by_question[question.question_id]
        right = [Point(float((a.answer,) == question.answer), question.group_id) for a in given]
        for category in ("all", question.category):
            points.setdefault(category, []).extend(right or [Point(None, question.group_id)])
    return {category: mean(found) for category, found in points.items()}
