"""Finds the quantities of a problem that an image can show instead (section 3.4).

A chat model proposes them; each proposal is checked word by word against the problem.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bench_assets.core.reading.numbers import parse_number
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.tables.build import Table
from bench_assets.core.text.number_words import list_numbers
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.recalculation import solve, steps_of
from bench_assets.suites.journeybench.text_generation import (
    GeneratedText,
    proposals_of,
    text_fields,
)

COUNT = "{count}"  # placeholder of the number in an image prompt
MAX_COUNT = 20  # largest number of things that is counted in an image
_FIELDS = ("text", "number", "things", "image_prompt")

_QUANTITY_PROMPT = """\
Problem: {question}

Find the numbers of this problem that a picture could show: numbers of things that can be seen and \
counted, at most {most} of them. Print a JSON list with one object for each of them and nothing \
else; print [] if there are none. Each object has these fields:
"text": the words of the problem that give the number and the things, copied exactly;
"number": the number in digits;
"things": the things in the plural, without the number;
"image_prompt": a prompt for an image generator, with {{count}} in the place of the number.

Example for "Ann buys three red apples at $2 each. What does she pay?":
[{{"text": "three red apples", "number": "3", "things": "red apples", \
"image_prompt": "A table with exactly {{count}} red apples on it"}}]"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A number of a problem that an image can show."""

    quantity_id: str  # id of the problem and a running number
    problem_id: str
    text: str  # the words of the problem that give it
    number: int
    things: str  # plural
    image_prompt: str  # with ``{count}`` for the number
    writer: str  # the model that found it
    prompt_sha256: str


def quantity_prompts(problems: Iterable[Problem]) -> dict[str, Prompt]:
    """Build the prompts for the quantities that an image could show, by request id."""
    return {
        f"{problem.problem_id}/quantities": Prompt.of(
            _QUANTITY_PROMPT.format(question=problem.question, most=MAX_COUNT)
        )
        for problem in problems
    }


def find_quantities(
    problems: Sequence[Problem], responses: Sequence[GeneratedText]
) -> Table[Quantity]:
    """Keep the proposed quantities that pass every check, reject the others."""
    table = Table[Quantity]()
    for problem, response in zip(problems, responses, strict=True):
        proposals = proposals_of(response, empty="nothing to be seen")
        table.rejections.extend(proposals.rejections)
        for number, proposal in enumerate(proposals.rows, 1):
            _add_if_valid(problem, proposal, response, f"{problem.problem_id}/{number}", table)
    return table


def _add_if_valid(
    problem: Problem,
    proposal: dict[str, Any],
    response: GeneratedText,
    quantity_id: str,
    table: Table[Quantity],
) -> None:
    """Add a proposal to the table, or to its rejections with the reasons."""
    fields = text_fields(proposal, _FIELDS)
    if fields is None:
        table.reject(quantity_id, f"one of {', '.join(_FIELDS)} is missing: {proposal}")
        return
    if faults := _faults(problem, fields):
        table.reject(quantity_id, "; ".join(faults))
        return
    number = parse_number(fields["number"])
    assert number is not None  # else ``_faults`` names it
    table.rows.append(
        Quantity(
            quantity_id=quantity_id,
            problem_id=problem.problem_id,
            text=fields["text"],
            number=int(number),
            things=fields["things"],
            image_prompt=fields["image_prompt"],
            writer=response.writer,
            prompt_sha256=response.prompt_sha256,
        )
    )


def _faults(problem: Problem, fields: dict[str, str]) -> list[str]:
    is_whole = re.search(rf"(?<!\w){re.escape(fields['text'])}(?!\w)", problem.question) is not None
    occurs_once = problem.question.count(fields["text"]) == 1 and is_whole
    number = parse_number(fields["number"])
    is_single = number is not None and list_numbers(problem.question).count(number) == 1
    is_solved = solve(problem, {}) is not None
    is_ignored = is_solved and all(number not in step.inputs for step in steps_of(problem))
    faults = {
        f"{fields['text']!r} does not occur exactly once in the problem": not occurs_once,
        f"{fields['text']!r} does not give the number {fields['number']}": (
            list_numbers(fields["text"]) != [number]
        ),
        f"{fields['number']} cannot be counted in an image": number not in range(1, MAX_COUNT + 1),
        f"{fields['number']} does not occur exactly once in the problem": not is_single,
        f"the things {fields['things']!r} have a number": bool(list_numbers(fields["things"])),
        f"not exactly one {COUNT} in the image prompt": fields["image_prompt"].count(COUNT) != 1,
        f"the solution does not calculate with {fields['number']}": is_ignored,
        "the calculations do not lead to the answer": not is_solved,
    }
    return [fault for fault, holds in faults.items() if holds]
