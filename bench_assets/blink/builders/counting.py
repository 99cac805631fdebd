"""Counting: how many are there? (section 3.2).

Raw data: TallyQA, ``test.json``: a list of ``{image, question, answer, question_id, issimple}``;
``image`` is a path below the folder.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench_assets.blink.builders.draft import (
    Candidates,
    Draft,
    Marks,
    Shown,
    anywhere,
    placed,
    wording,
)
from bench_assets.blink.builders.raw import picture_file
from bench_assets.core.errors import SourceError
from bench_assets.core.json_entries import Entry, field, read_entries
from bench_assets.core.rows import Rejection


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Which numbers are asked for and offered; not given by the paper."""

    spread: int = 4
    """Wrong numbers differ from the right one by at most this."""
    complex_only: bool = True
    """Leave out questions TallyQA calls simple, such as "How many dogs are there?"."""


def build(source: Path, rng: Random, parameters: Parameters = Parameters()) -> Candidates:
    """Ask each question with its number and three others, in drawn order.

    Raises:
        SourceError: If the list is missing or an entry is not of the form above; names it.
    """
    entries = list(read_entries(source / "test.json"))
    for entry, where in rng.sample(entries, len(entries)):
        yield _candidate(source, entry, where, rng, parameters)


def wrong_numbers(right: int, spread: int, rng: Random) -> list[int]:
    """Draw three numbers from 0 on that are near the right one, and are not it."""
    near = range(max(0, right - spread), right + spread + 1)
    return rng.sample([number for number in near if number != right], 3)


def _candidate(
    source: Path, entry: Entry, where: str, rng: Random, parameters: Parameters
) -> Draft | Rejection:
    right = field(entry, "answer", int, where)
    if right < 0:
        raise SourceError(f"{where}: field 'answer' is {right}, expected 0 or more")
    picture = picture_file(source, field(entry, "image", str, where), where)
    question = field(entry, "question", str, where).strip()
    name = f"test.json, question {field(entry, 'question_id', int, where)}"
    if parameters.complex_only and field(entry, "issimple", bool, where):
        return Rejection(entry=name, reason="simple: a detector alone could answer it")
    wrong = [str(number) for number in wrong_numbers(right, parameters.spread, rng)]

    def show(place: int, marks: Marks) -> Shown:
        return Shown(
            asked=wording("Counting", question=question),
            pictures=(picture.read_bytes(),),
            options=placed(str(right), wrong, place),
        )

    return Draft(entry=name, originals=(picture,), n_options=4, places=anywhere(4), show=show)
