"""OpenAI's chat completions, and the deviations of the servers that offer them."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from bench_assets.core.parsing.reasoning import Tags
from bench_assets.core.schema.chat import Image, Request, Response, Turn, token_count
from resources.config.addresses import value_with_keys
from resources.config.sections.servers import ServerSpec
from resources.models.api.formats.base import encoded
from resources.models.api.formats.gemini import BLOCKED, TOOLS
from resources.models.api.formats.response_body import (
    FAILED,
    NoResponseError,
    ServedModel,
    end_of,
    fields_of,
    first_of,
    is_nothing,
    refuse_others,
    text,
    with_thought,
)
from resources.response_cache.engine import ReadImage

_ENDS: Mapping[str, str] = {
    # Servers' finish reasons: the stored one. Gemini's OpenAI endpoint sends Gemini's.
    **dict.fromkeys(BLOCKED, "content_filter"),
    **dict.fromkeys(TOOLS, "tool_calls"),
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
_WITHOUT_TEXT = {
    "length",
    "content_filter",
    "tool_calls",
}  # ends that explain missing content
_WHOLE = {"", "stop"}  # finish reasons that do not tell the kind of response
_NO_COMPLETION = {
    "chat.completion.chunk",
    "error",
}  # ``object``; complete ones vary
_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")


class OpenAI:
    """``POST {base_url}/chat/completions``; constant fields are assembled once."""

    path = "/chat/completions"
    headers: Mapping[str, str] = {}
    holds = "choices"

    def __init__(self, spec: ServerSpec, read_image: ReadImage) -> None:
        self._spec = spec
        self._read_image = read_image
        self._answering = ServedModel(spec)
        self._constant = {
            "model": spec.model,
            "messages": [],
            **value_with_keys(spec.constant_fields),
        }

    def message(self, turn: Turn) -> dict[str, Any]:
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

    def body(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        """Encode a request; extra_body overrides every other field."""
        drawn = self._spec.drawn_fields(request.sample, request.temperature)
        fields = self._constant | {"messages": messages} | drawn
        return orjson.dumps(fields | value_with_keys(self._spec.extra_body))

    def response(self, received: Mapping[str, Any], seconds: float) -> Response:
        """Decode the only choice.

        A message with a refusal has the finish reason "refusal".
        """
        if (kind := text(received, "object") or "").lower() in _NO_COMPLETION:
            raise NoResponseError(f"the response is of type {kind!r}")
        choice = first_of(received.get("choices"), "choices")
        message = choice.get("message")
        for error in (choice.get("error"), fields_of(message).get("error")):
            if not is_nothing(error):
                raise NoResponseError("an error in choices[0]", error=error)
        _refuse_broken_off(choice)
        end = _end(choice.get("finish_reason"))
        if not isinstance(message, dict):
            raise NoResponseError("the response has no choices[0].message")
        refuse_others(message, "role", "assistant")
        usage = fields_of(received.get("usage"))
        hidden = fields_of(usage.get("completion_tokens_details")).get("reasoning_tokens")
        said, end = _said(message, end, self._spec.thinking_tags, hidden=bool(token_count(hidden)))
        return Response(
            text=said,
            finish_reason=end,
            prompt_tokens=token_count(usage.get("prompt_tokens")),
            completion_tokens=token_count(usage.get("completion_tokens")),
            seconds=seconds,
            served=self._answering.identity(
                received.get("model"), received.get("system_fingerprint")
            ),
        )

    def _data_uri(self, image: Image) -> str:
        media, data = encoded(image, self._read_image)
        return f"data:{media};base64,{data}"


def _end(reason: object) -> str:
    """Map a finish reason; Ollama may send none, DeepSeek one for overload."""
    if reason is None:
        return ""
    if isinstance(reason, str) and reason in _OVERLOADED:
        what = f"the response was broken off: finish_reason {reason!r}"
        raise NoResponseError(what, overloaded=True)
    if isinstance(reason, str) and (named := reason.partition(": ")[0]).lower().endswith("_filter"):
        reason = named  # such as "content_filter: PROHIBITED_CONTENT"
    return end_of(reason, _ENDS, "finish_reason")


def _refuse_broken_off(choice: Mapping[str, Any]) -> None:
    """Raise for failures that OpenRouter and vLLM report in further fields."""
    native, stopped = choice.get("native_finish_reason"), choice.get("stop_reason")
    if isinstance(native, str) and native.lower() in FAILED:
        raise NoResponseError(f"the response was broken off: native_finish_reason {native!r}")
    if stopped == "abort":
        raise NoResponseError("the response was broken off: stop_reason 'abort'")


def _said(
    message: Mapping[str, Any], end: str, tags: Tags | None, *, hidden: bool
) -> tuple[str, str]:
    """Text and finish reason of a message; ``hidden`` if it has hidden reasoning."""
    thought, said = _parts(message.get("content"))
    thought = _thought(message) or thought
    refusal, calls = text(message, "refusal"), _calls(message)
    if refusal and end in _WHOLE:
        end = "refusal"
    if said.strip():
        return with_thought(thought, said, tags), end
    if refusal:
        return with_thought(thought, refusal, tags), end
    if calls and end in _WHOLE:
        end = "tool_calls"
    if not (thought or calls or end in _WITHOUT_TEXT or _is_empty_text(message)):
        raise NoResponseError("the response has no choices[0].message.content")
    if not end:
        raise NoResponseError("the response has neither a text nor a finish_reason")
    cut_off = end == "length" and bool(thought or hidden)
    return with_thought(thought, said, tags, cut_off=cut_off), end


def _is_empty_text(message: Mapping[str, Any]) -> bool:
    """Whether the content is present and empty, as opposed to missing or spoken."""
    spoken = not is_nothing(message.get("audio"))
    return "content" in message and message["content"] != [] and not spoken


def _calls(message: Mapping[str, Any]) -> bool:
    calls, call = message.get("tool_calls"), message.get("function_call")
    if not (calls or call):
        return False
    listed = calls or [call]
    if not isinstance(listed, list) or not all(isinstance(one, dict) and one for one in listed):
        raise NoResponseError("choices[0].message.tool_calls is not a list of calls")
    return True


def _parts(content: object) -> tuple[str, str]:
    """Split content into reasoning and text: a string, or Mistral's list of parts."""
    if content is None or isinstance(content, str):
        return "", content or ""
    if not isinstance(content, list):
        raise NoResponseError("choices[0].message.content is neither a text nor a list of parts")
    thought, said = "", ""
    for part in content:
        match part:
            case {"type": "text" | "output_text", "text": str(written)}:
                said += written
            case {"type": "thinking" | "reasoning"}:
                thought += _joined(part.get("thinking") or part.get("text"))
            case {"type": "reference" | "redacted_thinking"}:
                pass
            case _:
                raise NoResponseError("choices[0].message.content has a part that is not text")
    return thought, said


def _thought(message: Mapping[str, Any]) -> str:
    for name in _THOUGHTS:
        if (said := message.get(name)) and (found := _joined(said)):
            return found
    return ""


def _joined(said: object) -> str:
    """Join a text or a list of parts; "" for anything else."""
    if isinstance(said, str):
        return said
    parts = [part for part in said if isinstance(part, dict)] if isinstance(said, list) else []
    texts = [part.get("text") or part.get("summary") for part in parts]
    return "".join(text for text in texts if isinstance(text, str))
