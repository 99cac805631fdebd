"""Verifies answers and solutions of MCOT and multi-image VQA (section 4.1).

An answer takes two steps: a judge extracts it from the response, then decides whether it agrees
with the ground truth. A solution takes one step, by another judge. An unreadable verdict is asked
for again; if that fails, the row is unscored. The judge ``rules`` needs no model, and compares
numbers.

The paper's appendix with the prompts was not available, and the texts in the authors' repository
may not be copied. The wording is ours; the steps and every rule are those of their scripts
answer_verification.py and solution_verification.py.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from bench_assets.core.judging.verdict_requests import (
    RECORDED_PREFIX,
    VerdictRequest,
    ask_for_verdicts,
    first_judgements,
)
from bench_assets.core.judging.verdicts import YES_OR_NO, is_truncated, read_verdict, verdict_points
from bench_assets.core.reading.numbers import parse_number
from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import ChatModel, Prompt, Response
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.evaluation.task import (
    RULES,
    AnsweredQuestion,
    ByModel,
    ByRules,
    Judge,
    ScoreOne,
)
from bench_assets.suites.journeybench.answer_agreement import (
    matches_truth,
    missing_steps,
    read_answer,
    step_results,
)
from bench_assets.suites.journeybench.published_files import CAUSE_ANSWERS

UNKNOWN = "unknown"
"""What the judge prints if a solution has no final answer."""

NO_NUMBER = (
    'That is not what was asked for. Print the final number in digits, or "unknown", and nothing '
    "else."
)
"""Complaint about an unreadable extraction."""
NO_VERDICT = 'That is not what was asked for. Print "yes" or "no", and nothing else.'
"""Complaint about an unreadable verdict."""

_EXTRACT = """\
Question: {question}

Solution:
{solution}

An AI model wrote this solution. Find the final numeric answer in it. If it is not written as a \
number, infer it where you can. If there is none, the answer is "unknown". Print the number or \
"unknown", and nothing else."""

_VERIFY = """\
Question: {question}

Predicted answer: {predicted}

Ground truth answer: {answer}

Is the predicted answer an answer to the question that agrees with the ground truth? Numbers agree \
if they differ by at most 0.1. Print "yes" or "no", and nothing else."""

_VERIFY_SOLUTION = """\
Question: {question}

Predicted solution:
{solution}

Ground truth solution:
{truth}

Does the predicted solution take the same approach as the ground truth and come to the right \
result? Print "yes" if it does, "no" if it differs much or comes to a wrong result, and nothing \
else."""


def extraction_prompt(question: Question, solution: str) -> Prompt:
    """Prompt a judge for the number that a solution ends in, or "unknown"."""
    return Prompt.of(
        _EXTRACT.format(question=question.text, solution=solution),
        system="You extract numeric answers from solutions.",
    )


def verification_prompt(question: Question, predicted: str) -> Prompt:
    """Prompt a judge for agreement of an extracted answer with all forms of the ground truth."""
    return Prompt.of(
        _VERIFY.format(
            question=question.text, predicted=predicted, answer="; ".join(question.answer)
        ),
        system="You verify predicted answers against the ground truth.",
    )


def solution_prompt(question: Question, solution: str, truth: str) -> Prompt:
    """Prompt a judge for whether a solution follows the true one."""
    return Prompt.of(
        _VERIFY_SOLUTION.format(question=question.text, solution=solution, truth=truth),
        system="You compare the reasoning steps of two solutions.",
    )


EXTRACTED, CORRECT, SOLUTION = "extracted", "correct", "solution"  # criteria
WITH_REASONING = ", thoughts included"
"""Suffix of a criterion: the authors' script strips nothing from a solution."""

_YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)  # as answer_verification.py has it
_VERDICT = partial(read_verdict, words=YES_OR_NO)
_STRIPPED_CHARACTERS = " \t\r\n*_`'\"“”.!"  # stripped from both ends of an extracted answer


class _JudgedSolution(NamedTuple):
    """A prediction's text to judge, with or without the model's reasoning."""

    pair: AnsweredQuestion
    text: str
    suffix: str = ""  # of the criteria


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Extract each answer, then verify it.

    The judgement ``EXTRACTED`` has the answer as its response, and as its verdict whether there is
    one. If it failed, ``CORRECT`` is not requested and carries the same error. If ``CORRECT`` was
    requested again, the first response is another judgement, for the official scorer. For the same
    scorer, a prediction with reasoning is judged a second time with it.

    A recorded judge has one reply to each response: the verdict. So nothing is extracted.
    """
    if model.signature.startswith(RECORDED_PREFIX):
        requests = [_verification(pair, pair.prediction.text, CORRECT) for pair in answered]
        return [rows[0] for rows in ask_for_verdicts(requests, model, NO_VERDICT)]
    solutions = [_JudgedSolution(pair, pair.prediction.text) for pair in answered]
    solutions += [
        _JudgedSolution(pair, pair.prediction.raw_text, suffix=WITH_REASONING)
        for pair in answered
        if pair.prediction.has_reasoning
    ]
    extraction_requests = [
        VerdictRequest(
            *pair,
            prompt=extraction_prompt(pair.question, text),
            read=_has_answer,
            criterion=f"{EXTRACTED}{suffix}",
        )
        for pair, text, suffix in solutions
    ]
    # Of a repeated request, only the final judgement, which is the first.
    extractions = [rows[0] for rows in ask_for_verdicts(extraction_requests, model, NO_NUMBER)]
    verification_requests, failed = [], []
    for (pair, _, suffix), extraction in zip(solutions, extractions, strict=True):
        criterion = f"{CORRECT}{suffix}"
        if extraction.error:
            failed.append(replace(extraction, criterion=criterion, verdict=None))
        else:
            answer = answer_of(extraction.response)
            verification_requests.append(_verification(pair, answer, criterion))
    verifications = ask_for_verdicts(verification_requests, model, NO_VERDICT)
    return [*extractions, *chain.from_iterable(verifications), *failed]


def _verification(pair: AnsweredQuestion, answer: str, criterion: str) -> VerdictRequest:
    """Request a verdict on an answer to a question."""
    prompt = verification_prompt(pair.question, answer)
    return VerdictRequest(*pair, prompt=prompt, read=_VERDICT, criterion=criterion)


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Read the answer of each prediction and compare it, without a model.

    A ground truth in words ("there is no cup") matches if the prediction states just that.
    """
    return [judgement for pair in answered for judgement in _rule_judgements(pair)]


def judge_solutions(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Judge whether each prediction follows the true solution, if there is one."""
    requests = []
    for pair in answered:
        truth = solution_of(pair.question)
        if truth:
            prompt = solution_prompt(pair.question, pair.prediction.text, truth)
            requests.append(VerdictRequest(*pair, prompt=prompt, read=_VERDICT, criterion=SOLUTION))
    return [rows[0] for rows in ask_for_verdicts(requests, model, NO_VERDICT)]


def judge_solutions_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Call a solution right if it states the result of every true step, in their order.

    There is no verdict if the true solution has no such result.
    """
    return [_rule_solution_judgement(pair) for pair in answered if solution_of(pair.question)]


def _rule_solution_judgement(pair: AnsweredQuestion) -> Judgement:
    truth = solution_of(pair.question)
    judgement = partial(Judgement.of, pair.prediction, judge=RULES, criterion=SOLUTION)
    if not step_results(truth):
        return judgement(verdict=None, response="the true solution states no result of a step")
    missing = missing_steps(truth, pair.prediction.text)
    if missing:
        return judgement(verdict=False, response=f"lacks {', '.join(missing)}")
    return judgement(verdict=True, response="states the result of every step")


def read_extraction(response: str) -> str | None:
    """Read the answer that the judge found, or "unknown"; None if it prints anything else.

    >>> read_extraction("12."), read_extraction("Unknown"), read_extraction("I have no idea.")
    ('12', 'unknown', None)
    """
    answer = answer_of(response)
    normalized = answer.replace(" ", "").casefold()
    if normalized in CAUSE_ANSWERS:
        return normalized
    return answer if answer == UNKNOWN or parse_number(answer) is not None else None


def answer_of(response: str) -> str:
    """Strip reasoning and marks around an extracted answer; an empty one is ``UNKNOWN``."""
    answer = strip_reasoning(response).strip(_STRIPPED_CHARACTERS)
    return UNKNOWN if answer.casefold() in ("", UNKNOWN) else answer


def solution_of(question: Question) -> str:
    """True solution of a question; "" without one."""
    return question.labels.get("solution", "")


def score_strictly(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the judge's verdict is yes; unscored if the verdict is unreadable.

    Also unscored if the extraction is unreadable, since the verdict is about it.
    """
    extraction = next((row for row in judgements if row.criterion == EXTRACTED), None)
    if extraction and extraction.verdict is None and not extraction.error:
        note = f"the judge extracts neither a number nor {UNKNOWN!r}: {extraction.response}"
        return Score.of(answered.prediction, points=None, note=note)
    return _score(answered, judgements, attrgetter("verdict"))


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the first yes or no is yes, as answer_verification.py does.

    A response without either is wrong. The script never retries: the judge's first response counts.
    The model's reasoning is part of its solution. The rules print no yes or no; their verdict
    counts.
    """
    first = first_judgements(judgements)
    with_reasoning = [
        replace(judgement, criterion=judgement.criterion.removesuffix(WITH_REASONING))
        for judgement in first
        if judgement.criterion.endswith(WITH_REASONING)
    ]
    return _score(answered, with_reasoning or first, _official_verdict)


def _has_answer(response: Response) -> bool | None:
    """Whether the judge extracted an answer; None if its response is unreadable."""
    text = response.parts.answer
    if not text.strip() or is_truncated(response):
        return None
    extraction = read_extraction(text)
    return None if extraction is None else extraction != UNKNOWN


def _rule_judgements(pair: AnsweredQuestion) -> list[Judgement]:
    truths = pair.question.answer
    answer = read_answer(pair.question, pair.prediction.text) or UNKNOWN
    is_right = any(matches_truth(answer, truth) for truth in truths)
    comparison = f"{answer} against {'; '.join(truths)}"
    judgement = partial(Judgement.of, pair.prediction, judge=RULES)
    return [
        judgement(criterion=EXTRACTED, verdict=answer != UNKNOWN, response=answer),
        judgement(criterion=CORRECT, verdict=is_right, response=comparison),
    ]


def _official_verdict(judgement: Judgement) -> bool | None:
    if judgement.by_rules:
        return judgement.verdict
    first = _YES_NO.search(strip_reasoning(judgement.response))
    return first is not None and first[1].lower() == "yes"


def _score(
    answered: AnsweredQuestion,
    judgements: Sequence[Judgement],
    verdict_of: Callable[[Judgement], bool | None],
) -> Score:
    by_criterion = {judgement.criterion: judgement for judgement in judgements}
    correctness = [by_criterion[CORRECT]] if CORRECT in by_criterion else []
    points, note = verdict_points(correctness, "prints neither yes nor no", verdict_of)
    answer = answer_of(by_criterion[EXTRACTED].response) if EXTRACTED in by_criterion else UNKNOWN
    return Score.of(
        answered.prediction, points=points, answer=() if answer == UNKNOWN else (answer,), note=note
    )


JUDGES: Mapping[str, Judge] = {RULES: ByRules(judge_by_rules), "paper": ByModel(judge)}
SOLUTION_JUDGES: Mapping[str, Judge] = {
    RULES: ByRules(judge_solutions_by_rules),
    "paper": ByModel(judge_solutions),
}
SCORERS: Mapping[str, ScoreOne] = {"strict": score_strictly, "official": score_officially}
