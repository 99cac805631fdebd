"""A question on its way from raw data to the table."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from bench_assets.core.images.drawing import Point
from bench_assets.core.parsing.choices import lettered
from bench_assets.core.schema.rows import Rejection

Item = TypeVar("Item")

SECOND_OR_THIRD = ("the second image", "the third image")
POINTS = ("Point A", "Point B", "Point C", "Point D")


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """How visual prompts are drawn (appendix A.1)."""

    height: int = 1024
    """px of every image that is drawn on; its width follows."""
    radius: int = 10
    """px of circles."""
    colour: str = "red"
    """Of circles and their labels, a CSS name."""


class QuestionWording(NamedTuple):
    """What is asked, in the words of the release."""

    question: str
    prompt: str  # in full, with "{options}" where the options come to stand


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftView:
    """What a model is shown of a draft: the right option stands in its place."""

    asked: QuestionWording
    images: tuple[bytes, ...]  # files, in the order shown
    options: tuple[str, ...]

    @property
    def prompt(self) -> str:
        """The question in full, with its lettered options."""
        return self.asked.prompt.replace("{options}", lettered(self.options))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question whose right option still has to be given its place."""

    entry: str  # file and entry it comes from, as a person would look for it
    originals: tuple[Path, ...]  # the images it uses up
    n_options: int
    places: tuple[int, ...]  # where the right option can stand; one if the data settle it
    show: Callable[[int, Marks], DraftView]  # with the right option in that place
    scene: str = ""  # what it shares with other drafts, whose images may look like its own
    marks: Marks = Marks()
    points: Mapping[Path, tuple[Point, ...]] = field(default_factory=dict)  # px; must lie inside
    labels: Mapping[str, str] = field(default_factory=dict)


Candidates: TypeAlias = Iterator[Draft | Rejection]


def anywhere(n_options: int) -> tuple[int, ...]:
    """All places, for a draft whose options can be shown in any order."""
    return tuple(range(n_options))


def placed(right: Item, wrong: Sequence[Item], place: int) -> tuple[Item, ...]:
    """Put the right item in its place among the wrong ones, which keep their order.

    >>> placed("right", ("w1", "w2", "w3"), 2)
    ('w1', 'w2', 'right', 'w3')
    """
    return (*wrong[:place], right, *wrong[place:])


def wording(task: str, **blanks: str) -> QuestionWording:
    r"""What a task asks, with its blanks filled in.

    >>> wording("Counting", question="How many giraffes are sitting?").prompt
    'How many giraffes are sitting?\nSelect from the following choices.\n{options}'
    """
    blank = _wordings()[task]
    return QuestionWording(
        **{name: blank[name].format(**blanks, options="{options}") for name in blank}
    )


@lru_cache(maxsize=1)
def _wordings() -> dict[str, dict[str, str]]:
    wordings: dict[str, dict[str, str]] = json.loads(
        Path(__file__).with_name("wordings.json").read_text(encoding="utf-8")
    )
    return wordings
