"""Anthropic's Messages API."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from bench_assets.core.reading.reasoning import Tags
from bench_assets.core.schema.chat import Image, Request, Response, Turn
from bench_resources.config.addresses import fill_value_keys
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.formats.base import encode_image
from bench_resources.models.api.formats.response_body import (
    NoResponseError,
    ServedModelCheck,
    as_object,
    map_finish_reason,
    prepend_reasoning,
    sum_tokens,
)
from bench_resources.response_cache.engine import ReadImage

_FINISH_REASONS: Mapping[str, str] = {
    # The server's stop reason: the stored finish reason.
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
    "tool_use": "tool_calls",
}


class Anthropic:
    """``POST {base_url}/messages``."""

    path = "/messages"
    headers: Mapping[str, str] = {"anthropic-version": "2023-06-01"}
    response_field = "content"

    def __init__(self, spec: ServerSpec, read_image: ReadImage) -> None:
        self._spec = spec
        self._read_image = read_image
        self._served_check = ServedModelCheck(spec)

    def to_message(self, turn: Turn) -> dict[str, Any]:
        """Convert a turn; empty texts are left out, because the API refuses them."""
        return {
            "role": turn.role,
            "content": [self._block(part) for part in turn.parts if part != ""],
        }

    def encode(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        """Encode a request; system turns become the ``system`` field, empty turns are left out."""
        system_blocks: list[dict[str, Any]] = []
        turns: list[dict[str, Any]] = []
        for message in messages:
            if message["role"] == "system":
                system_blocks += message["content"]
            elif message["content"]:
                turns.append(message)
        fields = {
            "model": self._spec.model,
            "messages": turns,
            **({"system": system_blocks} if system_blocks else {}),
            **self._spec.constant_fields,
            **self._spec.sampling_fields(request.sample, request.temperature),
        }
        return orjson.dumps(fields | fill_value_keys(self._spec.extra_body))

    def decode(self, received: Mapping[str, Any], seconds: float) -> Response:
        """Join the text blocks; cached prompt tokens count like the others."""
        blocks = received.get("content")
        if not isinstance(blocks, list):
            raise NoResponseError("the response has no content")
        reason = map_finish_reason(received.get("stop_reason"), _FINISH_REASONS, "stop_reason")
        usage = as_object(received.get("usage"))
        cached = (usage.get("cache_creation_input_tokens"), usage.get("cache_read_input_tokens"))
        return Response(
            text=_join_blocks(blocks, reason, self._spec.thinking_tags),
            finish_reason=reason,
            prompt_tokens=sum_tokens(usage.get("input_tokens"), *cached),
            completion_tokens=sum_tokens(usage.get("output_tokens")),
            seconds=seconds,
            served=self._served_check.identity(received.get("model")),
        )

    def _block(self, part: str | Image) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        media_type, data = encode_image(part, self._read_image)
        source = {"type": "base64", "media_type": media_type, "data": data}
        return {"type": "image", "source": source}


def _join_blocks(blocks: Sequence[object], finish_reason: str, tags: Tags | None) -> str:
    """Join the content blocks: the reasoning within its tags, then the text."""
    reasoning, text, has_reasoning = "", "", False
    for block in blocks:
        match block:
            case {"type": "text", "text": str(block_text)}:
                text += block_text
            case {"type": "thinking", "thinking": str(block_text)}:
                reasoning, has_reasoning = reasoning + block_text, True
            case {"type": "redacted_thinking"}:
                has_reasoning = True
            case {"type": "tool_use"}:
                pass
            case _:
                raise NoResponseError("content has a part that is not text")
    is_cut_off = finish_reason == "length" and has_reasoning and not text.strip()
    return prepend_reasoning(reasoning, text, tags, cut_off=is_cut_off)
