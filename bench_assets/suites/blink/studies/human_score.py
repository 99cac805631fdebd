"""The human score: the mean of the persons who answered a task (section 4.2, appendix A.4).

The answers of people are JSON lines: ``{"question_id": "blink/val_Jigsaw_12", "person": "P1",
"answer": "A"}``; brackets around the letter and small letters are understood.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.rater_agreement import pairwise_agreement
from bench_assets.core.tables.json_records import read_lines, records

ALL = "all"
ALL_BUT_IQ = "all but IQ_Test"
"""What the paper's 95.70 is the mean of: its IQ_Test is answered by the authors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAnswer:
    """One person's answer to one question."""

    where: str  # file and line, for complaints
    question_id: str
    person: str
    answer: str  # as written: "A", "(a)"

    @property
    def letter(self) -> str:
        """The letter that is meant."""
        return self.answer.strip(" ()").upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanScore:
    """How well people do on one task, or on the mean of the tasks."""

    category: str
    n_persons: int
    n_answers: int
    accuracy: float  # mean over persons of the share each got right; of tasks for the last two
    agreement: float  # share of pairs of persons that agree; NaN if no question has two answers


def read_answers(file: Path) -> list[HumanAnswer]:
    """Read the answers of people.

    Raises:
        SourceError: If a line is not of the form above, or a person answers a question twice.
    """
    return records(read_lines(file), HumanAnswer, unique=("question_id", "person"))


def human_scores(questions: Iterable[Question], answers: Iterable[HumanAnswer]) -> list[HumanScore]:
    """Score people task by task, and over the tasks with and without IQ_Test.

    Raises:
        SourceError: If an answer is to no question of the table, or no letter of its options.
    """
    asked = {question.question_id: question for question in questions}
    by_task: dict[str, list[HumanAnswer]] = defaultdict(list)
    for answer in answers:
        if answer.question_id not in asked:
            raise SourceError(f"{answer.where}: no question {answer.question_id} to be answered")
        question = asked[answer.question_id]
        if answer.letter not in "ABCD"[: len(question.options)] or len(answer.letter) != 1:
            raise SourceError(f"{answer.where}: {answer.letter!r} is no option of the question")
        by_task[question.category].append(answer)
    tasks = [_task_score(task, of_task, asked) for task, of_task in by_task.items()]
    without_iq = [task for task in tasks if task.category != "IQ_Test"]
    return [*tasks, _mean(ALL, tasks), _mean(ALL_BUT_IQ, without_iq)] if tasks else []


def _task_score(
    task: str, answers: Sequence[HumanAnswer], asked: dict[str, Question]
) -> HumanScore:
    by_person: dict[str, list[bool]] = defaultdict(list)
    by_question: dict[str, list[str]] = defaultdict(list)
    for answer in answers:
        by_person[answer.person].append((answer.letter,) == asked[answer.question_id].answer)
        by_question[answer.question_id].append(answer.letter)
    return HumanScore(
        category=task,
        n_persons=len(by_person),
        n_answers=len(answers),
        accuracy=fmean(map(fmean, by_person.values())),
        agreement=pairwise_agreement(by_question.values()),
    )


def _mean(name: str, tasks: Sequence[HumanScore]) -> HumanScore:
    return HumanScore(
        category=name,
        n_persons=max((task.n_persons for task in tasks), default=0),
        n_answers=sum(task.n_answers for task in tasks),
        accuracy=fmean(task.accuracy for task in tasks) if tasks else nan,
        agreement=fmean(task.agreement for task in tasks) if tasks else nan,
    )
