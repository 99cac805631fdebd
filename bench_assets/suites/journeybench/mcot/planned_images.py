"""Plans the pictures that stand for a quantity, and turns them into MCOT rows (section 3.4).

A quantity is shown several times: with its own number, with another one among other things,
and not at all, which tests whether a model sees what is not there.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple, TypeAlias

from bench_assets.core.parsing.numbers import numbers, written
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.json_records import field, read_lines
from bench_assets.suites.journeybench.mcot.dataset import McotItem
from bench_assets.suites.journeybench.mcot.problems import Problem, Solution, solve
from bench_assets.suites.journeybench.mcot.quantities import COUNT, Quantity

Variant: TypeAlias = Literal["as written", "another number", "absent"]

VARIANTS: tuple[Variant, ...] = ("as written", "another number", "absent")
_CLEAR = range(2, 13)  # numbers of things that another picture may show
_MANY = 10  # from here on the label is "large number of objects"
_OTHERS = ("potted plant", "soccer ball", "teapot", "mushroom", "kite", "umbrella")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPicture:
    """A picture to be made: what it shows, and the prompt and seed it is made with."""

    name: str  # file name, made of the quantity's id
    quantity_id: str
    variant: Variant
    count: int  # of the quantity's things
    prompt: str
    seed: int


class Items(NamedTuple):
    """The rows that were built, and why the other pictures have none."""

    items: list[McotItem]
    rejections: list[Rejection]


def plan_pictures(
    problems: Mapping[str, Problem], quantities: Iterable[Quantity]
) -> list[PlannedPicture]:
    """Plan one picture for each variant of the first quantity of each problem.

    Numbers, other things and seeds are drawn from the quantity's id: the same quantity is always
    planned alike. Another number is none that the text has; a text that has them all gets none.

    Args:
        problems: By id.
        quantities: Those that can be taken out of their problem.
    """
    first: dict[str, Quantity] = {}
    for quantity in quantities:
        first.setdefault(quantity.problem_id, quantity)
    return [
        _planned(quantity, variant, others)
        for problem_id, quantity in first.items()
        for others in [other_numbers(problems[problem_id])]
        for variant in VARIANTS
        if others or variant != "another number"
    ]


def to_items(
    problems: Mapping[str, Problem],
    quantities: Mapping[str, Quantity],
    pictures: Iterable[PlannedPicture],
    counts: Mapping[str, Sequence[int]],
) -> Items:
    """Replace quantities by references to their pictures, and solve the problems again.

    Args:
        problems: By id.
        quantities: By id.
        pictures: Those that were made.
        counts: What annotators counted in a picture, by its name; where most of them count
            another number than was planned, the picture is left out.
    """
    made = Items([], [])
    for picture in pictures:
        quantity = quantities[picture.quantity_id]
        problem = problems[quantity.problem_id]
        question = refer(problem.question, {quantity.text: reference(quantity.things)})
        solved = solve(problem, {quantity.number: picture.count})
        item_id = picture.name.rsplit(".", 1)[0]
        if faults := _faults(picture, question, solved, counts.get(picture.name, ())):
            made.rejections.append(Rejection(entry=item_id, reason="; ".join(faults)))
            continue
        made.items.append(
            McotItem(
                item_id=item_id,
                question=question,
                answer=_answer(quantity.things, picture, solved),
                picture=picture.name,
                category="; ".join(_labels(picture)),
                solution=solved.steps if solved else "",
            )
        )
    return made


def read_counts(file: Path) -> dict[str, list[int]]:
    """Read what annotators counted: JSON lines with ``picture``, ``annotator`` and ``count``.

    Raises:
        SourceError: If the file cannot be read, or a line lacks one of its fields.
    """
    counts: dict[str, list[int]] = defaultdict(list)
    for entry, where in read_lines(file):
        picture = field(entry, "picture", str, where)
        counts[picture].append(field(entry, "count", int, where))
    return dict(counts)


def other_numbers(problem: Problem) -> list[int]:
    """List the numbers that a picture may show and the problem does not have."""
    said = numbers(problem.question)
    return [number for number in _CLEAR if number not in said]


def reference(things: str, where: str = "picture") -> str:
    """Refer to things of a picture without saying how many there are."""
    return f"the {things} in the {where}"


def refer(question: str, references: Mapping[str, str]) -> str:
    """Put references in the place of quantities, with a capital where a sentence begins.

    >>> refer("Ann ate 3 pies.", {"3 pies": "the pies in the picture"})
    'Ann ate the pies in the picture.'
    """
    for words, instead in references.items():
        begins = re.search(rf"(\A|[.!?]\s+){re.escape(words)}", question) is not None
        question = question.replace(words, instead[0].upper() + instead[1:] if begins else instead)
    return question


def shown(image_prompt: str, count: int) -> str:
    """Fill the number into an image prompt."""
    return image_prompt.replace(COUNT, str(count))


def _planned(quantity: Quantity, variant: Variant, others: Sequence[int]) -> PlannedPicture:
    rng = Random(f"{quantity.quantity_id}/{variant}")
    count, prompt = quantity.number, shown(quantity.image_prompt, quantity.number)
    thing = rng.choice([thing for thing in _OTHERS if thing not in quantity.image_prompt])
    beside = f"exactly {rng.randint(2, 4)} of: {thing}"
    if variant == "another number":
        count = rng.choice(others)
        prompt = f"{shown(quantity.image_prompt, count)}, and {beside}"
    elif variant == "absent":
        count, prompt = 0, f"A picture of {beside}, and of nothing else"
    number = VARIANTS.index(variant) + 1
    return PlannedPicture(
        name=f"{quantity.quantity_id.replace('/', '-')}-{number}.png",
        quantity_id=quantity.quantity_id,
        variant=variant,
        count=count,
        prompt=prompt,
        seed=rng.randrange(2**31),
    )


def _labels(picture: PlannedPicture) -> list[str]:
    if picture.variant == "absent":
        return ["hallucination"]
    size = "large number of objects" if picture.count >= _MANY else "common objects"
    return [size, "distractors"] if picture.variant == "another number" else [size]


def _faults(
    picture: PlannedPicture, question: str, solved: Solution | None, counted: Sequence[int]
) -> list[str]:
    absent = picture.variant == "absent"
    result = solved.answer if solved else None
    agreeing = sum(count == picture.count for count in counted)
    faults = {
        f"the text alone gives the number {picture.count}": picture.count in numbers(question),
        f"{agreeing} of {len(counted)} annotators count {picture.count}": (
            bool(counted) and 2 * agreeing <= len(counted)
        ),
        f"with {picture.count} the answer is {result}, no whole number": (
            not absent and (result is None or not result.is_integer())
        ),
    }
    return [fault for fault, holds in faults.items() if holds]


def _answer(things: str, picture: PlannedPicture, solved: Solution | None) -> str:
    number = [written(solved.answer)] if solved and solved.answer.is_integer() else []
    absence = [f"there are no {things}", f"there are not any {things}"]
    return "; ".join(absence + number if picture.variant == "absent" else number)
