"""Answer types by name, and the type of a benchmark's rows.

A row with options is answered with letters, whatever the type of the others: MMMU and MathVista
mix both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench_assets.core.answer_types.boxes import BoxAnswer, PointAnswer
from bench_assets.core.answer_types.definition import (
    AnswerSettings,
    AnswerType,
    AnswerTypeName,
    Gold,
    Grade,
    RowContext,
)
from bench_assets.core.answer_types.formulas import FormulaAnswer
from bench_assets.core.answer_types.graded import GradedAnswer
from bench_assets.core.answer_types.numbers import NumberAnswer, Tolerance
from bench_assets.core.answer_types.option_answers import ChoiceAnswer, YesNoAnswer
from bench_assets.core.answer_types.options import read_answer
from bench_assets.core.answer_types.regions import Convention
from bench_assets.core.answer_types.structures import JsonAnswer, ListAnswer
from bench_assets.core.answer_types.texts import TextAnswer
from bench_assets.core.judging.second_look import AnswerForm

_RELAXED = "5%"  # ChartQA's


@dataclass(frozen=True, slots=True)
class RowAnswer:
    """The answer type of rows: letters where there are options, else that of the benchmark."""

    default: AnswerType

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read the gold of a row."""
        if context.options and not isinstance(self.default, ChoiceAnswer):
            return read_answer(value, context.options, context.answers)
        return self.default.gold(value, context)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Grade by the form of the gold."""
        return self._type_of(gold).grade(response, gold)

    def form(self, gold: Gold) -> AnswerForm | None:
        """Form in which the answer is read; None if it has none, such as a caption."""
        return self._type_of(gold).form(gold)

    @property
    def has_form(self) -> bool:
        """Whether answers of rows without options may have a form: only then a reader is asked."""
        is_text = isinstance(self.default, TextAnswer) and self.default.matching == "exact"
        return is_text or isinstance(self.default, ChoiceAnswer | YesNoAnswer | NumberAnswer)

    def _type_of(self, gold: Gold) -> AnswerType:
        return ChoiceAnswer(gold.kind) if gold.kind in ("choice", "choices") else self.default


def make_answer_type(name: AnswerTypeName | None, settings: AnswerSettings) -> RowAnswer:
    """Make the answer type of a benchmark; None: letters for rows with options, else texts.

    Raises:
        SettingsError: If a setting cannot be used; names it.
    """
    return RowAnswer(_TYPES[name or "text"](settings))


def _number_answer(settings: AnswerSettings) -> AnswerType:
    is_relaxed = settings.matching == "relaxed" and not settings.tolerance
    return NumberAnswer(Tolerance.of(_RELAXED if is_relaxed else settings.tolerance), settings.unit)


def _conventions(settings: AnswerSettings) -> tuple[Convention, Convention | None]:
    """Conventions of the file, and of responses if these are configured."""
    response_setting = settings.response_coordinates
    response_convention = Convention.of(response_setting) if response_setting else None
    return Convention.of(settings.coordinates), response_convention


_TYPES: Mapping[AnswerTypeName, Callable[[AnswerSettings], AnswerType]] = {
    "choice": lambda _: ChoiceAnswer("choice"),
    "choices": lambda _: ChoiceAnswer("choices"),
    "yes_no": lambda _: YesNoAnswer(),
    "text": lambda settings: TextAnswer(settings.matching),
    "number": _number_answer,
    "formula": lambda _: FormulaAnswer(),
    "box": lambda settings: BoxAnswer(*_conventions(settings)),
    "point": lambda settings: PointAnswer(
        *_conventions(settings), tolerance=Tolerance.of(settings.tolerance)
    ),
    "list": lambda settings: ListAnswer(settings.ordered),
    "json": lambda _: JsonAnswer(),
    "graded": lambda settings: GradedAnswer.of(settings.scale, settings.judge_prompt),
}
