"""Elicitation by options from servers, which differ in the request fields for it.

Servers ignore unknown fields and answer 200. So each way is first probed by a request with a known
answer, which shows whether its fields have an effect; the first way that works is used.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite
from typing import Any, TypeAlias

import orjson

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import Prompt, Request, Response, Turn
from bench_assets.core.schema.elicitation import OptionLikelihoods
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.api.chat_session import ChatSession
from bench_resources.models.api.formats.response_body import NoResponseError

Received: TypeAlias = Mapping[str, Any]

_TOP_LOGPROBS = 20  # most likely tokens; the maximum of OpenAI and vLLM
_PROBES: Mapping[str, Request] = {
    "constrained": Request(
        prompt=Prompt.of("Reply with the word yes, and nothing else."),
        elicit="constrained",
        options=("Q", "W"),  # which no model answers unconstrained
    ),
    "likelihood": Request(
        prompt=Prompt.of("Reply with the letter A, and nothing else."),
        elicit="likelihood",
        options=("A", "B"),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionMethod:
    """One way to request options from a server."""

    name: str
    fields: Callable[[Sequence[str]], dict[str, Any]]  # options -> further fields of a body
    read: Callable[[Received, str, Sequence[str]], str]  # body and text of a response -> our text
    each: bool = False  # one request for each option, with the option as the response


class OptionSession:
    """A chat session that requests options in the first way that passes its probe."""

    def __init__(self, chat: ChatSession, probing: ChatSession) -> None:
        """Take a session for requests, and one for probes, which may fail."""
        self._chat, self._probing = chat, probing
        self._ways: dict[str, OptionMethod | ModelError] = {}
        self._looking = asyncio.Lock()

    async def answer(self, request: Request) -> Response:
        """Answer a request; the first one with options is preceded by probes.

        Raises:
            ModelError: If no way passes its probe, or the server cannot be asked at all.
        """
        if not request.elicit:
            return await self._chat.answer(request)
        async with self._looking:
            if request.elicit not in self._ways:
                self._ways[request.elicit] = await _find_method(self._probing, request.elicit)
        way = self._ways[request.elicit]
        if isinstance(way, ModelError):
            raise way
        response = await _request_options(self._chat, way, request)
        note = "; ".join(filter(None, (response.note, f"options by {way.name}")))
        return response if response.error else replace(response, note=note)


async def _find_method(chat: ChatSession, method: str) -> OptionMethod | ModelError:
    probe, tried = _PROBES[method], []
    for way in _METHODS[method]:
        response = await _request_options(chat, way, probe)
        if not response.error and _has_effect(response.text, probe):
            return way
        tried.append(
            f"{way.name}: {response.error or f'ignored, {response.text[:40]!r} came back'}"
        )
    return ModelError(
        f"{chat.spec.model}: the server does not support {method} ({'; '.join(tried)}); use"
        " --elicit generate"
    )


def _has_effect(text: str, probe: Request) -> bool:
    """Whether the fields had an effect: the text is an option, or has different likelihoods."""
    if probe.elicit == "constrained":
        return text in probe.options
    try:
        likelihoods = OptionLikelihoods.from_json(text, len(probe.options))
    except ValueError:
        return False
    return len(set(likelihoods.logprobs)) == len(probe.options)


async def _request_options(chat: ChatSession, way: OptionMethod, request: Request) -> Response:
    if not way.each:
        form = _OptionFormat(chat, way, request, request.options)
        return await replace(chat, form=form).answer(request)
    responses = []
    for option in request.options:
        form = _OptionFormat(chat, way, request, (option,))
        responses.append(await replace(chat, form=form).answer(request))
        if responses[-1].error or responses[-1].refusal:
            return responses[-1]
    option_likelihoods = [OptionLikelihoods.from_json(response.text, 1) for response in responses]
    likelihoods = OptionLikelihoods(
        tuple(likelihood.logprobs[0] for likelihood in option_likelihoods),
        tuple(likelihood.tokens[0] for likelihood in option_likelihoods),
    )
    return replace(Response.together(responses), text=likelihoods.to_json())


class _OptionFormat:
    """The format of a server, with options in the last round of one request."""

    def __init__(
        self, chat: ChatSession, way: OptionMethod, request: Request, options: Sequence[str]
    ) -> None:
        self._form, self._way, self._options = chat.form, way, options
        self._tags = chat.spec.thinking_tags
        self._rounds = len(request.prompt.rounds())
        self.path, self.headers, self.holds = chat.form.path, chat.form.headers, chat.form.holds

    def message(self, turn: Turn) -> dict[str, Any]:
        return self._form.message(turn)

    def body(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        self._rounds -= 1
        if self._rounds:
            return self._form.body(request, messages)
        turns = list(messages)
        if self._way.each:
            turns.append(self._form.message(Turn("assistant", tuple(self._options))))
        fields = orjson.loads(self._form.body(request, turns))
        option_fields = self._way.fields(self._options)
        if "max_tokens" in option_fields and "max_completion_tokens" in fields:
            option_fields["max_completion_tokens"] = option_fields.pop("max_tokens")
        return orjson.dumps(fields | option_fields)

    def response(self, received: Received, seconds: float) -> Response:
        response = self._form.response(received, seconds)
        if self._rounds or response.refusal:
            return response
        stripped = strip_reasoning(response.text, self._tags)
        text = self._way.read(received, stripped, self._options)
        return replace(response, text=text, finish_reason="stop")


def _schema(options: Sequence[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(options)}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    json_schema = {"name": "answer", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema}}


def _read_json_answer(_: Received, text: str, options: Sequence[str]) -> str:
    try:
        return _require_option(_, str(orjson.loads(text)["answer"]), options)
    except (LookupError, TypeError, ValueError) as error:
        raise NoResponseError(f"not an answer of the schema: {text[:40]!r}") from error


def _require_option(_: Received, text: str, options: Sequence[str]) -> str:
    if (option := text.strip()) not in options:
        raise NoResponseError(f"not one of the options: {text[:40]!r}")
    return option


def _grammar(options: Sequence[str]) -> dict[str, Any]:
    texts = (orjson.dumps(option).decode() for option in options)  # escaped as GBNF does
    return {"grammar": f"root ::= {' | '.join(texts)}"}


def _score_in_prompt(received: Received, _: str, options: Sequence[str]) -> str:
    """Sum the log-probabilities of the last tokens of the prompt, which are the option's."""
    (option,), written, total, n = options, "", 0.0, 0
    try:
        for entry in reversed(received["prompt_logprobs"]):
            token = next(iter(entry.values()))  # the prompt's own token comes first
            written, n = token["decoded_token"] + written, n + 1
            total += float(token["logprob"])
            if len(written.strip()) >= len(option):
                break
    except (AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise NoResponseError("no prompt_logprobs of each token") from error
    if written.strip() != option.strip():
        raise NoResponseError(f"prompt_logprobs end with {written[-20:]!r}, not {option!r}")
    return OptionLikelihoods((total,), (n,)).to_json()


def _score_first_token(received: Received, _: str, options: Sequence[str]) -> str:
    """Look options up among the most likely first tokens; others get the least of these."""
    try:
        listed = received["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        candidates = [
            (str(candidate["token"]), float(candidate["logprob"])) for candidate in listed
        ]
    except (LookupError, TypeError, ValueError) as error:
        raise NoResponseError("no top_logprobs of the first token") from error
    if not candidates or not all(isfinite(p) and p <= 1e-4 for _, p in candidates):
        raise NoResponseError("top_logprobs are not log-probabilities")
    if sum(exp(p) for _, p in candidates) > 1.01:
        raise NoResponseError("top_logprobs are not log-probabilities: they add up to more than 1")
    least = min(p for _, p in candidates)
    known = [
        max((p for token, p in candidates if token.strip() == option), default=None)
        for option in options
    ]
    if all(p is None for p in known):
        raise NoResponseError(f"no option is among the {len(candidates)} most likely first tokens")
    logprobs = tuple(least if p is None else p for p in known)
    unlisted = tuple(position for position, p in enumerate(known) if p is None)
    return OptionLikelihoods(logprobs, (1,) * len(logprobs), unlisted).to_json()


_METHODS: Mapping[str, Sequence[OptionMethod]] = {
    "constrained": (
        OptionMethod(
            name="structured_outputs",
            fields=lambda options: {"structured_outputs": {"choice": list(options)}},
            read=_require_option,
        ),
        OptionMethod(
            name="guided_choice",
            fields=lambda options: {"guided_choice": list(options)},
            read=_require_option,
        ),
        OptionMethod(name="response_format", fields=_schema, read=_read_json_answer),
        OptionMethod(name="grammar", fields=_grammar, read=_require_option),
    ),
    "likelihood": (
        OptionMethod(
            name="prompt_logprobs",
            fields=lambda _: {
                "prompt_logprobs": 0,
                "add_generation_prompt": False,
                "continue_final_message": True,
                "max_tokens": 1,
            },
            read=_score_in_prompt,
            each=True,
        ),
        OptionMethod(
            name="top_logprobs",
            fields=lambda _: {"logprobs": True, "top_logprobs": _TOP_LOGPROBS, "max_tokens": 1},
            read=_score_first_token,
        ),
    ),
}
