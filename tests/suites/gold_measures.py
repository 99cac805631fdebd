"""Yield and errors of proposed questions on real problems.

Reads the data beside the checkout: GSM8K's first 3,000 training problems, 394 changed ones that
were solved by hand (`line` counts from 1), and 702 items of GAOKAO-Bench. Solvers are scripted:
one errs in 5 %, the other in 10 % of their answers.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from bench_assets.annotation.gold import GoldStep
from bench_assets.core.gold.proposals import DecidedProposal, Proposal
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.text.number_words import format_number, words_to_digits
from bench_assets.suites.journeybench.mcot.number_proposals import NUMBERS
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.recalculation import is_proven, solve, stated_numbers
from bench_assets.suites.multi.construction.question_transforms import CIRCLED
from bench_assets.suites.multi.construction.transformations import (
    TRANSFORMED,
    key_proposals,
    propose,
)
from bench_assets.suites.multi.dataset.questions import split_options
from tests.fakes.multi_rows import item

SHARED = Path(__file__).parents[3] / "shared"
ERRORS = {"x": 0.05, "y": 0.10}
SEEDS = 5
_NUMBER = re.compile(r"(?<![\d.,$])\d+(?![\d.,%/:-]*\d)")
_THINGS = re.compile(r" (?:[a-z]+ )?[a-z]{2,}s\b")  # a plural noun, after at most one word

Truth = Callable[[Proposal], str]  # the answer of a person; "none": there is none


def problems() -> list[Problem]:
    """GSM8K's problems in file order."""
    found = []
    for number, entry in enumerate(_lines(SHARED / "data/gold/gsm8k_train_3000.jsonl.gz")):
        solution, _, answer = entry["answer"].rpartition("####")
        found.append(
            Problem(
                problem_id=str(number),
                question=entry["question"],
                solution=solution.strip(),
                answer=answer.strip(),
            )
        )
    return found


@cache
def changes() -> dict[str, list[Proposal]]:
    """Proposals of another number for each problem with brackets, proven ones first, by problem."""
    return {
        problem.problem_id: sorted(
            _changes(problem), key=lambda proposal: proposal.form, reverse=True
        )
        for problem in problems()
        if "<<" in problem.solution
    }


def _changes(problem: Problem) -> Iterator[Proposal]:
    stated = stated_numbers(problem.question)
    for old in {int(n) for n in stated if n.denominator == 1 and 1 <= n <= 20}:
        drawn = [new for new in range(2, 13) if new not in stated]
        Random(f"{problem.problem_id}/{old}").shuffle(drawn)
        yield from (proposal for new in drawn if (proposal := _change(problem, old, new)))


def _change(problem: Problem, old: int, new: int) -> Proposal | None:
    solved = solve(problem, {old: new})
    key = format_number(float(solved.answer)) if solved else ""
    if solved is None or solved.answer.denominator > 1 or key in {"0", problem.answer}:
        return None
    return Proposal(
        id=f"{problem.problem_id}/{old}/{new}",
        question_id=problem.problem_id,
        construction="another number",
        before=problem.answer,  # what half of the errors repeat
        question=problem.question,
        answer_form="number",
        key=key,
        form="proven" if is_proven(problem, {old: new}) else "calculated",
    )


def number_figures() -> dict[str, float]:
    """Shares of problems and of quantities with another number, recalculated or proven."""
    found, every = changes(), {problem.problem_id: problem for problem in problems()}
    shown = Counter[str]()
    for name, proposals in found.items():
        text = words_to_digits(every[name].question)
        for number in {int(one[0]) for one in _NUMBER.finditer(text) if int(one[0]) <= 20}:
            places = [one for one in _NUMBER.finditer(text) if int(one[0]) == number]
            if len(places) == 1 and _THINGS.match(text, places[0].end()):
                own = [
                    proposal for proposal in proposals if proposal.id.split("/")[1] == str(number)
                ]
                shown["all"] += 1
                shown["proven"] += any(one.form == "proven" for one in own)
    n = len(found)
    return {
        "problems with brackets": n,
        "by form alone, of problems": sum(
            any(proposal.form == "proven" for proposal in proposals) for proposals in found.values()
        )
        / n,
        "by form alone, of quantities of things": shown["proven"] / shown["all"],
    }


def labelled() -> list[tuple[Proposal, str]]:
    """Changed problems that were solved by hand, with their verdicts."""
    every, pairs = problems(), []
    for entry in _lines(SHARED / "gold/labelled.jsonl"):
        problem = every[entry["line"] - 1]
        proposal = _change(problem, entry["old"], entry["new"])
        if proposal and proposal.key == entry["gold"]:
            pairs.append((proposal, entry["verdict"]))
    return pairs


def labelled_figures(share_old: float) -> dict[str, float]:
    """What the votes accept of the problems solved by hand; the most over all seeds for errors.

    Args:
        share_old: Share of errors that are the answer of the problem before the change.
    """
    known = labelled()
    verdicts = {proposal.id: verdict for proposal, verdict in known}
    counts = [
        Counter(verdicts[row.id] for row in rows if row.decision == "accepted")
        for rows in _runs(NUMBERS, [[one] for one, _ in known], _truth(verdicts), share_old)
    ]
    alone = Counter(verdict for one, verdict in known if one.form == "proven")
    return {
        "solved by hand": len(known),
        "proven by form, and wrong": alone["wrong"],
        "proven by form, and contradictory": alone["contradictory"],
        "accepted, and wrong (most)": max(count["wrong"] for count in counts),
        "accepted, and contradictory (most)": max(count["contradictory"] for count in counts),
    }


@cache
def exam_proposals() -> list[Proposal]:
    """Keys of the transformations of all exam items."""
    entries = _lines(SHARED / "data/gold/exam_items.jsonl.gz")
    items = [
        item(
            item_id=entry["id"], type=entry["type"], specific=entry["text"], answer=entry["answer"]
        )
        for entry in entries
    ]
    return [one for (one,) in key_proposals(propose(items, {}, 1.0, 0), items, [])]


def exam_figures() -> dict[str, float]:
    """Shares of transformed exam items by form and with solvers, and transformations never made."""
    proposals = exam_proposals()
    elements = [proposal for proposal in proposals if proposal.construction == "choose_elements"]
    options = [split_options(o.question)[1] for o in proposals if o.construction == "negate"]
    blanks = [proposal.key for proposal in proposals if proposal.construction == "to_blank"]
    runs = list(
        _runs(TRANSFORMED, [[proposal] for proposal in proposals], lambda marks: marks.key, 0.0)
    )
    accepted = [row.decision == "accepted" for rows in runs for row in rows]
    return {
        "by form": sum(proposal.form == "proven" for proposal in proposals) / len(proposals),
        "choose_elements by form": sum(bool(element.form) for element in elements) / len(elements),
        "accepted with solvers": sum(accepted) / len(accepted),
        "combined options negated": sum(
            any(set(marks) & set(CIRCLED) for marks in listed) for listed in options
        ),
        "words as blanks": sum(
            re.search(r"[\u3400-\u9fff]", re.sub(r"\$[^$]*\$", "", key)) is not None
            for key in blanks
        ),
    }


def _truth(verdicts: Mapping[str, str]) -> Truth:
    answers = {"right": lambda key: key, "wrong": lambda key: f"{key}1"}
    return lambda proposal: answers.get(verdicts[proposal.id], lambda _: "none")(proposal.key)


def _runs(
    step: GoldStep, candidates: Sequence[Sequence[Proposal]], truth: Truth, share_old: float
) -> Iterator[list[DecidedProposal]]:
    by_id = {proposal.id: proposal for proposals in candidates for proposal in proposals}
    for seed in range(SEEDS):
        rng = Random(seed)

        def ask(solver: str, requests: list[Request]) -> list[Response]:
            return [
                Response(text=f"#### {answer(solver, by_id[request.name])}") for request in requests
            ]

        def answer(solver: str, solved: Proposal, rng: Random = rng) -> str:
            true = truth(solved)
            if rng.random() >= ERRORS[solver]:
                return true.replace("\n", "; ")
            if rng.random() < share_old:
                return solved.before
            naive = true == "none"  # who overlooks a contradiction calculates
            return (
                solved.key if naive else rng.choice(["none", str(rng.randrange(1000, 9999)), "A"])
            )

        yield step.vote(candidates, tuple(ERRORS), ask)


def _lines(file: Path) -> list[dict[str, Any]]:
    data = file.read_bytes()
    text = gzip.decompress(data) if file.suffix == ".gz" else data
    return [json.loads(line) for line in text.splitlines()]
