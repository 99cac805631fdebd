"""Proposes other numbers for the quantities of a problem, with their recalculated answer (3.4).

The first quantity of a problem gets another number in an image, the first two one in an image each,
so that a memorised problem does not help.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice, permutations
from random import Random

from bench_assets.annotation.gold import MAX_CANDIDATES, GoldStep
from bench_assets.annotation.tasks import SourceTable
from bench_assets.core.gold.proposals import DecidedProposal, Proposal
from bench_assets.core.reading.numbers import parse_number
from bench_assets.core.text.number_words import format_number, list_numbers
from bench_assets.suites.journeybench.mcot.planned_images import (
    ANOTHER_NUMBER,
    fill_count,
    image_reference,
    plan_image,
    replace_quantities,
)
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.quantities import Quantity
from bench_assets.suites.journeybench.mcot.recalculation import is_proven, solve

TWO_NUMBERS = "two numbers"
PICTURES = ("first picture", "second picture")

_COUNTABLE = range(2, 13)  # numbers that an image may show instead
_DRAWN = 24  # numbers, or pairs of them, that are tried


def number_candidates(
    problems: Sequence[Problem], quantities: Iterable[Quantity]
) -> list[list[Proposal]]:
    """Propose numbers for the first, and for the first two quantities of each problem."""
    by_id = {problem.problem_id: problem for problem in problems}
    candidates = []
    for problem_id, group in groupby(quantities, key=lambda quantity: quantity.problem_id):
        first_two = list(islice(group, 2))
        for n_replaced in range(1, len(first_two) + 1):
            proposals = _propose(by_id[problem_id], first_two[:n_replaced])
            candidates.append(list(islice(proposals, MAX_CANDIDATES)))
    return candidates


def accepted_numbers(proposals: Iterable[DecidedProposal]) -> dict[str, tuple[int, ...]]:
    """The first accepted numbers, by the id of the quantity or pair."""
    accepted: dict[str, tuple[int, ...]] = {}
    for proposal in proposals:
        if proposal.decision == "accepted":
            _, _, numbers = proposal.id.rpartition("/")
            accepted.setdefault(proposal.question_id, tuple(map(int, numbers.split("-"))))
    return accepted


def pair_id(problem_id: str) -> str:
    """Id of the pair of a problem's first two quantities."""
    return f"{problem_id}-pair"


def replaced_question(problem: Problem, quantities: Sequence[Quantity]) -> str:
    """The question with references to the images of one or two quantities."""
    images = PICTURES if len(quantities) > 1 else ("image",)
    references = {
        quantity.text: image_reference(quantity.things, image)
        for quantity, image in zip(quantities, images, strict=True)
    }
    return replace_quantities(problem.question, references)


def _propose(problem: Problem, quantities: Sequence[Quantity]) -> Iterator[Proposal]:
    """Propose numbers that the text does not state, those that the form proves first.

    Numbers whose answer is a fraction, 0 or the old answer are left out. There are none for two
    quantities whose words overlap.
    """
    is_pair = len(quantities) > 1
    question_id = pair_id(problem.problem_id) if is_pair else quantities[0].quantity_id
    question = replaced_question(problem, quantities)
    if is_pair and not all(picture in question for picture in PICTURES):
        return
    stated = list_numbers(problem.question)
    unstated = [number for number in _COUNTABLE if number not in stated]
    drawn = list(permutations(unstated, len(quantities)))
    Random(f"{question_id}/{ANOTHER_NUMBER}").shuffle(drawn)
    old_numbers = [quantity.number for quantity in quantities]
    replacements = {new: dict(zip(old_numbers, new, strict=True)) for new in drawn[:_DRAWN]}
    proven = [new for new in replacements if is_proven(problem, replacements[new])]
    for numbers in dict.fromkeys([*proven, *replacements]):
        solution = solve(problem, replacements[numbers])
        if solution is None or solution.answer.denominator > 1:
            continue
        if solution.answer in {0, parse_number(problem.answer)}:
            continue
        yield Proposal(
            id=f"{question_id}/{'-'.join(map(str, numbers))}",
            question_id=question_id,
            construction=TWO_NUMBERS if is_pair else ANOTHER_NUMBER,
            before=problem.question,
            question=question,
            shows="; ".join(_image_prompts(quantities, numbers)),
            answer_form="number",
            key=format_number(float(solution.answer)),
            form="proven" if numbers in proven else "calculated",
            why=solution.steps,
        )


def _image_prompts(quantities: Sequence[Quantity], counts: Sequence[int]) -> list[str]:
    if len(quantities) == 1:
        return [plan_image(quantities[0], ANOTHER_NUMBER, counts[0]).prompt]
    return [
        f"{picture}: {fill_count(quantity.image_prompt, count)}"
        for picture, quantity, count in zip(PICTURES, quantities, counts, strict=True)
    ]


NUMBERS = GoldStep(
    folder="journeybench/mcot",
    reads={
        "problems": SourceTable("journeybench/mcot/problems", Problem),
        "quantities": SourceTable("journeybench/mcot/quantities", Quantity),
    },
    candidates=number_candidates,
    quorum="all",
)
