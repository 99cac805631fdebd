"""OpenAI's chat completions, and the deviations of the servers that offer them."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from bench_assets.core.reading.reasoning import Tags
from bench_assets.core.schema.chat import Image, Request, Response, Turn, token_count
from bench_resources.config.addresses import fill_value_keys
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.formats.base import encode_image
from bench_resources.models.api.formats.response_body import (
    FAILED,
    NoResponseError,
    ServedModelCheck,
    as_object,
    is_empty,
    map_finish_reason,
    prepend_reasoning,
)
from bench_resources.response_cache.engine import ReadImage

_BLOCKED = (
    *("safety", "recitation", "language", "blocklist", "prohibited_content", "spii"),
    *("image_safety", "image_recitation", "image_prohibited_content", "model_armor"),
)
_TOOL_FAILURES = ("malformed_function_call", "unexpected_tool_call", "too_many_tool_calls")
_FINISH_REASONS: Mapping[str, str] = {
    # Servers' finish reasons: the stored one. Gemini's OpenAI endpoint sends Gemini's.
    **dict.fromkeys(_BLOCKED, "content_filter"),
    **dict.fromkeys(_TOOL_FAILURES, "tool_calls"),
    "": "",
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "refusal": "refusal",
    "sensitive": "content_filter",
    "repetition": "repetition",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "function_call_filter": "tool_calls",
}
_OVERLOADED = {"insufficient_system_resource"}
_WITHOUT_TEXT = {"length", "content_filter", "tool_calls"}  # may come without content
_UNSPECIFIC = {"", "stop"}  # finish reasons that do not tell the kind of response
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")


class OpenAI:
    """``POST {base_url}/chat/completions``; constant fields are assembled once."""

    path = "/chat/completions"
    headers: Mapping[str, str] = {}
    response_field = "choices"

    def __init__(self, spec: ServerSpec, read_image: ReadImage) -> None:
        self._spec = spec
        self._read_image = read_image
        self._served_check = ServedModelCheck(spec)
        self._constant = {
            "model": spec.model,
            "messages": [],
            **fill_value_keys(spec.constant_fields),
        }

    def to_message(self, turn: Turn) -> dict[str, Any]:
        """Convert a turn; a turn of texts becomes one string, which more servers accept."""
        texts = [part for part in turn.parts if isinstance(part, str)]
        if len(texts) == len(turn.parts):
            return {"role": turn.role, "content": "\n".join(texts)}
        parts = [
            {"type": "image_url", "image_url": {"url": self._data_uri(part)}}
            if isinstance(part, Image)
            else {"type": "text", "text": part}
            for part in turn.parts
        ]
        return {"role": turn.role, "content": parts}

    def encode(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        """Encode a request; extra_body overrides every other field."""
        sampling = self._spec.sampling_fields(request.sample, request.temperature)
        fields = self._constant | {"messages": messages} | sampling
        return orjson.dumps(fields | fill_value_keys(self._spec.extra_body))

    def decode(self, received: Mapping[str, Any], seconds: float) -> Response:
        """Decode the only choice; a refusal without a specific finish reason gets "refusal"."""
        choices = received.get("choices")
        if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
            raise NoResponseError("the response has no choices[0]")
        if len(choices) > 1:
            raise NoResponseError(f"the response has {len(choices)} choices (expected 1)")
        choice = choices[0]
        message = choice.get("message")
        for error in (choice.get("error"), as_object(message).get("error")):
            if not is_empty(error):
                raise NoResponseError("an error in choices[0]", error=error)
        _refuse_interrupted(choice)
        finish_reason = _map_finish_reason(choice.get("finish_reason"))
        if not isinstance(message, dict):
            raise NoResponseError("the response has no choices[0].message")
        usage = as_object(received.get("usage"))
        details = as_object(usage.get("completion_tokens_details"))
        is_hidden = bool(token_count(details.get("reasoning_tokens")))
        text, finish_reason = _parse_message(
            message, finish_reason, self._spec.thinking_tags, hidden_reasoning=is_hidden
        )
        return Response(
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=token_count(usage.get("prompt_tokens")),
            completion_tokens=token_count(usage.get("completion_tokens")),
            seconds=seconds,
            served=self._served_check.identity(
                received.get("model"), received.get("system_fingerprint")
            ),
        )

    def _data_uri(self, image: Image) -> str:
        media_type, data = encode_image(image, self._read_image)
        return f"data:{media_type};base64,{data}"


def _map_finish_reason(reason: object) -> str:
    """Map a finish reason; Ollama may send none, DeepSeek one for overload."""
    if reason is None:
        return ""
    if isinstance(reason, str):
        if reason in _OVERLOADED:
            message = f"the response was broken off: finish_reason {reason!r}"
            raise NoResponseError(message, overloaded=True)
        filter_name, _, _ = reason.partition(": ")
        if filter_name.lower().endswith("_filter"):
            reason = filter_name  # of "content_filter: PROHIBITED_CONTENT"
    return map_finish_reason(reason, _FINISH_REASONS, "finish_reason")


def _refuse_interrupted(choice: Mapping[str, Any]) -> None:
    """Raise for failures that OpenRouter and vLLM report in further fields."""
    native_reason = choice.get("native_finish_reason")
    if isinstance(native_reason, str) and native_reason.lower() in FAILED:
        message = f"the response was broken off: native_finish_reason {native_reason!r}"
        raise NoResponseError(message)
    if choice.get("stop_reason") == "abort":
        raise NoResponseError("the response was broken off: stop_reason 'abort'")


def _parse_message(
    message: Mapping[str, Any], finish_reason: str, tags: Tags | None, *, hidden_reasoning: bool
) -> tuple[str, str]:
    """Text of a message, with the reasoning in front, and its finish reason."""
    reasoning, text = _split_content(message.get("content"))
    reasoning = _find_reasoning(message) or reasoning
    refusal = message.get("refusal")
    if not isinstance(refusal, str | None):
        raise NoResponseError("refusal is not a text")
    has_tool_calls = bool(message.get("tool_calls") or message.get("function_call"))
    if refusal and finish_reason in _UNSPECIFIC:
        finish_reason = "refusal"
    if text.strip():
        return prepend_reasoning(reasoning, text, tags), finish_reason
    if refusal:
        return prepend_reasoning(reasoning, refusal, tags), finish_reason
    if has_tool_calls and finish_reason in _UNSPECIFIC:
        finish_reason = "tool_calls"
    is_explained = finish_reason in _WITHOUT_TEXT or has_tool_calls or _has_empty_content(message)
    if not (reasoning or is_explained):
        raise NoResponseError("the response has no choices[0].message.content")
    if not finish_reason:
        raise NoResponseError("the response has neither a text nor a finish_reason")
    is_cut_off = finish_reason == "length" and (bool(reasoning) or hidden_reasoning)
    return prepend_reasoning(reasoning, text, tags, cut_off=is_cut_off), finish_reason


def _has_empty_content(message: Mapping[str, Any]) -> bool:
    """Whether a message without a text has a content field; not if that is [], or with audio."""
    has_audio = not is_empty(message.get("audio"))
    return "content" in message and message["content"] != [] and not has_audio


def _split_content(content: object) -> tuple[str, str]:
    """Split content into reasoning and text: a string, or Mistral's list of parts."""
    if content is None or isinstance(content, str):
        return "", content or ""
    if not isinstance(content, list):
        raise NoResponseError("choices[0].message.content is neither a text nor a list of parts")
    reasoning, text = "", ""
    for part in content:
        match part:
            case {"type": "text" | "output_text", "text": str(part_text)}:
                text += part_text
            case {"type": "thinking" | "reasoning"}:
                reasoning += _join_parts(part.get("thinking") or part.get("text"))
            case {"type": "reference" | "redacted_thinking"}:
                pass
            case _:
                raise NoResponseError("choices[0].message.content has a part that is not text")
    return reasoning, text


def _find_reasoning(message: Mapping[str, Any]) -> str:
    """The text of the first field with reasoning; "" without any."""
    texts = (_join_parts(message.get(field)) for field in _REASONING_FIELDS)
    return next(filter(None, texts), "")


def _join_parts(value: object) -> str:
    """A text itself, or the joined texts of a list of parts; "" for anything else."""
    if isinstance(value, str):
        return value
    parts = [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
    texts = [part.get("text") or part.get("summary") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))
