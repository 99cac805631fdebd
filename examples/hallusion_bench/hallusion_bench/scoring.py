"""Judges and scores responses as section 4.1 and Equation 2 do.

A judge model, or rules, calls a response correct, incorrect or unclear. Of responses that are
incorrect it says besides whether they say the same as the response about figure 0: the diagnosis
(``diagnosis``) asks for it there and nowhere else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from bench_assets.core.judging.verdict_requests import Call, ask, at_first, at_last, judged
from bench_assets.core.judging.verdicts import cut_off, read_word
from bench_assets.core.parsing.reasoning import without_reasoning
from bench_assets.core.schema.chat import ChatModel, Prompt, Request, Response
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.evaluation.task import RULES, AnsweredQuestion
from hallusion_bench import prompts
from hallusion_bench.questions import NO, YES
from hallusion_bench.reading import yes_or_no

CORRECT, INCORRECT, UNCLEAR = "correct", "incorrect", "unclear"
SAME, DIFFERENT = "same", "different"
IS_CORRECT, IS_SAME = "correct", "same as about figure 0"  # criteria

_CORRECTNESS = {word: word for word in (CORRECT, INCORRECT, UNCLEAR)}
_SAMENESS = {word: word for word in (SAME, DIFFERENT)}

_Read: TypeAlias = Callable[[str], str]
_Which: TypeAlias = tuple[str, str, int]  # control pair, model, number of the draw


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Ask whether responses are correct; then whether wrong ones repeat the one about figure 0."""
    prompted = [prompts.is_correct(q, prediction.text) for q, prediction in answered]
    rows = _ask(answered, prompted, IS_CORRECT, model)
    judgements = zip(at_first(rows), at_last(rows), strict=True)
    said = _said_of_figure_0(answered)
    compared = [
        (pair, prompts.is_same(pair.prediction.text, said[_which(pair)]))
        for pair, (first, last) in zip(answered, judgements, strict=True)
        if INCORRECT in (official_correctness(first.response), last.value)
        and _has_counterpart(pair, said)
    ]
    return rows + _ask([p for p, _ in compared], [p for _, p in compared], IS_SAME, model)


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Compare the yes or no of each response with the answer, without a model.

    A response that says neither is unclear, however plainly it states a fact.
    """
    said = _said_of_figure_0(answered)
    return [judgement for pair in answered for judgement in _judged_by_rules(pair, said)]


def correctness(response: str) -> str:
    """Read the judge's verdict; "" if it is none of the three words, or denied.

    >>> correctness("Incorrect."), correctness("It is correct"), correctness("It is not correct")
    ('incorrect', 'correct', '')
    """
    return read_word(response, _CORRECTNESS) or ""


def official_correctness(response: str) -> str:
    """Read a judge's response as the authors do: by what is in it.

    Whatever else it says is unclear.

    >>> official_correctness("It is not incorrect"), official_correctness("hard to say")
    ('incorrect', 'unclear')
    """
    said = without_reasoning(response).casefold()
    return INCORRECT if INCORRECT in said else CORRECT if CORRECT in said else UNCLEAR


def sameness(response: str) -> str:
    """Read whether a judge says same or different; "" if neither."""
    return read_word(response, _SAMENESS) or ""


def official_sameness(response: str) -> str:
    """Read it as the authors do: whatever has no "same" in it means different."""
    return SAME if SAME in without_reasoning(response).casefold() else DIFFERENT


def score_strictly(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point as Equation 2 does; unscored if the judge says none of its three words.

    An empty response is wrong, though it could pass for not knowing.
    """
    score = _score(answered, at_last(judgements), correctness, sameness)
    silent = not answered.prediction.text.strip()
    return replace(score, points=0.0) if silent and score.points else score


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point as Equation 2 does, the judge's responses read as the authors read them.

    They ask once: what the judge said at first counts.
    """
    return _score(answered, at_first(judgements), official_correctness, official_sameness)


def _ask(
    answered: Sequence[AnsweredQuestion], asked: Sequence[Prompt], criterion: str, model: ChatModel
) -> list[Judgement]:
    yes, read = (CORRECT, correctness) if criterion == IS_CORRECT else (SAME, sameness)

    def word(response: Response) -> str:
        return "" if cut_off(response) else read(response.said.answer)

    calls = [
        Call(
            Request(prompt=prompt, sample=pair.prediction.sample, question=pair.question),
            lambda response: int(not word(response)),
        )
        for pair, prompt in zip(answered, asked, strict=True)
    ]
    return [
        row
        for pair, heard in zip(answered, ask(calls, model, prompts.NO_WORD[criterion]), strict=True)
        for value in [word(heard.response)]
        for row in judged(
            pair.prediction,
            heard,
            judge=model.name,
            criterion=criterion,
            verdict=value == yes if value else None,
            value=value,
        )
    ]


def _judged_by_rules(pair: AnsweredQuestion, said: Mapping[_Which, str]) -> list[Judgement]:
    word = yes_or_no(pair.prediction.text)
    value = UNCLEAR if not word else CORRECT if word == pair.question.answer[0] else INCORRECT
    judged = {IS_CORRECT: value}
    if value == INCORRECT and _has_counterpart(pair, said):
        judged[IS_SAME] = SAME if word == yes_or_no(said[_which(pair)]) else DIFFERENT
    return [
        Judgement.of(
            pair.prediction,
            judge=RULES,
            criterion=criterion,
            verdict=value in (CORRECT, SAME),
            value=value,
            response=f"says {word or 'neither yes nor no'}",
        )
        for criterion, value in judged.items()
    ]


def _which(pair: AnsweredQuestion) -> _Which:
    """Name what responses about the figures of one control pair share."""
    return pair.question.group_id, pair.prediction.model, pair.prediction.sample


def _said_of_figure_0(answered: Sequence[AnsweredQuestion]) -> dict[_Which, str]:
    return {_which(p): p.prediction.text for p in answered if p.question.labels["figure_id"] == "0"}


def _has_counterpart(pair: AnsweredQuestion, said: Mapping[_Which, str]) -> bool:
    return pair.question.labels["figure_id"] != "0" and _which(pair) in said


def _score(
    answered: AnsweredQuestion, judgements: Sequence[Judgement], read: _Read, read_sameness: _Read
) -> Score:
    """Score with what the diagnosis needs: the answer as judged, and sameness in the note."""
    about = {judgement.criterion: judgement for judgement in judgements}
    if (judgement := about.get(IS_CORRECT)) is None:
        return Score.of(answered.prediction, points=None, note="there is no judgement")
    if judgement.error:
        note = f"the judge gave no response: {judgement.error}"
        return Score.of(answered.prediction, points=None, note=note)
    value = _value(judgement, read)
    if not value:
        note = f"the judge says none of its three words: {judgement.response}"
        return Score.of(answered.prediction, points=None, note=note)
    compared = about.get(IS_SAME)
    return Score.of(
        answered.prediction,
        points=float(value == CORRECT or (value == UNCLEAR and not answered.question.images)),
        answer=_answer(answered.question, value),
        note=_value(compared, read_sameness) if compared and not compared.error else "",
    )


def _value(judgement: Judgement, read: _Read) -> str:
    return judgement.value if judgement.by_rules else read(judgement.response)


def _answer(question: Question, value: str) -> tuple[str, ...]:
    """The yes or no that a response means if the judge is right; () if it is unclear."""
    right = question.answer[0]
    return {CORRECT: (right,), INCORRECT: (NO if right == YES else YES,)}.get(value, ())
