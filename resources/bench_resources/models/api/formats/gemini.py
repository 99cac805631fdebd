"""Gemini's ``generateContent``."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson

from bench_assets.core.reading.reasoning import Tags
from bench_assets.core.schema.chat import Image, Request, Response, Turn, token_count
from bench_resources.config.addresses import fill_value_keys
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.formats.base import encode_image
from bench_resources.models.api.formats.response_body import (
    NoResponseError,
    ServedModelCheck,
    as_object,
    first_choice,
    map_finish_reason,
    prepend_reasoning,
    sum_tokens,
)
from bench_resources.response_cache.engine import ReadImage

_CONFIG = "generationConfig"
_ROLES = {"user": "user", "assistant": "model", "system": "system"}
BLOCKED = (
    *("safety", "recitation", "language", "blocklist", "prohibited_content", "spii"),
    *("image_safety", "image_recitation", "image_prohibited_content", "model_armor"),
)
TOOL_FAILURES = ("malformed_function_call", "unexpected_tool_call", "too_many_tool_calls")
_FINISH_REASONS: Mapping[str, str] = {
    # The server's finish reason (in capitals): the stored one.
    "stop": "stop",
    "max_tokens": "length",
    **dict.fromkeys(BLOCKED, "content_filter"),
    **dict.fromkeys(TOOL_FAILURES, "tool_calls"),
}


class Gemini:
    """``POST {base_url}/models/{model}:generateContent``."""

    headers: Mapping[str, str] = {}
    holds = "candidates"

    def __init__(self, spec: ServerSpec, read_image: ReadImage) -> None:
        self._spec = spec
        self._read_image = read_image
        self._answering = ServedModelCheck(spec)

    @property
    def path(self) -> str:
        """The path with the model, below ``models`` unless the name has a folder."""
        name = self._spec.model if "/" in self._spec.model else f"models/{self._spec.model}"
        return f"/{quote(name)}:generateContent"

    def message(self, turn: Turn) -> dict[str, Any]:
        """Convert a turn; empty texts are left out, because the API refuses them."""
        return {"role": _ROLES[turn.role], "parts": [self._part(p) for p in turn.parts if p != ""]}

    def body(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        """Encode a request; a ``generationConfig`` of extra_body is merged into ours."""
        system = [part for m in messages if m["role"] == "system" for part in m["parts"]]
        extra = fill_value_keys(self._spec.extra_body)
        fields = {
            "contents": [m for m in messages if m["role"] != "system" and m["parts"]],
            **({"systemInstruction": {"parts": system}} if system else {}),
            **extra,
            _CONFIG: self._spec.constant_fields
            | self._spec.sampling_fields(request.sample, request.temperature)
            | dict(as_object(extra.get(_CONFIG))),
        }
        return orjson.dumps(fields)

    def response(self, received: Mapping[str, Any], seconds: float) -> Response:
        """Decode the only candidate; a blocked prompt has none, and is a refusal."""
        usage = as_object(received.get("usageMetadata"))
        hidden = bool(token_count(usage.get("thoughtsTokenCount")))
        text, end = _parse_candidate(received, self._spec.thinking_tags, hidden=hidden)
        prompt_count = usage.get("promptTokenCount")
        output_counts = map(usage.get, ("candidatesTokenCount", "thoughtsTokenCount"))
        return Response(
            text=text,
            finish_reason=end,
            prompt_tokens=sum_tokens(prompt_count, usage.get("toolUsePromptTokenCount")),
            # Counts of 0 are omitted, such as those of a blocked response.
            completion_tokens=None
            if token_count(prompt_count) is None
            else sum_tokens(0, *output_counts),
            seconds=seconds,
            served=self._answering.identity(received.get("modelVersion")),
        )

    def _part(self, part: str | Image) -> dict[str, Any]:
        if isinstance(part, str):
            return {"text": part}
        media, data = encode_image(part, self._read_image)
        return {"inlineData": {"mimeType": media, "data": data}}


def _parse_candidate(
    received: Mapping[str, Any], tags: Tags | None, *, hidden: bool
) -> tuple[str, str]:
    """Text and finish reason of the first candidate; ``hidden`` if it has hidden reasoning."""
    reason = as_object(received.get("promptFeedback")).get("blockReason")
    if not received.get("candidates") and isinstance(reason, str) and reason:
        return "", "content_filter"
    candidate = first_choice(received.get("candidates"), "candidates")
    end = map_finish_reason(candidate.get("finishReason"), _FINISH_REASONS, "finishReason")
    content = candidate.get("content")
    if not isinstance(content, dict) and (end == "stop" or content is not None):
        raise NoResponseError("the response has no candidates[0].content")
    return _text(as_object(content).get("parts", []), end, tags, hidden=hidden), end


def _text(parts: object, end: str, tags: Tags | None, *, hidden: bool) -> str:
    if not isinstance(parts, list):
        raise NoResponseError("candidates[0].content.parts is not a list")
    thought, text = "", ""
    for part in parts:
        match part:
            case {"text": str(written), "thought": True}:
                thought += written
            case {"text": str(written)}:
                text += written
            case {"functionCall": _} | {"thoughtSignature": _}:
                pass
            case _:
                raise NoResponseError("candidates[0].content has a part that is not text")
    cut_off = end == "length" and not text.strip() and bool(thought or hidden)
    return prepend_reasoning(thought, text, tags, cut_off=cut_off)
