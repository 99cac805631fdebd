"""Graded answers: a judge's grade on a scale, as points in [0, 1]."""

import re
from dataclasses import dataclass
from string import Formatter

from bench_assets.core.answer_types.definition import Gold, Grade, RowContext
from bench_assets.core.answer_types.texts import TextAnswer
from bench_assets.core.judging.verdicts import read_object
from bench_assets.core.parsing.numbers import format_number
from bench_assets.core.parsing.reasoning import strip_reasoning
from bench_assets.core.parsing.wrapped_answers import last_boxed_answer
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import AnswerKind

TEMPLATE_FIELDS = ("question", "answer", "response")
"""Fields of a judge's prompt template; only {response} is required."""

_SCALE = re.compile(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)")
_NUMBER = r"-?\d+(?:\.\d+)?"
_GRADE_ONLY = re.compile(rf"\W*?({_NUMBER})(?:\s*(?:/|out of)\s*({_NUMBER}))?\W*")
_STATED = re.compile(
    rf"(?:\b(?:score|grade|rating|correctness|points|mark)\b|评分|得分|分数)[^\d\n-]{{0,20}}({_NUMBER})"
    rf"(?:\s*(?:/|out of)\s*({_NUMBER}))?(?![\w.]*\d)",
    re.IGNORECASE,
)
_KEYS = ("score", "grade", "rating", "correctness", "points")
_PROMPT = (
    "Grade the reply to a question by its right answer, from {low} (wrong) to {high} (right).\n\n"
    "Question: {question}\nRight answer: {answer}\nReply: {response}\n\n"
    "Print the grade, a number, and nothing else."
)


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """An open answer that a judge grades; no rule reads it."""

    low: float = 0.0
    high: float = 1.0
    template: str = ""
    kind: AnswerKind = "text"
    instruction: str = ""

    @classmethod
    def of(cls, scale: str, template: str) -> "GradedAnswer":
        """Make the type of a scale such as ``"1..5"`` and a judge's prompt.

        Raises:
            SettingsError: If the scale has no two ends, or the template is malformed, has an
                unknown field, or lacks {response}.
        """
        found = _SCALE.fullmatch(scale.strip())
        if found is None or float(found[1]) >= float(found[2]):
            raise SettingsError(f'scale {scale!r:.60} (expected two ends, such as "1..5")')
        try:
            names = {name for _, name, _, _ in Formatter().parse(template) if name is not None}
        except ValueError as error:
            raise SettingsError(f"judge_prompt: {error}; write {{{{ for a brace") from error
        if template and (unknown := sorted(names - {*TEMPLATE_FIELDS})):
            known = ", ".join(f"{{{name}}}" for name in TEMPLATE_FIELDS)
            raise SettingsError(f"judge_prompt: {{{unknown[0]}}} is unknown (expected {known})")
        if template and "response" not in names:
            raise SettingsError("judge_prompt: {response} is missing")
        return cls(float(found[1]), float(found[2]), template)

    @property
    def complaint(self) -> str:
        """Complaint to a judge whose response has no grade."""
        ends = f"{format_number(self.low)} to {format_number(self.high)}"
        return f"That is not what was asked for. Print a number from {ends}, and nothing else."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read the reference answer, or several."""
        return TextAnswer().gold(value, context)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Leave every response to the judge; an empty one gets the lowest grade."""
        if not response.strip():
            return Grade(0.0, (), "no response")
        return Grade(None, (response.strip(),), "a judge grades it")

    def judge_prompt(self, question: str, response: str, gold: Gold) -> str:
        """Build the prompt of the judge."""
        fields = {"question": question, "answer": " or ".join(gold.answer), "response": response}
        ends = {"low": format_number(self.low), "high": format_number(self.high)}
        return self.template.format(**fields) if self.template else _PROMPT.format(**fields, **ends)

    def read_judge_grade(self, said: str) -> Grade:
        """Read the one grade of a judge: alone, in JSON, in a box, or after the word "score"."""
        text = strip_reasoning(said).strip()
        found = self._grades(text)
        if len(found) != 1:
            return Grade(None, (), f"{len(found) or 'no'} grades (expected 1)")
        (grade,) = found
        if not self.low <= grade <= self.high:
            ends = f"{format_number(self.low)} to {format_number(self.high)}"
            return Grade(
                None, (format_number(grade),), f"grade {format_number(grade)} (expected {ends})"
            )
        return Grade((grade - self.low) / (self.high - self.low), (format_number(grade),), "")

    def _grades(self, text: str) -> set[float]:
        matches: list[re.Match[str] | None]
        if isinstance(found := read_object(text), dict):
            named = {str(key).casefold(): str(value) for key, value in found.items()}
            matches = [_GRADE_ONLY.fullmatch(named[key]) for key in _KEYS if key in named]
        else:
            alone = _GRADE_ONLY.fullmatch(last_boxed_answer(text) or text)
            matches = [alone] if alone else [*_STATED.finditer(text)]
        return {self._on_scale(one) for one in matches if one}

    def _on_scale(self, found: re.Match[str]) -> float:
        """The grade of a match; NaN for "4/5" if 5 is not the top of the scale."""
        grade, top = float(found[1]), found[2]
        return grade if top is None or float(top) == self.high else float("nan")
