"""Questions about two images of the built route (section 3.5), from three sources.

* arithmetic: a problem whose first two quantities become an image each;
* COPA in the layout of SuperGLUE (premise, two alternatives, whether the "cause" or the "effect" of
  the premise is asked for, label of the right one): an image of the cause and one of the effect;
* external knowledge: questions that experts wrote about two images.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from random import Random

from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, make_rows, require_field
from bench_assets.core.text.number_words import format_number
from bench_assets.suites.journeybench.mcot.number_proposals import (
    accepted_numbers,
    pair_id,
    replaced_question,
)
from bench_assets.suites.journeybench.mcot.planned_images import fill_count
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.quantities import Quantity
from bench_assets.suites.journeybench.mcot.recalculation import solve
from bench_assets.suites.journeybench.multi_image_vqa.dataset import (
    ARITHMETIC,
    CAUSE,
    KNOWLEDGE,
    MultiImageItem,
)
from bench_assets.suites.journeybench.published_files import CAUSE_ANSWERS, read_optional_lines
from bench_assets.suites.journeybench.text_generation import (
    GeneratedText,
    proposals_of,
    text_fields,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPair:
    """A question about two images that are to be generated."""

    item_id: str
    question: str
    answer: str
    category: str
    solution: str
    images: tuple[str, str]  # file names
    prompts: tuple[str, ...]  # one per image
    seeds: tuple[int, ...]  # one per image


def plan_arithmetic(
    problems: Mapping[str, Problem],
    quantities: Iterable[Quantity],
    proposals: Iterable[DecidedProposal],
) -> Table[PlannedPair]:
    """Move the first two quantities of a problem into an image each, with accepted other numbers.

    ``quantities`` are sorted by problem. A problem with fewer than two is skipped; one without
    accepted numbers is rejected.
    """
    table, accepted = Table[PlannedPair](), accepted_numbers(proposals)
    for problem_id, group in groupby(quantities, key=lambda quantity: quantity.problem_id):
        first_two = list(islice(group, 2))
        item_id = pair_id(problem_id)
        if len(first_two) < 2:
            continue
        if item_id in accepted:
            pair = _arithmetic_pair(problems[problem_id], first_two, accepted[item_id])
            table.rows.append(pair)
        else:
            table.reject(item_id, "no two other numbers were accepted")
    return table


def to_item(pair: PlannedPair) -> MultiImageItem:
    """Turn a planned pair into a row."""
    return MultiImageItem(
        item_id=pair.item_id,
        question=pair.question,
        answer=pair.answer,
        images=pair.images,
        category=pair.category,
        solution=pair.solution,
    )


def _arithmetic_pair(
    problem: Problem, quantities: Sequence[Quantity], counts: Sequence[int]
) -> PlannedPair:
    pairs = list(zip(quantities, counts, strict=True))
    solution = solve(problem, {quantity.number: count for quantity, count in pairs})
    rng = Random(f"{problem.problem_id}/pair")
    return PlannedPair(
        item_id=pair_id(problem.problem_id),
        question=replaced_question(problem, quantities),
        answer=format_number(float(solution.answer)) if solution else "",
        category=ARITHMETIC,
        solution=solution.steps if solution else "",
        images=(f"{problem.problem_id}-pair-1.png", f"{problem.problem_id}-pair-2.png"),
        prompts=tuple(fill_count(quantity.image_prompt, count) for quantity, count in pairs),
        seeds=(rng.randrange(2**31), rng.randrange(2**31)),
    )


_EVENT_PROMPT = """\
Cause: {cause}
Effect: {effect}

Can each of these two events be seen in a picture of its own? If so, print a JSON list with one \
object and nothing else; print [] if not. The object has two fields, "cause" and "effect": prompts \
for an image generator, each for a picture of one event that shows nothing of the other."""

_QUESTION = (
    "One of the two pictures shows what made happen what the other one shows. Which picture shows "
    "the {asked}?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseAndEffect:
    """Two events: a cause and its effect."""

    event_id: str  # "copa-17": COPA's own number
    cause: str
    effect: str


def read_copa(file: Path) -> Table[CauseAndEffect]:
    """Read JSON lines of COPA in file order; no rows if the file does not exist.

    An entry is rejected if it asks for neither cause nor effect, has no label 0 or 1, or
    repeats the number of an earlier one.

    Raises:
        SourceError: If the file cannot be read.
    """
    return make_rows(read_optional_lines(file), _cause_and_effect, unique=["event_id"])


def _cause_and_effect(entry: Entry, where: str) -> CauseAndEffect:
    target = require_field(entry, "question", str, where)
    label = require_field(entry, "label", int, where)
    if target not in ("cause", "effect") or label not in (0, 1):
        raise SourceError(
            f"{where}: question is {target!r} and label {label}, expected 'cause' or 'effect' "
            "and 0 or 1"
        )
    premise = require_field(entry, "premise", str, where).strip()
    choice = require_field(entry, f"choice{label + 1}", str, where).strip()
    cause, effect = (choice, premise) if target == "cause" else (premise, choice)
    event_id = f"copa-{require_field(entry, 'idx', int, where)}"
    return CauseAndEffect(event_id=event_id, cause=cause, effect=effect)


def cause_prompts(events: Iterable[CauseAndEffect]) -> dict[str, Prompt]:
    """Build the prompts for image prompts of both events, by request id."""
    return {
        f"{event.event_id}/images": Prompt.of(
            _EVENT_PROMPT.format(cause=event.cause, effect=event.effect)
        )
        for event in events
    }


def plan_causes(
    events: Sequence[CauseAndEffect], responses: Sequence[GeneratedText]
) -> Table[PlannedPair]:
    """Plan two images for every pair of events that can be shown in images.

    Which image comes first and which event is asked for is drawn with the event's id as seed.
    """
    table = Table[PlannedPair]()
    for event, response in zip(events, responses, strict=True):
        proposals = proposals_of(response, empty="cannot be seen")
        if proposals.rejections:
            table.rejections.extend(proposals.rejections)
            continue
        prompts = text_fields(proposals.rows[0], ("cause", "effect"))
        if prompts is None:
            table.reject(response.request_id, "unreadable response")
        else:
            table.rows.append(_cause_pair(event, prompts))
    return table


def _cause_pair(event: CauseAndEffect, prompts: dict[str, str]) -> PlannedPair:
    rng = Random(event.event_id)
    order = rng.sample(["cause", "effect"], 2)
    target = rng.choice(["cause", "effect"])
    return PlannedPair(
        item_id=event.event_id,
        question=_QUESTION.format(asked=target),
        answer=CAUSE_ANSWERS[order.index(target)],
        category=CAUSE,
        solution="",
        images=(f"{event.event_id}-1.png", f"{event.event_id}-2.png"),
        prompts=tuple(prompts[name] for name in order),
        seeds=(rng.randrange(2**31), rng.randrange(2**31)),
    )


def read_knowledge(file: Path) -> Table[MultiImageItem]:
    """Read JSON lines with ``id``, ``image1``, ``image2``, ``question`` and ``answer``.

    No rows if the file does not exist. Lines that repeat an id are rejected.

    Raises:
        SourceError: If the file cannot be read.
    """
    return make_rows(read_optional_lines(file), _expert_item, unique=["item_id"])


def _expert_item(entry: Entry, where: str) -> MultiImageItem:
    return MultiImageItem(
        item_id=require_field(entry, "id", str, where),
        question=require_field(entry, "question", str, where),
        answer=require_field(entry, "answer", str, where),
        images=(
            require_field(entry, "image1", str, where),
            require_field(entry, "image2", str, where),
        ),
        category=KNOWLEDGE,
    )
