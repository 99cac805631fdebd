"""Interface of answer types: read the gold of a row, and grade responses against it.

The question table stores a gold as texts (``Question.answer``), which suffice for grading. Points
are in [0, 1]; None for a response that no rule can read, which a judge may decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.schema.rows import AnswerKind

AnswerTypeName: TypeAlias = Literal[
    "choice",
    "choices",
    "yes_no",
    "text",
    "number",
    "formula",
    "box",
    "point",
    "list",
    "json",
    "graded",
]
AnswerFormat: TypeAlias = Literal["", "letters", "indices", "indices from 1", "texts", "marks"]
Matching: TypeAlias = Literal["exact", "anls", "relaxed", "vqa", "rouge_l", "words"]
"""Similarity of texts: equality, ANLS, ChartQA's relaxed match, VQA accuracy, ROUGE-L, 1 - WER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSettings:
    """Settings of an answer type, the same for all rows; those of ``[benchmarks.NAME]``."""

    matching: Matching = "exact"  # of texts: how they are compared; follows from the metric
    tolerance: str = ""
    unit: str = ""
    coordinates: str = "xyxy pixels"
    response_coordinates: str = ""
    ordered: bool = False
    scale: str = "0..1"
    judge_prompt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowContext:
    """Other cells of a row that its gold depends on."""

    options: tuple[str, ...] = ()
    answers: AnswerFormat = ""
    image_size: tuple[int, int] | None = None  # px, width and height of the first image
    unit: str = ""  # of this row, if rows have units
    decimals: int | None = None  # of this row, if rows have a precision


class Gold(NamedTuple):
    """A gold answer, as the question table stores it."""

    kind: AnswerKind
    answer: tuple[str, ...]
    options: tuple[str, ...] = ()


class Grade(NamedTuple):
    """Points of a response, what was read in it, and why."""

    points: float | None  # [0, 1]; None: unread
    read: tuple[str, ...]  # in the form of ``Gold.answer``
    reason: str  # the form it was read from, or why it got no points
    named: bool = False  # the answer is only named, not stated, see ``Reading``


class AnswerType(Protocol):
    """A type of answers, such as numbers or boxes."""

    @property
    def instruction(self) -> str:
        """Last sentence of the default prompt: the required form of the answer."""
        ...

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read the gold of a row.

        Raises:
            SourceError: If it is not of this type; the message has what was expected.
        """
        ...

    def grade(self, response: str, gold: Gold) -> Grade:
        """Grade a response, without the model's reasoning."""
        ...

    def form(self, gold: Gold) -> AnswerForm | None:
        """Form in which the answer is read; None if it has none, such as a box or a caption."""
        return None


class StatedAnswer(AnswerType, Protocol):
    """A type of answers that responses state in known forms: letters, yes or no, numbers."""

    def form(self, gold: Gold) -> AnswerForm:
        """Form of the answer, by which a response is read."""
        ...

    def answer(self, value: str, gold: Gold) -> tuple[str, ...]:
        """Convert the value of a reading into the form of ``Gold.answer``."""
        return (value,)

    def points(self, answer: Sequence[str], gold: Gold) -> float:
        """Points of an answer, in [0, 1]."""
        return float(tuple(answer) == gold.answer)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Grade the answer that a response states; a response without one is unread."""
        reading = self.form(gold).read(response)
        if reading is None:
            return Grade(points=None, read=(), reason=UNREAD)
        answer = self.answer(reading.value, gold)
        points = self.points(answer, gold)
        return Grade(points=points, read=answer, reason=reading.form, named=reading.named)
