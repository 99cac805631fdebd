"""Plans the images that replace a quantity, and builds MCOT rows from them (section 3.4).

A quantity has up to three images: with its own number, with another number among other things, and
without it, which tests for hallucination.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, TypeAlias

from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import records
from bench_assets.core.text.number_words import format_number, list_numbers
from bench_assets.suites.journeybench.mcot.dataset import McotItem
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.quantities import COUNT, Quantity
from bench_assets.suites.journeybench.mcot.recalculation import Solution, is_proven, solve
from bench_assets.suites.journeybench.published_files import read_optional_lines

Variant: TypeAlias = Literal["as written", "another number", "absent"]

ANOTHER_NUMBER: Variant = "another number"
VARIANTS: tuple[Variant, ...] = ("as written", ANOTHER_NUMBER, "absent")
_LARGE_COUNT = 10  # things, from which on the label is "large number of objects"
_OTHER_THINGS = ("potted plant", "soccer ball", "teapot", "mushroom", "kite", "umbrella")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedImage:
    """An image to generate: its content, prompt and seed."""

    name: str  # file name, made of the quantity's id
    quantity_id: str
    variant: Variant
    count: int  # number of the quantity's things
    prompt: str
    seed: int


def plan_images(
    quantities: Iterable[Quantity], other_numbers: Mapping[str, tuple[int, ...]]
) -> list[PlannedImage]:
    """Plan images of the first quantity of each problem: as written, with another number, absent.

    Args:
        quantities: In the order of their problems.
        other_numbers: Accepted other numbers by quantity, at most one for each.
    """
    first_quantities: dict[str, Quantity] = {}
    for quantity in quantities:
        first_quantities.setdefault(quantity.problem_id, quantity)
    images = []
    for quantity in first_quantities.values():
        images.append(plan_image(quantity, "as written", quantity.number))
        for number in other_numbers.get(quantity.quantity_id, ()):
            images.append(plan_image(quantity, ANOTHER_NUMBER, number))
        images.append(plan_image(quantity, "absent", 0))
    return images


def to_items(
    problems: Mapping[str, Problem],
    quantities: Mapping[str, Quantity],
    images: Iterable[PlannedImage],
    counts: Mapping[str, Sequence[int]],
) -> Table[McotItem]:
    """Replace quantities by references to their images, and solve again; reject faulty items.

    Args:
        problems: By id.
        quantities: By id.
        images: The planned images.
        counts: Annotators' counts by image name; an image with counts is rejected unless more than
            half of them are the planned number.
    """
    table = Table[McotItem]()
    for image in images:
        quantity = quantities[image.quantity_id]
        problem = problems[quantity.problem_id]
        question = replace_quantities(
            problem.question, {quantity.text: image_reference(quantity.things)}
        )
        solution = _solve(problem, quantity, image)
        item_id = image.name.rsplit(".", 1)[0]
        if faults := _faults(image, question, solution, counts.get(image.name, ())):
            table.reject(item_id, "; ".join(faults))
            continue
        table.rows.append(
            McotItem(
                item_id=item_id,
                question=question,
                answer=_answer(quantity.things, image, solution),
                image=image.name,
                category="; ".join(_labels(image)),
                solution=solution.steps if solution else "",
            )
        )
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCount:
    """What an annotator counted in an image."""

    image: str
    annotator: str
    count: int


def read_counts(file: Path) -> Table[ImageCount]:
    """Read annotators' counts from JSON lines; none if the file does not exist.

    Raises:
        SourceError: If the file cannot be read.
    """
    return records(read_optional_lines(file), ImageCount)


def counts_by_image(counts: Iterable[ImageCount]) -> dict[str, list[int]]:
    """Group the counts by image; of several by one annotator, only the last is kept."""
    by_image = defaultdict[str, dict[str, int]](dict)
    for count in counts:
        by_image[count.image][count.annotator] = count.count
    return {image: list(by_annotator.values()) for image, by_annotator in by_image.items()}


def image_reference(things: str, image: str = "image") -> str:
    """Words that refer to the things in an image without their number."""
    return f"the {things} in the {image}"


def replace_quantities(question: str, references: Mapping[str, str]) -> str:
    """Replace quantities by references, with a capital at the start of a sentence.

    >>> replace_quantities("Ann ate 3 pies.", {"3 pies": "the pies in the image"})
    'Ann ate the pies in the image.'
    """
    for words, reference in references.items():
        if re.search(rf"(\A|[.!?]\s+){re.escape(words)}", question):
            question = question.replace(words, reference[0].upper() + reference[1:])
        else:
            question = question.replace(words, reference)
    return question


def fill_count(image_prompt: str, count: int) -> str:
    """Fill the number into an image prompt."""
    return image_prompt.replace(COUNT, str(count))


def plan_image(quantity: Quantity, variant: Variant, count: int) -> PlannedImage:
    """Plan an image of a variant; its other things and its seed are the same in every run."""
    rng = Random(f"{quantity.quantity_id}/{variant}")
    prompt = fill_count(quantity.image_prompt, count)
    distractor = rng.choice(
        [distractor for distractor in _OTHER_THINGS if distractor not in quantity.image_prompt]
    )
    distractor_phrase = f"exactly {rng.randint(2, 4)} of: {distractor}"
    if variant == ANOTHER_NUMBER:
        prompt = f"{prompt}, and {distractor_phrase}"
    elif variant == "absent":
        prompt = f"A picture of {distractor_phrase}, and of nothing else"
    number = VARIANTS.index(variant) + 1
    return PlannedImage(
        name=f"{quantity.quantity_id.replace('/', '-')}-{number}.png",
        quantity_id=quantity.quantity_id,
        variant=variant,
        count=count,
        prompt=prompt,
        seed=rng.randrange(2**31),
    )


def _labels(image: PlannedImage) -> list[str]:
    if image.variant == "absent":
        return ["hallucination"]
    size = "large number of objects" if image.count >= _LARGE_COUNT else "common objects"
    return [size, "distractors"] if image.variant == ANOTHER_NUMBER else [size]


def _faults(
    image: PlannedImage, question: str, solution: Solution | None, counts: Sequence[int]
) -> list[str]:
    n_agreeing = sum(count == image.count for count in counts)
    lacks_majority = len(counts) > 0 and 2 * n_agreeing <= len(counts)
    has_whole_result = solution is not None and solution.answer.denominator == 1
    faults = {
        f"the text alone gives the number {image.count}": image.count in list_numbers(question),
        f"{n_agreeing} of {len(counts)} annotators count {image.count}": lacks_majority,
        f"with {image.count} the calculations give no whole number": (
            image.variant != "absent" and not has_whole_result
        ),
    }
    return [fault for fault, holds in faults.items() if holds]


def _solve(problem: Problem, quantity: Quantity, image: PlannedImage) -> Solution | None:
    """Solve with an image's number; with absent things only where the form proves the result."""
    if image.variant == "absent" and not is_proven(problem, {quantity.number: quantity.number}):
        return None
    return solve(problem, {quantity.number: image.count})


def _answer(things: str, image: PlannedImage, solution: Solution | None) -> str:
    """Alternatives of the ground truth, joined with "; "."""
    alternatives = []
    if image.variant == "absent":
        alternatives += [f"there are no {things}", f"there are not any {things}"]
    if solution is not None and solution.answer.denominator == 1:
        alternatives.append(format_number(float(solution.answer)))
    return "; ".join(alternatives)
