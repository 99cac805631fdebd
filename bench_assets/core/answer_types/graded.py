"""Graded answers: a judge's grade on a scale, as points in [0, 1]."""

import re
from dataclasses import dataclass
from string import Formatter

from bench_assets.core.answer_types.definition import AnswerType, Gold, Grade, RowContext
from bench_assets.core.answer_types.texts import TextAnswer
from bench_assets.core.judging.verdicts import read_grade
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.text.number_words import format_number

_SCALE = re.compile(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)")
_PROMPT = (
    "Grade the reply to a question by its right answer, from {low} (wrong) to {high} (right).\n\n"
    "Question: {question}\nRight answer: {answer}\nReply: {response}\n\n"
    "Print the grade, a number, and nothing else."
)


@dataclass(frozen=True, slots=True)
class GradedAnswer(AnswerType):
    """An open answer that a judge grades; no rule reads it."""

    low: float = 0.0
    high: float = 1.0
    template: str = _PROMPT
    instruction: str = ""

    @classmethod
    def of(cls, scale: str, template: str) -> "GradedAnswer":
        """Make the type of a scale such as ``"1..5"`` and a judge's prompt, "" for the default one.

        Raises:
            SettingsError: If the scale has no two ends, the lower one first, or the template is
                malformed, has an unknown field, or lacks {response}.
        """
        match = _SCALE.fullmatch(scale.strip())
        if match is None or float(match[1]) >= float(match[2]):
            raise SettingsError(f'scale {scale!r:.60} (expected two ends, such as "1..5")')
        try:
            names = {name for _, name, _, _ in Formatter().parse(template) if name is not None}
        except ValueError as error:
            raise SettingsError(f"judge_prompt: {error}; write {{{{ for a brace") from error
        if unknown := sorted(names - {"question", "answer", "response"}):
            known = "{question}, {answer}, {response}"
            raise SettingsError(f"judge_prompt: {{{unknown[0]}}} is unknown (expected {known})")
        if template and "response" not in names:
            raise SettingsError("judge_prompt: {response} is missing")
        return cls(low=float(match[1]), high=float(match[2]), template=template or _PROMPT)

    @property
    def complaint(self) -> str:
        """Complaint to a judge whose response has no grade."""
        scale = self._scale_text
        return f"That is not what was asked for. Print a number from {scale}, and nothing else."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read the reference answer, or several."""
        return TextAnswer().gold(value, context)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Leave the response to the judge: no points yet, but 0 for an empty one."""
        if not response.strip():
            return Grade(points=0.0, read=(), reason="no response")
        return Grade(points=None, read=(response.strip(),), reason="a judge grades it")

    def judge_prompt(self, question: str, response: str, gold: Gold) -> str:
        """Build the prompt of the judge."""
        scale = {"low": format_number(self.low), "high": format_number(self.high)}
        answer = " or ".join(gold.answer)
        return self.template.format(question=question, answer=answer, response=response, **scale)

    def read_judge_grade(self, reply: str) -> Grade:
        """Read a judge's grade as points, its scale mapped to [0, 1]; unread without one grade."""
        value = read_grade(reply, self.low, self.high)
        if value is None:
            return Grade(points=None, read=(), reason=f"not one grade from {self._scale_text}")
        points = (value - self.low) / (self.high - self.low)
        return Grade(points=points, read=(format_number(value),), reason="")

    @property
    def _scale_text(self) -> str:
        return f"{format_number(self.low)} to {format_number(self.high)}"
