"""Counting: how many are there? (section 3.2).

Questions come in fours that are offered the same numbers, each right for one of them: an exam
whose right numbers are mostly small ones would be passed without looking.

Raw data: TallyQA, ``test.json``: a list of ``{image, question, answer, question_id, issimple}``;
``image`` is a path below the folder.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import Entry, field, read_entries
from bench_assets.suites.blink.dataset.draft import (
    Candidates,
    Draft,
    DraftView,
    Marks,
    anywhere,
    placed,
    wording,
)
from bench_assets.suites.blink.raw_formats.image_folders import image_file


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingParameters:
    """Which numbers are asked for and offered; not given by the paper."""

    spread: int = 4
    """Wrong numbers differ from the right one by at most this."""
    complex_only: bool = True
    """Leave out questions TallyQA calls simple, such as "How many dogs are there?"."""


class _CountedImage(NamedTuple):
    entry: str
    image: Path
    question: str
    right: int
    simple: bool


def build(
    source: Path, rng: Random, parameters: CountingParameters = CountingParameters()
) -> Candidates:
    """Ask each question with its number and three others, the fours in drawn order.

    Those that are left over, for lack of others with numbers near theirs, come last, with drawn
    numbers.

    Raises:
        SourceError: If the list is missing or an entry is not of the form above; names it.
    """
    entries = list(read_entries(source / "test.json"))
    counted: list[_CountedImage] = []
    for entry, where in rng.sample(entries, len(entries)):
        one = _counted(source, entry, where)
        if parameters.complex_only and one.simple:
            yield Rejection(entry=one.entry, reason="simple: a detector alone could answer it")
        else:
            counted.append(one)
    fours = in_fours([one.right for one in counted], parameters.spread)
    for four in rng.sample(fours, len(fours)):
        offered = [counted[nth].right for nth in four]
        for one in (counted[nth] for nth in four):
            yield _draft(one, rng.sample([n for n in offered if n != one.right], 3))
    left = set(range(len(counted))).difference(*fours)
    for one in (counted[nth] for nth in sorted(left)):
        yield _draft(one, wrong_numbers(one.right, parameters.spread, rng))


def in_fours(numbers: Sequence[int], spread: int) -> list[tuple[int, ...]]:
    """Group places of numbers, so that each group has four different ones within ``spread``.

    >>> in_fours([2, 7, 1, 3, 1, 0], 4)
    [(5, 2, 0, 3)]
    """
    places: dict[int, list[int]] = defaultdict(list)
    for place, number in enumerate(numbers):
        places[number].append(place)
    fours = []
    for lowest in sorted(places):
        while places[lowest]:
            near = [n for n in range(lowest, lowest + spread + 1) if places.get(n)][:4]
            if len(near) < 4:
                break
            fours.append(tuple(places[number].pop(0) for number in near))
    return fours


def wrong_numbers(right: int, spread: int, rng: Random) -> list[int]:
    """Draw three numbers from 0 on that are near the right one, and are not it."""
    near = range(max(0, right - spread), right + spread + 1)
    return rng.sample([number for number in near if number != right], 3)


def _counted(source: Path, entry: Entry, where: str) -> _CountedImage:
    right = field(entry, "answer", int, where)
    if right < 0:
        raise SourceError(f"{where}: field 'answer' is {right}, expected 0 or more")
    return _CountedImage(
        entry=f"test.json, question {field(entry, 'question_id', int, where)}",
        image=image_file(source, field(entry, "image", str, where), where),
        question=field(entry, "question", str, where).strip(),
        right=right,
        simple=field(entry, "issimple", bool, where),
    )


def _draft(one: _CountedImage, wrong: Sequence[int]) -> Draft:
    def show(place: int, marks: Marks) -> DraftView:
        return DraftView(
            asked=wording("Counting", question=one.question),
            images=(one.image.read_bytes(),),
            options=placed(str(one.right), [str(number) for number in wrong], place),
        )

    return Draft(
        entry=one.entry, originals=(one.image,), n_options=4, places=anywhere(4), show=show
    )
