"""How the questions of the mini edition are worded: so that no letter is favoured in any kind.

The order of options is drawn by a question's own content (``dealing``). A writer words things
differently, and here words each question so that the letter comes out which its kind had least.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from bench_assets.suites.cogbench.construction.selection import deal_letters
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from bench_assets.suites.cogbench.synthetic.tales import ChainQuestion, StoryReasoning, Tale

LETTERS = "ABCD"
_OPENINGS = (
    *("", "In this picture, ", "Look closely: ", "Going by what is drawn, "),
    *("As the picture has it, ", "From what can be seen, ", "Judging by the picture, "),
    *("According to the picture, ", "From the picture: ", "To judge by the scene, "),
)


def worded(tales: Sequence[Tale]) -> list[Tale]:
    """Word every question; what is drawn stays as it is."""
    counts: dict[str, Counter[str]] = {}
    return [
        replace(tale, told=tuple(_worded(tale, told, counts) for told in tale.told))
        for tale in tales
    ]


def plain_question(text: str) -> str:
    """Take the opening off a question.

    >>> plain_question("Look closely: which season is it?")
    'Which season is it?'
    """
    opening = max((one for one in _OPENINGS if text.startswith(one)), key=len)
    rest = text.removeprefix(opening)
    return rest[:1].upper() + rest[1:]


def _worded(tale: Tale, told: StoryReasoning, counts: dict[str, Counter[str]]) -> StoryReasoning:
    count = counts.setdefault(told.kind, Counter())
    questions = []
    for asked in told.questions:
        one = min(
            (replace(asked, text=_opened(opening, asked.text)) for opening in _turned(count)),
            key=lambda way: count[_letter(tale, told, way)],
        )
        count[_letter(tale, told, one)] += 1
        questions.append(one)
    return replace(told, questions=tuple(questions))


def _turned(count: Mapping[str, int]) -> Sequence[str]:
    """The openings, beginning with another one each time."""
    first = sum(count.values()) % len(_OPENINGS)
    return (*_OPENINGS[first:], *_OPENINGS[:first])


def _opened(opening: str, text: str) -> str:
    return opening + text[0].lower() + text[1:] if opening else text


def _letter(tale: Tale, told: StoryReasoning, asked: ChainQuestion) -> str:
    written = SourceQuestion(
        where="",
        image_id=tale.name,
        category=told.kind,
        text=asked.text,
        options=asked.options,
        answer=LETTERS[asked.right],
    )
    return deal_letters(written, 0).answer
