"""Reviews: answers that people read from unread or doubtful responses.

A review is a form as JSON lines: ``answer`` is the response's answer ("B", "A C", a text, or
"none"), ``verdict`` is "right" or "wrong" for tasks with a model judge. Reviewed responses are
scored by these; the scorer is then named ``careful+review:DIGEST``.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from string import ascii_uppercase
from typing import Self

from bench_assets.annotation.responses.units import response_name
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question, Score
from bench_assets.core.schema.signature import REVIEW_MARK
from bench_assets.core.tables.json_records import read_lines, records
from bench_assets.evaluation.task import (
    AnsweredQuestion,
    ScoreOne,
    Task,
    attempt_by_rules,
    without_points,
)

NO_ANSWER = "none"
"""The ``answer`` of a response without an answer."""

_VERDICTS = {"right": True, "wrong": False}
_DIGITS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLine:
    """One line of the form: a response to a question, possibly from several models."""

    question_id: str
    response: str  # its name, a digest of its text
    why: str  # "unread", or "doubtful": scorers read different answers
    kind: str = ""  # of the answer, as ``Question.kind``
    question: str = ""
    options: str = ""  # one per line
    reference: str = ""  # the right answer, only where a verdict is asked for
    text: str = ""
    asked_for: str = "answer"  # the field to fill in: "answer" or "verdict"
    answer: str = ""  # "B", "A C", a text, or "none"; "" is not filled in
    verdict: str = ""  # "right" or "wrong"
    by: str = ""  # who filled it in
    where: str = ""  # location in the file, for messages

    @property
    def is_filled(self) -> bool:
        """Whether the line is filled in."""
        return bool(self.answer or self.verdict)


@dataclass(frozen=True, slots=True)
class ResponseReview:
    """The filled lines of a review, by question and response."""

    lines: Mapping[tuple[str, str], ReviewLine]
    digest: str  # of their content

    @classmethod
    def of(cls, lines: Sequence[ReviewLine]) -> Self:
        """Build a review from the filled lines."""
        filled = {(line.question_id, line.response): line for line in lines if line.is_filled}
        entries = sorted([*key, line.answer, line.verdict] for key, line in filled.items())
        return cls(filled, sha256(json.dumps(entries).encode()).hexdigest()[:_DIGITS])

    def within(self, questions: Sequence[Question]) -> Self:
        """The lines on these questions."""
        question_ids = {question.question_id for question in questions}
        return self.of([line for (name, _), line in self.lines.items() if name in question_ids])

    def named(self, scorer: str) -> str:
        """The name of a scorer with this review."""
        return f"{scorer}{REVIEW_MARK}{self.digest}" if self.lines else scorer

    def score(self, task: Task, score_one: ScoreOne, pair: AnsweredQuestion, given: Score) -> Score:
        """Score a response by its review; ``given`` if it was not reviewed."""
        if not self.lines or given.error or given.no_answer:
            return given
        key = pair.question.question_id, response_name(pair.prediction.text)
        if (line := self.lines.get(key)) is None:
            return given
        note = f"reviewed{f' by {line.by}' if line.by else ''}: {line.verdict or line.answer}"
        if line.verdict:
            points = given.max_points if _VERDICTS[line.verdict] else 0.0
            return replace(given, points=points, note=note, unread=False)
        if line.answer == NO_ANSWER:
            return replace(without_points(task, score_one, pair), note=note, unread=False)
        read = _normalize_answer(pair.question, line.answer)
        reviewed_pair = pair._replace(prediction=replace(pair.prediction, text=read, raw_text=read))
        score = attempt_by_rules(task, score_one, reviewed_pair)
        reason = f"; {score.note}" if score.points is None and score.note else ""
        return replace(score, note=f"{note}{reason}", unread=False)


def load_review(file: str) -> ResponseReview | None:
    """Read the review of a file; None without a file.

    Raises:
        SourceError: If the file is not a review.
    """
    return ResponseReview.of(read_review(Path(file))) if file else None


def format_lines(lines: Sequence[ReviewLine]) -> str:
    """The form as JSON lines."""
    hidden = {"where"}
    rows = ({k: v for k, v in asdict(line).items() if k not in hidden} for line in lines)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_review(file: Path) -> list[ReviewLine]:
    """Read a form, filled in or not.

    Raises:
        SourceError: If it is not a review, or an answer is not an option of its question; names the
            line.
    """
    lines = records(
        read_lines(file), ReviewLine, unique=("question_id", "response"), closed=True
    ).require()
    for line in lines:
        if complaint := _first_error(line):
            raise SourceError(f"{line.where}: {complaint}")
    return lines


def _normalize_answer(question: Question, answer: str) -> str:
    """Normalise an answer as scorers do."""
    if question.kind == "choice":
        return answer.strip("() ").upper()
    if question.kind == "choices":
        return "".join(answer.upper().split())
    return "\n".join(re.split(r"\s*[;；]\s*", answer)) if question.kind == "blanks" else answer


def _first_error(line: ReviewLine) -> str:
    return next(_line_errors(line), "")


def _line_errors(line: ReviewLine) -> Iterator[str]:
    unused = "verdict" if line.asked_for == "answer" else "answer"
    if getattr(line, unused):
        yield f"{unused} is filled in (expected {line.asked_for})"
    if line.verdict not in ("", *_VERDICTS):
        yield f"verdict is {line.verdict!r} (expected right or wrong)"
    letters = ascii_uppercase[: len(line.options.splitlines())]
    chosen = line.answer.upper().strip("()").split()
    most = {"choice": 1, "choices": len(letters)}.get(line.kind)
    if most and line.answer != NO_ANSWER and (set(chosen) - set(letters) or len(chosen) > most):
        yield f"answer is {line.answer!r} (expected of {' '.join(letters)}, or {NO_ANSWER})"
