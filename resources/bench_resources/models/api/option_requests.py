"""Requests for one of several options from servers, which differ in the field for it.

Servers ignore unknown fields and answer 200. So each field is first probed by a request with a
known answer, which shows whether it has an effect; the first one that works is used.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import orjson

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.schema.chat import Prompt, Request, Response, Turn
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.api.chat_session import ChatSession
from bench_resources.models.api.formats.response_body import NoResponseError

Fields: TypeAlias = Callable[[Sequence[str]], dict[str, Any]]  # options -> further fields of a body

_MAX_TOKENS_FIELDS = frozenset({"max_tokens", "max_completion_tokens"})
_MIN_TOKENS = 32  # for an option as an object of the schema, which llama.cpp spreads over lines

_PROBE = Request(
    prompt=Prompt.of("Reply with the word yes, and nothing else."),
    elicit="constrained",
    options=("Q", "W"),  # which no model answers unconstrained
)


class OptionSession:
    """A chat session that requests options by the first field that passes its probe."""

    def __init__(self, chat: ChatSession, probe_chat: ChatSession) -> None:
        """Take a session for requests, and one for probes, which may fail."""
        self._chat, self._probe_chat = chat, probe_chat
        self._field: str | ModelError = ""  # "" until probed; an error if no field works
        self._probe_lock = asyncio.Lock()

    async def answer(self, request: Request) -> Response:
        """Answer a request; the first one with options is preceded by probes.

        Raises:
            ModelError: If no field passes its probe, or the server cannot be asked at all.
        """
        if not request.elicit:
            return await self._chat.answer(request)
        async with self._probe_lock:
            self._field = self._field or await _probe_fields(self._probe_chat)
        if isinstance(self._field, ModelError):
            raise self._field
        response = await _request_option(self._chat, self._field, request)
        note = "; ".join(filter(None, (response.note, f"options by {self._field}")))
        return response if response.error else replace(response, note=note)


async def _probe_fields(chat: ChatSession) -> str | ModelError:
    """Probe the fields; returns the first that works, or an error, which is not raised."""
    failures = []
    for field in _FIELDS:
        response = await _request_option(chat, field, _PROBE)
        if not response.error:
            return field
        failures.append(f"{field}: {response.error}")
    return ModelError(
        f"{chat.spec.model}: the server does not support constrained ({'; '.join(failures)})"
    )


async def _request_option(chat: ChatSession, field: str, request: Request) -> Response:
    return await replace(chat, api_format=_OptionFormat(chat, field, request)).answer(request)


class _OptionFormat:
    """The format of a server, with options in the last round of one request."""

    def __init__(self, chat: ChatSession, field: str, request: Request) -> None:
        base = chat.api_format
        self.path, self.headers, self.response_field = base.path, base.headers, base.response_field
        self._base, self._fields, self._options = base, _FIELDS[field], request.options
        self._tags = chat.spec.thinking_tags
        self._rounds_left = len(request.prompt.rounds())

    def to_message(self, turn: Turn) -> dict[str, Any]:
        return self._base.to_message(turn)

    def encode(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        self._rounds_left -= 1
        body = self._base.encode(request, messages)
        if self._rounds_left:
            return body
        fields = orjson.loads(body) | self._fields(self._options)
        for name in _MAX_TOKENS_FIELDS & fields.keys():
            fields[name] = max(fields[name], _MIN_TOKENS)
        return orjson.dumps(fields)

    def decode(self, received: Mapping[str, Any], seconds: float) -> Response:
        response = self._base.decode(received, seconds)
        if self._rounds_left or response.refusal:
            return response
        text = _read_option(strip_reasoning(response.text, self._tags).strip(), self._options)
        # A server may stop at max_tokens after a complete option.
        return replace(response, text=text, finish_reason="stop")


def _choice_fields(options: Sequence[str]) -> dict[str, Any]:
    return {"structured_outputs": {"choice": list(options)}}


def _schema_fields(options: Sequence[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(options)}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    json_schema = {"name": "answer", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": json_schema}}


def _read_option(text: str, options: Sequence[str]) -> str:
    """The option of a response, which is the option itself or an object of the schema."""
    if text in options:
        return text
    try:
        option = str(orjson.loads(text)["answer"])
    except (LookupError, TypeError, ValueError):
        option = ""
    if option not in options:
        raise NoResponseError(f"not one of the options: {text[:40]!r}")
    return option


_FIELDS: Mapping[str, Fields] = {
    "structured_outputs": _choice_fields,  # vLLM
    "response_format": _schema_fields,  # OpenAI, SGLang, llama.cpp
}
