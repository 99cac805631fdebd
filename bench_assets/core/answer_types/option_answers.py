"""Answers among options: one letter, several letters, yes or no."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench_assets.core.answer_types.definition import Gold, Grade, RowContext
from bench_assets.core.answer_types.options import format_cell, read_answer
from bench_assets.core.parsing.choices import Choice, read_choice, read_choices
from bench_assets.core.parsing.numbers import states_none
from bench_assets.core.parsing.option_names import Options
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import AnswerKind

_IMAGE_PLACEHOLDER = "<image>"
_YES_OR_NO = (*("",) * 11, "yes", "no")  # under L and M, so that a response "A" is neither
_WORD_BY_LETTER = {"L": "yes", "M": "no"}
_GOLD = {
    **dict.fromkeys(("yes", "y", "true", "t", "1", "是", "对"), "yes"),
    **dict.fromkeys(("no", "n", "false", "f", "0", "否", "不是", "不对"), "no"),
}


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
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
            raise SourceError("no options (expected at least 2)")
        found = read_answer(value, context.options, context.answers)
        if self.kind == "choice" and len(found.answer) > 1:
            raise SourceError(f"{len(found.answer)} right options (expected 1)")
        return found._replace(kind=self.kind)

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give a point for exactly the right letters."""
        if gold.kind == "choices":
            letters = read_option_letters(response, gold.options)
            reason = "" if letters else "names no option"
        else:
            choice = read_option_choice(response, gold.options)
            letters, reason = (choice.letter,) if choice.letter else (), choice.why
        return Grade(float(letters == gold.answer) if letters else None, letters, reason)


@dataclass(frozen=True, slots=True)
class YesNoAnswer:
    """Yes or no, in any wording."""

    kind: AnswerKind = "text"
    instruction: str = "Answer with yes or no."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read yes or no, true or false, 1 or 0."""
        text = format_cell(value)
        if (found := _GOLD.get(text.casefold().strip(" ."))) is None:
            raise SourceError(f"answer {text!r:.60} (expected yes or no, true or false, 1 or 0)")
        return Gold(self.kind, (found,))

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give a point for the right word; a response that says neither is unread."""
        word, reason = read_yes_no(response)
        read = (word,) if word else ()
        return Grade(float(read == gold.answer) if word else None, read, reason)


def read_yes_no(response: str) -> tuple[str, str]:
    """Read "yes" or "no", and the form it was read from; "" if a response says neither.

    >>> (
    ...     read_yes_no("Yes, there is."),
    ...     read_yes_no("There is no dog."),
    ...     read_yes_no("I cannot tell.")[0],
    ... )
    (('yes', 'nothing but the answer'), ('no', 'a denial'), '')
    """
    letter, why = read_choice(response, _YES_OR_NO)
    if letter in _WORD_BY_LETTER:
        return _WORD_BY_LETTER[letter], why
    return ("no", "a denial") if states_none(response) else ("", "says neither yes nor no")


def read_option_choice(response: str, options: Sequence[str]) -> Choice:
    """Read one option; where options are images, by its letter or place only."""
    return read_choice(response, ["" if _IMAGE_PLACEHOLDER in one else one for one in options])


def read_option_letters(response: str, options: Sequence[str]) -> tuple[str, ...]:
    """Parse the letters of several options that a response commits to, sorted; () if none.

    >>> (
    ...     read_option_letters("A, C", "wxyz"),
    ...     read_option_letters("(B) is wrong. The answers are A and D.", "wxyz"),
    ... )
    (('A', 'C'), ('A', 'D'))
    """
    offered = Options(len(options), tuple(options))
    letters = (
        read_choices(response, offered).letters
        or read_option_choice(response, options).letter
        or ""
    )
    return tuple(sorted(letters)) if set(letters) <= set(offered.letters) else ()
