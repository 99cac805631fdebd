"""Stand-ins for Anthropic's and Gemini's servers: each accepts the fields of the real API only.

Sources: ``resources/bench_resources/config/sections/known_servers.py``.
"""

import base64
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from tests.fakes.chat_server import Answer
from tests.resources.models.api.stand_ins import error

_ANTHROPIC = {"model", "messages", "system", "max_tokens", "temperature", "top_p", "thinking"}
_GEMINI = {"contents", "systemInstruction", "generationConfig", "safetySettings"}
_CONFIG = {"temperature", "topP", "maxOutputTokens", "seed", "thinkingConfig"}


def refusal(api: str, status: int, kind: str, message: str, **more: object) -> Answer:
    """An error in the form of an API."""
    if api == "anthropic":
        about = {"type": kind, "message": message, **more}
        return error(status, {"type": "error", "error": about, "request_id": "req_1"})
    return error(status, {"error": {"code": status, "message": message, "status": kind, **more}})


def whole(body: object, status: int = 200, **headers: str) -> Answer:
    """An answer with a body."""
    return Answer(raw=orjson.dumps(body), status=status, headers=headers)


def anthropic(body: Mapping[str, Any], headers: Mapping[str, str]) -> Answer:
    """Answer what is asked in the words of the Messages API."""
    usage = {"input_tokens": 4, "cache_read_input_tokens": 3, "output_tokens": 3}
    content = [{"type": "text", "text": "B"}]
    response = {"type": "message", "role": "assistant", "content": content, "usage": usage}
    return next(_wrong_for_anthropic(body, headers), whole({**response, "stop_reason": "end_turn"}))


def _wrong_for_anthropic(body: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[Answer]:
    if headers.get("x-api-key") != "sk-1":
        yield refusal("anthropic", 401, "authentication_error", "invalid x-api-key")
    if headers.get("anthropic-version") != "2023-06-01":
        yield _bad("anthropic-version: header is required")
    for unknown in body.keys() - _ANTHROPIC:
        yield _bad(f"{unknown}: Extra inputs are not permitted")
    if "max_tokens" not in body:
        yield _bad("max_tokens: Field required")
    if body["model"] != "m":
        yield refusal("anthropic", 404, "not_found_error", f"model: {body['model']}")
    for message in body["messages"]:
        if message["role"] not in ("user", "assistant"):
            yield _bad(f'messages: Unexpected role "{message["role"]}"')
        yield from (_bad(fault) for block in message["content"] if (fault := _wrong_block(block)))


def _wrong_block(block: Mapping[str, Any]) -> str:
    if block["type"] == "text":
        return "" if block["text"] else "messages: text content blocks must be non-empty"
    source = block["source"]
    if source["media_type"] not in ("image/jpeg", "image/png", "image/gif", "image/webp"):
        return "messages.0.content.0.image.source.media_type: Input should be 'image/jpeg'"
    base64.b64decode(source["data"], validate=True)
    return "" if source["type"] == "base64" else "source.type: Input should be 'base64'"


def _bad(message: str) -> Answer:
    return refusal("anthropic", 400, "invalid_request_error", message)


def gemini(body: Mapping[str, Any], headers: Mapping[str, str]) -> Answer:
    """Answer what is asked in the words of ``generateContent``; the path has named the model."""
    content = {"role": "model", "parts": [{"text": "B", "thoughtSignature": "c2ln"}]}
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 1, "thoughtsTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    response = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m-1"}
    return next(_wrong_for_gemini(body, headers), whole(response))


def _wrong_for_gemini(body: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[Answer]:
    if headers.get("x-goog-api-key") != "sk-1":
        yield _invalid("API key not valid.")
    for unknown in (body.keys() - _GEMINI) | (body["generationConfig"].keys() - _CONFIG):
        yield _invalid(f'Unknown name "{unknown}": Cannot find field.')
    for content in body["contents"]:
        if content["role"] not in ("user", "model"):
            yield _invalid("Please use a valid role: user, model.")
        yield from (_invalid(fault) for part in content["parts"] if (fault := _wrong_part(part)))


def _wrong_part(part: Mapping[str, Any]) -> str:
    media = part.get("inlineData", {}).get("mimeType", "image/png")
    if media not in ("image/jpeg", "image/png", "image/webp"):
        return f"Unsupported MIME type: {media}"
    return "contents.parts must not be empty" if part == {"text": ""} else ""


def _invalid(message: str) -> Answer:
    return refusal("gemini", 400, "INVALID_ARGUMENT", message)
