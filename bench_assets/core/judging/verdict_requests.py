"""Verdict requests with retries of unreadable verdicts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from bench_assets.core.schema.chat import ChatModel, Prompt, Request, Response
from bench_assets.core.schema.rows import Judgement, Prediction, Question

MAX_TRIES = 2
"""Maximum number of requests for one verdict, the first included."""

FIRST_RESPONSE_SUFFIX = ", at first"
"""Suffix of a criterion: the response before a retry, for scorers of authors who do not retry."""

RECORDED_PREFIX = "recorded|"
"""Prefix of the signature of a judge with recorded responses, which is never asked again."""

_QUOTED = 2000  # characters of an unreadable response that the judge is shown


class JudgeCall(NamedTuple):
    """A request to a judge, and a function that counts the unreadable verdicts of a response."""

    request: Request
    n_unread: Callable[[Response], int]


class JudgeResponse(NamedTuple):
    """A request to a judge with its most readable response."""

    request: Request
    response: Response
    first: tuple[Request, Response]  # before any retry


class VerdictRequest(NamedTuple):
    """A prediction that needs one verdict."""

    question: Question
    prediction: Prediction
    prompt: Prompt
    read: Callable[[Response], bool | None]
    criterion: str
    value: Callable[[Response], str] | None = None  # the judge's word, where it has more than two
    choices: tuple[str, ...] = ()  # to which a model is constrained if it can be

    @property
    def call(self) -> JudgeCall:
        """The judge's prompt; samples of a prediction are judged separately."""
        request = Request(
            prompt=self.prompt,
            sample=self.prediction.sample,
            question=self.question,
            elicit="constrained" if self.choices else "",
            options=self.choices,
        )
        return JudgeCall(request, lambda response: int(self.read(response) is None))


def ask_for_verdicts(
    requests: Sequence[VerdictRequest], model: ChatModel, complaint: str
) -> list[list[Judgement]]:
    """Request one verdict each (``call_judge``); return the judgement of each prediction.

    After a retry, a second one follows with the first response. It has no verdict: only scorers
    that parse it themselves use it.
    """
    judge_responses = call_judge([request.call for request in requests], model, complaint)
    return [
        _judgements(request, judge_response, model.name)
        for request, judge_response in zip(requests, judge_responses, strict=True)
    ]


def _judgements(asked: VerdictRequest, outcome: JudgeResponse, judge: str) -> list[Judgement]:
    response = outcome.response
    judgement = Judgement.from_response(
        asked.prediction,
        response,
        prompt=outcome.request.prompt,
        judge=judge,
        criterion=asked.criterion,
        verdict=asked.read(response),
        value=asked.value(response) if asked.value else "",
    )
    first_request, first_response = outcome.first
    if response is first_response:
        return [judgement]
    first = Judgement.from_response(
        asked.prediction,
        first_response,
        prompt=first_request.prompt,
        judge=judge,
        criterion=f"{asked.criterion}{FIRST_RESPONSE_SUFFIX}",
        verdict=None,
    )
    return [judgement, first]


def call_judge(
    calls: Sequence[JudgeCall], model: ChatModel, complaint: str, tries: int = MAX_TRIES
) -> list[JudgeResponse]:
    """Request verdicts; unreadable ones are requested again, with a complaint.

    Failed requests are not repeated here, because models retry themselves. Of several responses,
    the first one with the fewest unreadable verdicts is kept. The complaint states the required
    form; there are at most ``tries`` requests per call.

    Raises:
        ModelError: If the judge cannot be asked.
    """
    latest = _send_requests([call.request for call in calls], model)
    judge_responses = [JudgeResponse(*first, first) for first in latest]
    for _ in range(0 if model.signature.startswith(RECORDED_PREFIX) else tries - 1):
        waiting = [
            n
            for n, (call, outcome) in enumerate(zip(calls, judge_responses, strict=True))
            if not outcome.response.error and call.n_unread(outcome.response)
        ]
        retried = _send_requests([_add_complaint(*latest[n], complaint) for n in waiting], model)
        for n, (request, response) in zip(waiting, retried, strict=True):
            n_unread, best = calls[n].n_unread, judge_responses[n]
            latest[n] = request, response
            if response.error or n_unread(response) < n_unread(best.response):
                judge_responses[n] = JudgeResponse(request, response, best.first)
    return judge_responses


def final_judgements(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Leave out judges' responses before a retry."""
    return [j for j in judgements if not j.criterion.endswith(FIRST_RESPONSE_SUFFIX)]


def first_judgements(judgements: Sequence[Judgement]) -> list[Judgement]:
    """First responses of judges, each under its own criterion."""
    first = {judgement.criterion: judgement for judgement in judgements}
    return [
        replace(
            first.get(f"{judgement.criterion}{FIRST_RESPONSE_SUFFIX}", judgement),
            criterion=judgement.criterion,
        )
        for judgement in final_judgements(judgements)
    ]


def _send_requests(requests: Sequence[Request], model: ChatModel) -> list[tuple[Request, Response]]:
    responses = model.response(requests) if requests else []
    return list(zip(requests, responses, strict=True))


def _add_complaint(request: Request, response: Response, complaint: str) -> Request:
    """The prompt again, with the unreadable response and the complaint."""
    *before, last = request.prompt.turns
    answer = response.parts.answer.strip()[:_QUOTED]
    more = f'\n\nYou replied:\n"""\n{answer}\n"""\n{complaint}'
    return replace(request, prompt=Prompt((*before, replace(last, parts=(*last.parts, more)))))


def group_judgements(
    predictions: Iterable[Prediction], judgements: Iterable[Judgement]
) -> list[list[Judgement]]:
    """Judgements of each prediction, in order."""
    groups = defaultdict[object, list[Judgement]](list)
    for judgement in judgements:
        groups[_identity(judgement)].append(judgement)
    return [groups.get(_identity(row), []) for row in predictions]


def _identity(row: Prediction | Judgement) -> object:
    return row.question_id, row.model, row.condition, row.sample
