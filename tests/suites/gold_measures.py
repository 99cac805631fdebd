"""Shares of proposed questions that are proven or accepted, and their errors, on real problems.

Reads the data beside the checkout: GSM8K's first 3,000 training problems, 394 changed ones that
were solved by hand (`line` counts from 1), and 702 items of GAOKAO-Bench. Solvers are scripted:
one errs in 5 %, the other in 10 % of their answers.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from bench_assets.core.gold.proposals import Proposal
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
ERROR_RATES = {"x": 0.05, "y": 0.10}
SEEDS = 5
_NUMBER = re.compile(r"(?<![\d.,$])\d+(?![\d.,%/:-]*\d)")
_PLURAL_NOUN = re.compile(r" (?:[a-z]+ )?[a-z]{2,}s\b")  # after at most one word

Truth = Callable[[Proposal], str]  # the answer of a person; "none" if there is none


def problems() -> list[Problem]:
    """GSM8K's problems in file order."""
    gsm8k = []
    for index, row in enumerate(_read_lines(SHARED / "data/gold/gsm8k_train_3000.jsonl.gz")):
        solution, _, answer = row["answer"].rpartition("####")
        gsm8k.append(
            Problem(
                problem_id=str(index),
                question=row["question"],
                solution=solution.strip(),
                answer=answer.strip(),
            )
        )
    return gsm8k


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
        new_numbers = [new for new in range(2, 13) if new not in stated]
        Random(f"{problem.problem_id}/{old}").shuffle(new_numbers)
        proposals = (_change(problem, old, new) for new in new_numbers)
        yield from (proposal for proposal in proposals if proposal)


def _change(problem: Problem, old: int, new: int) -> Proposal | None:
    """The problem with another number; None without a whole, new answer other than zero."""
    solution = solve(problem, {old: new})
    if solution is None or solution.answer.denominator > 1:
        return None
    key = format_number(float(solution.answer))
    if key in {"0", problem.answer}:
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
    proposals_of = changes()
    questions = {problem.problem_id: problem.question for problem in problems()}
    n_proven_problems = n_quantities = n_proven = 0
    for problem_id, proposals in proposals_of.items():
        numbers_with_proof = {
            int(proposal.id.split("/")[1]) for proposal in proposals if proposal.form == "proven"
        }
        n_proven_problems += bool(numbers_with_proof)
        for number in _numbers_of_things(words_to_digits(questions[problem_id])):
            n_quantities += 1
            n_proven += number in numbers_with_proof
    n = len(proposals_of)
    return {
        "problems with brackets": n,
        "by form alone, of problems": n_proven_problems / n,
        "by form alone, of quantities of things": n_proven / n_quantities,
    }


def _numbers_of_things(text: str) -> list[int]:
    """Numbers up to 20 that occur once in a text and stand before a plural noun."""
    matches = list(_NUMBER.finditer(text))
    counts = Counter(int(match[0]) for match in matches)
    return [
        int(match[0])
        for match in matches
        if int(match[0]) <= 20
        and counts[int(match[0])] == 1
        and _PLURAL_NOUN.match(text, match.end())
    ]


def labelled_proposals() -> list[tuple[Proposal, str]]:
    """Changed problems that were solved by hand, with their verdicts."""
    gsm8k, pairs = problems(), []
    for row in _read_lines(SHARED / "gold/labelled.jsonl"):
        proposal = _change(gsm8k[row["line"] - 1], row["old"], row["new"])
        if proposal and proposal.key == row["gold"]:
            pairs.append((proposal, row["verdict"]))
    return pairs


def labelled_figures(share_old: float) -> dict[str, float]:
    """Problems solved by hand: errors proven by form, and accepted ones (bounds of all seeds).

    Args:
        share_old: Share of errors that are the answer of the problem before the change.
    """
    labelled = labelled_proposals()
    verdicts = {proposal.id: verdict for proposal, verdict in labelled}
    candidates = [[proposal] for proposal, _ in labelled]
    counts = [
        Counter(verdicts[row.id] for row in rows if row.decision == "accepted")
        for rows in _vote_with_seeds(NUMBERS, candidates, _truth(verdicts), share_old)
    ]
    by_form = Counter(verdict for proposal, verdict in labelled if proposal.form == "proven")
    return {
        "solved by hand": len(labelled),
        "proven by form, and wrong": by_form["wrong"],
        "proven by form, and contradictory": by_form["contradictory"],
        "accepted, and right (least)": min(count["right"] for count in counts),
        "accepted, and wrong (most)": max(count["wrong"] for count in counts),
        "accepted, and contradictory (most)": max(count["contradictory"] for count in counts),
    }


@cache
def exam_proposals() -> list[Proposal]:
    """Keys of the transformations of all exam items."""
    items = [
        item(item_id=row["id"], type=row["type"], specific=row["text"], answer=row["answer"])
        for row in _read_lines(SHARED / "data/gold/exam_items.jsonl.gz")
    ]
    candidates = key_proposals(propose(items, {}, share=1.0, seed=0), items, [])
    return [proposal for (proposal,) in candidates]


def exam_figures() -> dict[str, float]:
    """Shares of exam items proven by form and accepted, and counts of two faults."""
    proposals = exam_proposals()
    elements = [proposal for proposal in proposals if proposal.construction == "choose_elements"]
    negated = [split_options(row.question)[1] for row in proposals if row.construction == "negate"]
    blanks = [proposal.key for proposal in proposals if proposal.construction == "to_blank"]
    candidates = [[proposal] for proposal in proposals]
    runs = _vote_with_seeds(TRANSFORMED, candidates, lambda proposal: proposal.key, share_old=0.0)
    accepted = [row.decision == "accepted" for rows in runs for row in rows]
    return {
        "by form": sum(proposal.form == "proven" for proposal in proposals) / len(proposals),
        "choose_elements by form": sum(bool(row.form) for row in elements) / len(elements),
        "accepted with solvers": sum(accepted) / len(accepted),
        "combined options negated": sum(
            any(set(option) & set(CIRCLED) for option in options) for options in negated
        ),
        "words as blanks": sum(map(_has_chinese_words, blanks)),
    }


def _has_chinese_words(key: str) -> bool:
    without_formulas = re.sub(r"\$[^$]*\$", "", key)
    return re.search(r"[\u3400-\u9fff]", without_formulas) is not None


def _truth(verdicts: Mapping[str, str]) -> Truth:
    def answer(proposal: Proposal) -> str:
        verdict = verdicts[proposal.id]
        if verdict == "right":
            return proposal.key
        return f"{proposal.key}1" if verdict == "wrong" else "none"

    return answer


def _vote_with_seeds(step, candidates, truth, share_old):
    """Decide candidates by the scripted solvers, once for each seed."""
    by_id = {proposal.id: proposal for proposals in candidates for proposal in proposals}
    for seed in range(SEEDS):
        rng = Random(seed)

        def ask(solver: str, requests: list[Request], rng: Random = rng) -> list[Response]:
            answers = [
                _scripted_answer(by_id[request.name], truth, ERROR_RATES[solver], share_old, rng)
                for request in requests
            ]
            return [Response(text=f"#### {answer}") for answer in answers]

        yield step.vote(candidates, tuple(ERROR_RATES), ask)


def _scripted_answer(proposal, truth, error_rate, share_old, rng):
    true_answer = truth(proposal)
    if rng.random() >= error_rate:
        return true_answer.replace("\n", "; ")
    if rng.random() < share_old:
        return proposal.before
    if true_answer == "none":  # a solver that overlooks a contradiction calculates
        return proposal.key
    return rng.choice(["none", str(rng.randrange(1000, 9999)), "A"])


def _read_lines(file: Path) -> list[dict[str, Any]]:
    data = file.read_bytes()
    text = gzip.decompress(data) if file.suffix == ".gz" else data
    return [json.loads(line) for line in text.splitlines()]
