"""Asks a chat model which key points a description mentions (section 3.2, appendix C).

Reads a judge's verdicts on key points by position, as the authors' code does.

The careful reading goes by the printed number: ``core.numbered_verdicts``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from bench_assets.core.judging.numbered_verdicts import read_by_number
from bench_assets.core.judging.verdict_requests import Call, Heard, ask
from bench_assets.core.judging.verdicts import cut_off
from bench_assets.core.schema.chat import ChatModel, Prompt, Request, Response
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.dataset.reasoning_kinds import EVENT_RELATIONSHIP
from bench_assets.suites.cogbench.description import prompts
from bench_assets.suites.cogbench.description.questions import KeyPoint, key_points

TRIES = 5  # the authors' cognition_gpt_eval.py asks so often until it can read the response
_GOES_ON = " or"  # what a response that was cut off might have said next
WITH_THOUGHTS = ", thoughts included"  # of a criterion: as their code, which takes nothing off


class _Call(NamedTuple):
    """One question to the judge: about some key points of one description."""

    prediction: Prediction
    question: Question
    text: str  # of the description
    mark: str  # of the criteria
    points: list[KeyPoint]


def judge(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Ask which key points a description mentions: all of an image at once (appendix C).

    Event relationships are asked in a call of their own. What cannot be read is asked again with
    the complaint, up to five times in all, as often as the authors ask. A description that came
    with thoughts is judged once more with them, for the official reading: their code takes nothing
    off a response.
    """
    calls = [call for pair in answered for call in _calls_of(pair)]
    asked = [Call(_request(call), partial(_n_unread, len(call.points))) for call in calls]
    return [
        judgement
        for call, heard in zip(calls, ask(asked, model, prompts.NO_VERDICT, TRIES), strict=True)
        for judgement in _judgements(call, model.name, heard)
    ]


def calls_about(answered: AnsweredQuestion) -> list[list[KeyPoint]]:
    """Part the key points of an image into what the judge is asked at once."""
    points = key_points(answered.question)
    others = [point for point in points if point.kind != EVENT_RELATIONSHIP]
    relationships = [point for point in points if point.kind == EVENT_RELATIONSHIP]
    return [call for call in (others, relationships) if call]


def _calls_of(answered: AnsweredQuestion) -> list[_Call]:
    said = answered.prediction
    texts = {"": said.text}
    if said.raw_text not in ("", said.text):
        texts[WITH_THOUGHTS] = said.raw_text
    return [
        _Call(said, answered.question, text, mark, points)
        for mark, text in texts.items()
        for points in calls_about(answered)
    ]


def _request(call: _Call) -> Request:
    prompt = _prompt(call.text, call.points)
    return Request(prompt=prompt, sample=call.prediction.sample, question=call.question)


def _n_unread(n: int, response: Response) -> int:
    return _read(n, response).count(None)


def _read(n: int, response: Response) -> list[bool | None]:
    """Read the verdicts of a response; the last one is open where more was to follow."""
    said = response.said.answer
    return read_by_number(f"{said}{_GOES_ON}" if cut_off(response) else said, n)


def _prompt(description: str, points: Sequence[KeyPoint]) -> Prompt:
    texts = [point.text for point in points]
    whole_chains = points[0].kind == EVENT_RELATIONSHIP
    make: Callable[[str, Sequence[str]], Prompt] = (
        prompts.judge_event_relationships if whole_chains else prompts.judge_key_points
    )
    return make(description, texts)


def _judgements(call: _Call, judge: str, heard: Heard) -> Iterator[Judgement]:
    read = _read(len(call.points), heard.response)
    for point, verdict in zip(call.points, read, strict=True):
        yield Judgement.from_response(
            call.prediction,
            heard.response,
            prompt=heard.request.prompt,
            judge=judge,
            criterion=f"{point.criterion}{call.mark}",
            verdict=verdict,
        )


_OFFICIAL = re.compile(r"(?<!\d)\d++\.\s\[(\d++)\]")
_VERDICTS = {"0": False, "1": True}


def read_by_position(response: str, n: int) -> list[bool | None]:
    """Read as the authors' cognition_gpt_eval.py does: the k-th match of "d. [d]" is of point k.

    The printed number is ignored, "1.[1]" and "1. [ ]" do not match, a response that is one digit
    or starts with "[d]" is of point 1; what a judge thinks aloud is part of its response. Where
    their code asks again, up to five times, and then leaves a hole, the points beyond the last
    match are None.

    >>> read_by_position("1. [ ] 2. [1]", 2), read_by_position("2. [0]  1. [1]", 2)
    ([True, None], [False, True])
    """
    text = response.strip()
    if re.fullmatch(r"\d", text):
        found = [text]
    elif first := re.match(r"\[(\d)\]", text):
        found = [first[1]]
    else:
        found = _OFFICIAL.findall(text)
    return [_VERDICTS.get(verdict) for verdict in [*found[:n], *[""] * (n - len(found))]]
