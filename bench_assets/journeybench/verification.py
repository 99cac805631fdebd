"""Verifies answers and solutions of MCOT and multi-image VQA (section 4.1).

An answer takes two steps: a judge extracts it from the solution, then decides whether it agrees
with the ground truth. A solution takes one, by another judge. The rules do the same without a
model, as far as numbers go.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from string import ascii_uppercase

from bench_assets.core.chat import ChatModel, Prompt, Request, without_reasoning
from bench_assets.core.choices import read_choice
from bench_assets.core.rows import Judgement, Question, Score
from bench_assets.core.stats import Mean, Point, mean
from bench_assets.journeybench import verification_prompts as prompts
from bench_assets.journeybench.numbers import (
    as_number,
    final_number,
    numbers,
    same_number,
    written,
)
from bench_assets.task import Answered, Scored

EXTRACTED, CORRECT, SOLUTION = "extracted", "correct", "solution"  # criteria
RULES = "rules"  # the name of the judge that needs no model

_YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_STEP = re.compile(r"=\s*\$?(-?\d[\d,]*(?:\.\d+)?)")
_WORD = re.compile(r"\w+")
_ORDINALS = ("first image", "second image")


def judge(answered: Sequence[Answered], model: ChatModel) -> list[Judgement]:
    """Have each answer extracted, then verified; two judgements a prediction.

    The reply of the first is the answer, its verdict whether there is one. Where the first got no
    reply, the second is not asked and carries its error.
    """
    calls = [(pair, prompts.extract(pair.question, pair.prediction.text)) for pair in answered]
    extracted = _ask(calls, model, EXTRACTED, lambda reply: answer_of(reply) != prompts.UNKNOWN)
    found = list(zip(answered, extracted, strict=True))
    calls = [
        (pair, prompts.verify(pair.question, answer_of(one.reply)))
        for pair, one in found
        if not one.error
    ]
    lost = [replace(one, criterion=CORRECT, verdict=None) for _, one in found if one.error]
    return extracted + _ask(calls, model, CORRECT, read_verdict) + lost


def judge_by_rules(answered: Sequence[Answered]) -> list[Judgement]:
    """Read the answer of each prediction and compare it, without a model.

    Alternatives in words ("there is no cup") are right if the prediction says them.
    """
    return [one for pair in answered for one in _judged_by_rules(pair)]


def judge_solutions(answered: Sequence[Answered], model: ChatModel) -> list[Judgement]:
    """Ask whether each prediction goes the way of the true solution, where there is one."""
    calls = [
        (pair, prompts.verify_solution(pair.question, pair.prediction.text, truth))
        for pair in answered
        if (truth := solution_of(pair.question))
    ]
    return _ask(calls, model, SOLUTION, read_verdict)


def judge_solutions_by_rules(answered: Sequence[Answered]) -> list[Judgement]:
    """Call a solution right if it states the result of every true step, in their order."""
    return [
        Judgement.of(
            pair.prediction,
            judge=RULES,
            criterion=SOLUTION,
            verdict=not missing,
            reply=f"lacks {', '.join(missing)}" if missing else "states the result of every step",
        )
        for pair in answered
        if solution_of(pair.question)
        for missing in [_missing_steps(solution_of(pair.question), pair.prediction.text)]
    ]


def read_verdict(reply: str) -> bool | None:
    """Read the judge's yes or no; None if it says neither or both.

    >>> read_verdict("Yes."), read_verdict("**no**"), read_verdict("Yes and no"), read_verdict("")
    (True, False, None, None)
    """
    words = {word.lower() for word in _YES_NO.findall(without_reasoning(reply))}
    return None if len(words) != 1 else words == {"yes"}


def answer_of(reply: str) -> str:
    """Take the extracted answer out of the judge's first reply; nothing counts as unknown."""
    answer = without_reasoning(reply).strip().strip(".'\"").strip()
    return prompts.UNKNOWN if answer.lower() in ("", prompts.UNKNOWN) else answer


def solution_of(question: Question) -> str:
    """The true solution of a question; "" if there is none."""
    return question.labels.get("solution", "")


def score_strictly(answered: Answered, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the judge said yes; unscored if it said neither yes nor no, or both."""
    return _score(answered, judgements, lambda verdict: verdict.verdict)


def score_officially(answered: Answered, judgements: Sequence[Judgement]) -> Score:
    """Give a point if the first yes or no is yes, as answer_verification.py does; neither is wrong.

    The rules print no yes or no: their verdict counts.
    """
    return _score(answered, judgements, _official_verdict)


def accuracy(scored: Sequence[Scored]) -> Mean:
    """Share of questions answered right; those that share their text are not independent."""
    return mean(Point(score.points, question.group_id) for question, score in scored)


def _ask(
    calls: Sequence[tuple[Answered, Prompt]],
    model: ChatModel,
    criterion: str,
    read: Callable[[str], bool | None],
) -> list[Judgement]:
    requests = [
        Request(prompt=prompt, sample=pair.prediction.sample, question=pair.question)
        for pair, prompt in calls
    ]
    return [
        replace(
            Judgement.of(
                pair.prediction,
                judge=model.name,
                criterion=criterion,
                verdict=None if reply.error else read(reply.text),
                reply=reply.text,
            ),
            prompt_sha256=prompt.sha256,
            error=reply.error,
        )
        for (pair, prompt), reply in zip(calls, model.reply(requests), strict=True)
    ]


def _judged_by_rules(pair: Answered) -> list[Judgement]:
    answer, reply = _read_answer(pair), pair.prediction.text
    truths, options = pair.question.answer, pair.question.options
    correct = answer in truths if options else any(_agrees(answer, t, reply) for t in truths)
    said: Sequence[tuple[str, bool, str]] = (
        (EXTRACTED, answer != prompts.UNKNOWN, answer),
        (CORRECT, correct, f"{answer} against {'; '.join(truths)}"),
    )
    return [
        Judgement.of(pair.prediction, judge=RULES, criterion=name, verdict=verdict, reply=why)
        for name, verdict, why in said
    ]


def _read_answer(pair: Answered) -> str:
    """Read an option where the question has some (cause and effect), else a number."""
    reply, options = pair.prediction.text, pair.question.options
    if options:
        letter = read_choice(reply, _ORDINALS).letter
        return options[ascii_uppercase.index(letter)] if letter else prompts.UNKNOWN
    number = final_number(reply)
    return prompts.UNKNOWN if number is None else written(number)


def _agrees(answer: str, truth: str, reply: str) -> bool:
    said, true = as_number(answer), as_number(truth)
    if said is not None and true is not None:
        return same_number(said, true)
    if true is not None:
        return False
    words, all_words = (" ".join(_WORD.findall(text.casefold())) for text in (truth, reply))
    return f" {words} " in f" {all_words} "


def _missing_steps(solution: str, reply: str) -> list[str]:
    """Results of the true steps that the reply does not state after those before them."""
    said = iter(numbers(reply))
    return [
        step
        for step in _STEP.findall(solution)
        for result in numbers(step)
        if not any(same_number(number, result) for number in said)
    ]


def _official_verdict(judgement: Judgement) -> bool | None:
    if judgement.judge == RULES:
        return judgement.verdict
    first = _YES_NO.search(without_reasoning(judgement.reply))
    return first is not None and first[1].lower() == "yes"


def _score(
    answered: Answered, judgements: Sequence[Judgement], read: Callable[[Judgement], bool | None]
) -> Score:
    found = {judgement.criterion: judgement for judgement in judgements}
    points, note = _points(found.get(CORRECT), read)
    answer = answer_of(found[EXTRACTED].reply) if EXTRACTED in found else prompts.UNKNOWN
    return Score.of(
        answered.prediction,
        points=points,
        answer=() if answer == prompts.UNKNOWN else (answer,),
        note=note,
    )


def _points(
    judgement: Judgement | None, read: Callable[[Judgement], bool | None]
) -> tuple[float | None, str]:
    if judgement is None:
        return None, "was not judged"
    if judgement.error:
        return None, f"the judge gave no reply: {judgement.error}"
    if (verdict := read(judgement)) is None:
        return None, f"the judge says neither yes nor no, or both: {judgement.reply}"
    return float(verdict), ""
