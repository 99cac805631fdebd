"""Answers among options: one letter, several letters, yes or no."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench_assets.core.answer_types.definition import Gold, Grade, RowContext
from bench_assets.core.answer_types.options import read_answer, written
from bench_assets.core.parsing.choices import Choice, read_choice, read_choices
from bench_assets.core.parsing.numbers import denied
from bench_assets.core.parsing.option_names import Options
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import AnswerKind

_SHOWN_IMAGE = "<image>"
_YES_OR_NO = (*("",) * 11, "yes", "no")  # under L and M, so that a response "A" is neither
_PLACES = {"L": "yes", "M": "no"}
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
            letters = letters_in(response, gold.options)
            reason = "" if letters else "names no option"
        else:
            choice = choice_in(response, gold.options)
            letters, reason = (choice.letter,) if choice.letter else (), choice.why
        return Grade(float(letters == gold.answer) if letters else None, letters, reason)


@dataclass(frozen=True, slots=True)
class YesNoAnswer:
    """Yes or no, in any wording."""

    kind: AnswerKind = "text"
    instruction: str = "Answer with yes or no."

    def gold(self, value: object, context: RowContext) -> Gold:
        """Read yes or no, true or false, 1 or 0."""
        said = written(value)
        if (found := _GOLD.get(said.casefold().strip(" ."))) is None:
            raise SourceError(f"answer {said!r:.60} (expected yes or no, true or false, 1 or 0)")
        return Gold(self.kind, (found,))

    def grade(self, response: str, gold: Gold) -> Grade:
        """Give a point for the right word; a response that says neither is unread."""
        said, reason = yes_or_no(response)
        read = (said,) if said else ()
        return Grade(float(read == gold.answer) if said else None, read, reason)


def yes_or_no(response: str) -> tuple[str, str]:
    """Read "yes" or "no", and the form it was read from; "" if a response says neither.

    >>> yes_or_no("Yes, there is."), yes_or_no("There is no dog."), yes_or_no("I cannot tell.")[0]
    (('yes', 'nothing but the answer'), ('no', 'a denial'), '')
    """
    letter, why = read_choice(response, _YES_OR_NO)
    if letter in _PLACES:
        return _PLACES[letter], why
    return ("no", "a denial") if denied(response) else ("", "says neither yes nor no")


def choice_in(response: str, options: Sequence[str]) -> Choice:
    """Read one option; where options are images, by its letter or place only."""
    return read_choice(response, ["" if _SHOWN_IMAGE in one else one for one in options])


def letters_in(response: str, options: Sequence[str]) -> tuple[str, ...]:
    """Parse the letters of several options that a response commits to, sorted; () if none.

    >>> letters_in("A, C", "wxyz"), letters_in("(B) is wrong. The answers are A and D.", "wxyz")
    (('A', 'C'), ('A', 'D'))
    """
    offered = Options(len(options), tuple(options))
    letters = read_choices(response, offered).letters or choice_in(response, options).letter or ""
    return tuple(sorted(letters)) if set(letters) <= set(offered.letters) else ()
