"""Plans pairs of pictures for problems whose two numbers are taken out (section 3.5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random
from typing import NamedTuple

from bench_assets.core.numbers import written
from bench_assets.core.rows import Rejection
from bench_assets.suites.journeybench.mcot.pictures import other_numbers, refer, reference, shown
from bench_assets.suites.journeybench.mcot.problems import Problem, Solution, solve
from bench_assets.suites.journeybench.mcot.quantities import Quantity
from bench_assets.suites.journeybench.multi_image_vqa.source import ARITHMETIC, MultiImageItem

_WHERE = ("first picture", "second picture")
_ATTEMPTS = 20  # draws of two numbers that leave a whole answer


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPair:
    """A question about two pictures that are still to be made."""

    item_id: str
    question: str
    answer: str
    category: str
    solution: str
    pictures: tuple[str, ...]  # two file names
    prompts: tuple[str, ...]  # what each is made of
    seeds: tuple[int, ...]


class Pairs(NamedTuple):
    """The pairs to be made, and why there are no others."""

    pairs: list[PlannedPair]
    rejections: list[Rejection]


def plan_arithmetic(problems: Mapping[str, Problem], quantities: Iterable[Quantity]) -> Pairs:
    """Take the first two quantities of a problem out of its text, each into a picture of its own.

    Both get other numbers than the text had, drawn from the problem's id, so that the known
    problem does not give the answer. Problems with fewer quantities are left to MCOT.
    """
    planned = Pairs([], [])
    for problem_id, group in groupby(quantities, key=lambda quantity: quantity.problem_id):
        two = list(group)[:2]
        if len(two) < 2:
            continue
        pair = _arithmetic(problems[problem_id], two, Random(f"{problem_id}/pair"))
        if isinstance(pair, PlannedPair):
            planned.pairs.append(pair)
        else:
            planned.rejections.append(Rejection(entry=f"{problem_id}-pair", reason=pair))
    return planned


def to_item(pair: PlannedPair) -> MultiImageItem:
    """Turn a pair whose pictures were made into a row."""
    first, second = pair.pictures
    return MultiImageItem(
        item_id=pair.item_id,
        question=pair.question,
        answer=pair.answer,
        pictures=(first, second),
        category=pair.category,
        solution=pair.solution,
    )


def _arithmetic(problem: Problem, two: Sequence[Quantity], rng: Random) -> PlannedPair | str:
    drawn = _drawn(problem, two, rng)
    if drawn is None:
        return f"no two numbers with a whole answer in {_ATTEMPTS} draws"
    counts, solved = drawn
    references = {q.text: reference(q.things, w) for q, w in zip(two, _WHERE, strict=True)}
    question = refer(problem.question, references)
    if not all(where in question for where in _WHERE):
        return "the words of the two quantities overlap"
    return PlannedPair(
        item_id=f"{problem.problem_id}-pair",
        question=question,
        answer=written(solved.answer),
        category=ARITHMETIC,
        solution=solved.steps,
        pictures=tuple(f"{problem.problem_id}-pair-{n}.png" for n in (1, 2)),
        prompts=tuple(shown(q.image_prompt, n) for q, n in zip(two, counts, strict=True)),
        seeds=(rng.randrange(2**31), rng.randrange(2**31)),
    )


def _drawn(
    problem: Problem, two: Sequence[Quantity], rng: Random
) -> tuple[list[int], Solution] | None:
    others = other_numbers(problem)
    for _ in range(_ATTEMPTS if len(others) > 1 else 0):
        counts = rng.sample(others, 2)
        solved = solve(problem, {q.number: n for q, n in zip(two, counts, strict=True)})
        if solved and solved.answer.is_integer():
            return counts, solved
    return None
