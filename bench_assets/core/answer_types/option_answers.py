"""Answers among options: one letter, several letters, yes or no."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from bench_assets.core.answer_types.definition import Gold, RowContext, StatedAnswer
from bench_assets.core.answer_types.options import format_cell, read_answer
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.reading.yes_no import parse_yes_no
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import AnswerKind

_IMAGE_PLACEHOLDER = "<image>"
_SHORT_FORMS = {"y": "yes", "t": "yes", "1": "yes", "n": "no", "f": "no", "0": "no"}


@dataclass(frozen=True, slots=True)
class ChoiceAnswer(StatedAnswer):
    """The letter of one option, or the letters of all right ones."""

    kind: AnswerKind = "choice"

    @property
    def instruction(self) -> str:
        """Ask for letters."""
        if self.kind == "choice":
            return "Answer with the letter of the right option."
        return "Answer with the letters of all right options."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Find the options that the answer key names."""
        if not context.options:
            raise SourceError(
                "no options (expected at least 2; drawn_options if only the picture shows them)"
            )
        gold = read_answer(value, context.options, context.answers)
        if self.kind == "choice" and len(gold.answer) > 1:
            raise SourceError(f"{len(gold.answer)} right options (expected 1)")
        return gold._replace(kind=self.kind)

    def form(self, gold: Gold) -> AnswerForm:
        """Letters; options that are images have no text."""
        options = ("" if _IMAGE_PLACEHOLDER in option else option for option in gold.options)
        return AnswerForm("choices" if gold.kind == "choices" else "choice", tuple(options))

    def answer(self, value: str, gold: Gold) -> tuple[str, ...]:
        """Split the letters: "A C"."""
        return tuple(value.split())

    def points(self, answer: Sequence[str], gold: Gold) -> float:
        """Give a point for exactly the right letters, or for an option equal to the right one."""
        is_right = tuple(answer) == gold.answer
        if self.kind == "choice" and not is_right:
            right_texts = _option_texts(gold.answer, gold)
            is_right = "" not in right_texts and _option_texts(answer, gold) == right_texts
        return float(is_right)


@dataclass(frozen=True, slots=True)
class YesNoAnswer(StatedAnswer):
    """Yes or no."""

    instruction: str = "Answer with yes or no."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read yes or no, true or false, 1 or 0."""
        text = format_cell(value)
        word = parse_yes_no(text) or _SHORT_FORMS.get(text.casefold().strip(" ."))
        if word is None:
            raise SourceError(f"answer {text!r:.60} (expected yes or no, true or false, 1 or 0)")
        return Gold("text", (word,))

    def form(self, gold: Gold) -> AnswerForm:
        """The form of yes or no."""
        return AnswerForm("yes_no")


def _option_texts(letters: Sequence[str], gold: Gold) -> list[str]:
    """Texts of options by their letters; "" for an image, or an unknown letter."""
    options = dict(zip(ascii_uppercase, gold.options, strict=False))
    texts = [options.get(letter, "") for letter in letters]
    return ["" if _IMAGE_PLACEHOLDER in text else text for text in texts]
