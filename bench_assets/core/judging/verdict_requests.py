"""Verdict requests, whose prompts are the suites', with retries of unreadable verdicts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from bench_assets.core.schema.chat import ChatModel, Prompt, Request, Response
from bench_assets.core.schema.rows import Judgement, Prediction, Question

MAX_TRIES = 2  # requests for one verdict at most, the first included

FIRST_RESPONSE_SUFFIX = ", at first"
"""Suffix of a criterion: the response before a retry, for scorers of authors who do not retry."""

RECORDED_PREFIX = "recorded|"
"""Prefix of the signature of a judge with recorded responses, which is never asked again."""

_QUOTED = 2000  # characters of an unreadable response that the judge is shown


class JudgeCall(NamedTuple):
    """A request to a judge, and a function that counts the unreadable verdicts of a response."""

    request: Request
    count_unread: Callable[[Response], int]


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
        """The call of the judge; samples of a prediction are judged separately."""
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
    """Request one verdict each (``call_judge``); return the judgements of each prediction.

    If the response to a retry counts, a second judgement has the first response. It has no verdict:
    only scorers that parse it themselves use it.
    """
    judge_responses = call_judge([request.call for request in requests], model, complaint)
    return [
        _judgements(request, judge_response, model.name)
        for request, judge_response in zip(requests, judge_responses, strict=True)
    ]


def _judgements(
    request: VerdictRequest, judge_response: JudgeResponse, judge: str
) -> list[Judgement]:
    record = partial(Judgement.from_response, request.prediction, judge=judge)
    response = judge_response.response
    judgement = record(
        response,
        prompt=judge_response.request.prompt,
        criterion=request.criterion,
        verdict=request.read(response),
        value=request.value(response) if request.value else "",
    )
    first_request, first_response = judge_response.first
    if response is first_response:
        return [judgement]
    criterion = f"{request.criterion}{FIRST_RESPONSE_SUFFIX}"
    first = record(first_response, prompt=first_request.prompt, criterion=criterion, verdict=None)
    return [judgement, first]


def call_judge(
    calls: Sequence[JudgeCall], model: ChatModel, complaint: str, tries: int = MAX_TRIES
) -> list[JudgeResponse]:
    """Request verdicts; unreadable ones are requested again, with a complaint.

    Failed requests are not repeated here, because models retry themselves. A judge with recorded
    responses is asked once. Of several responses, the first one with the fewest unreadable verdicts
    is kept, but a failed retry in any case, so that the error is seen. The complaint states the
    required form; there are at most ``tries`` requests per call.

    Raises:
        ModelError: If the judge cannot be asked.
    """
    latest = _send_requests([call.request for call in calls], model)
    best = [JudgeResponse(*sent, first=sent) for sent in latest]
    is_recorded = model.signature.startswith(RECORDED_PREFIX)
    for _ in range(0 if is_recorded else tries - 1):
        unread = [
            n
            for n, call in enumerate(calls)
            if not best[n].response.error and call.count_unread(best[n].response)
        ]
        retried = _send_requests([_add_complaint(*latest[n], complaint) for n in unread], model)
        for n, (request, response) in zip(unread, retried, strict=True):
            latest[n] = request, response
            count_unread = calls[n].count_unread
            if response.error or count_unread(response) < count_unread(best[n].response):
                best[n] = best[n]._replace(request=request, response=response)
    return best


def final_judgements(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Leave out judges' responses before a retry."""
    return [j for j in judgements if not j.criterion.endswith(FIRST_RESPONSE_SUFFIX)]


def first_judgements(judgements: Sequence[Judgement]) -> list[Judgement]:
    """First responses of judges, each under the criterion without the suffix."""
    by_criterion = {judgement.criterion: judgement for judgement in judgements}
    first = []
    for final in final_judgements(judgements):
        judgement = by_criterion.get(f"{final.criterion}{FIRST_RESPONSE_SUFFIX}", final)
        first.append(replace(judgement, criterion=final.criterion))
    return first


def _send_requests(requests: Sequence[Request], model: ChatModel) -> list[tuple[Request, Response]]:
    responses = model.response(requests) if requests else []
    return list(zip(requests, responses, strict=True))


def _add_complaint(request: Request, response: Response, complaint: str) -> Request:
    """Repeat a request, with the unreadable response and the complaint."""
    *earlier_turns, last_turn = request.prompt.turns
    answer = response.parts.answer.strip()[:_QUOTED]
    addition = f'\n\nYou replied:\n"""\n{answer}\n"""\n{complaint}'
    last_turn = replace(last_turn, parts=(*last_turn.parts, addition))
    return replace(request, prompt=Prompt((*earlier_turns, last_turn)))


def group_judgements(
    predictions: Iterable[Prediction], judgements: Iterable[Judgement]
) -> list[list[Judgement]]:
    """Judgements of each prediction, in order."""
    groups = defaultdict[object, list[Judgement]](list)
    for judgement in judgements:
        groups[_prediction_key(judgement)].append(judgement)
    return [groups.get(_prediction_key(row), []) for row in predictions]


def _prediction_key(row: Prediction | Judgement) -> object:
    return row.question_id, row.model, row.condition, row.sample
