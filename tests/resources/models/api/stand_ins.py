"""Stand-ins for the servers that people run themselves.

Sources: ``bench_resources.config.sections.known_servers``. Bodies are not recordings: they have the
particular fields and the words by which messages are recognised.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from bench_resources.config.sections.known_servers import ServerName
from tests.fakes.chat_server import Answer

USUAL = frozenset(
    {"model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed"}
)
PENALTIES = frozenset({"presence_penalty", "frequency_penalty"})
SAMPLING = frozenset({"top_k", "min_p", "repetition_penalty"})
USUAL_FORMATS = frozenset({"jpeg", "png", "gif", "webp"})


def error(status: int, body: object) -> Answer:
    return Answer(status=status, raw=orjson.dumps(body))


def openai_error(status: int, message: str, **more: object) -> Answer:
    """An error as OpenAI writes it."""
    return error(status, {"error": {"message": message, **more}})


def flat(status: int, message: str, kind: str) -> Answer:
    """An error without an envelope, as older vLLM, SGLang and LMDeploy write it."""
    body = {"object": "error", "message": message, "type": kind, "param": None, "code": status}
    return error(status, body)


def completion(end: str | None = "stop", **message: object) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": end}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return Answer(raw=orjson.dumps({"id": "1", "choices": [choice], "usage": usage}))


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """What one kind of server takes, and what it answers."""

    name: ServerName
    takes: frozenset[str]  # any other field of a request is refused
    formats: frozenset[str] = USUAL_FORMATS
    key: tuple[str, str] = ("Authorization", "Bearer sk-1")
    response: Answer = field(default_factory=lambda: completion(content="B"))
    text: str = "B"
    too_long: Answer | None  # None: it does not look
    no_model: Answer
    bad_key: Answer | None  # None: it asks for none

    def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        """Answer "long", a wrong key, a wrong name and any other request, as the server does."""
        if unknown := body.keys() - self.takes:
            return openai_error(400, f"Unrecognized request argument supplied: {sorted(unknown)}")
        if self.bad_key and headers.get(self.key[0]) != self.key[1]:
            return self.bad_key
        if body["model"] != "m":
            return self.no_model
        parts = [part for message in body["messages"] for part in message["content"]]
        urls = [p["image_url"]["url"] for p in parts if p["type"] == "image_url"]
        if any(url.split(";")[0].removeprefix("data:image/") not in self.formats for url in urls):
            return openai_error(400, "invalid image input")
        too_long = any(part.get("text") == "long" for part in parts)
        return self.too_long if self.too_long and too_long else self.response


THOUGHT = "<think>A? B.</think>B"
CONTEXT = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."

LOCAL = (
    StandIn(
        name="vllm",
        takes=USUAL | PENALTIES | SAMPLING | {"chat_template_kwargs"},
        response=completion(reasoning="A? B.", content="B", tool_calls=[]),
        text=THOUGHT,
        too_long=openai_error(400, CONTEXT, type="BadRequestError", code=400),
        no_model=openai_error(404, "The model `n` does not exist.", type="NotFoundError", code=404),
        bad_key=error(401, {"error": "Unauthorized"}),
    ),
    StandIn(
        name="sglang",
        takes=USUAL | PENALTIES | SAMPLING | {"chat_template_kwargs"},
        response=completion(reasoning_content="A? B.", content="B"),
        text=THOUGHT,
        too_long=flat(
            400,
            "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
            "BadRequestError",
        ),
        no_model=flat(404, "The model 'n' does not exist", "NotFoundError"),
        bad_key=error(401, {"error": "Unauthorized"}),
    ),
    StandIn(
        name="lmdeploy",
        takes=USUAL | SAMPLING | {"chat_template_kwargs"},
        response=completion(reasoning_content="A? B.", content="B", tool_calls=None),
        text=THOUGHT,
        too_long=flat(
            400, "The request exceeds the model context length.", "invalid_request_error"
        ),
        no_model=flat(404, "The model 'n' does not exist.", "not_found_error"),
        bad_key=error(401, {"error": "Please request with valid api key!"}),
    ),
    StandIn(
        name="llama.cpp",
        takes=USUAL
        | PENALTIES
        | {"top_k", "min_p", "typical_p", "repeat_penalty", "dry_multiplier", "xtc_probability"}
        | {"mirostat", "chat_template_kwargs"},
        formats=frozenset({"jpeg", "png", "gif"}),
        response=completion(reasoning_content="A? B.", content="B"),
        text=THOUGHT,
        too_long=openai_error(
            400,
            "request (5000 tokens) exceeds the available context size (4096 tokens)",
            type="exceed_context_size_error",
            code=400,
            n_ctx=4096,
        ),
        no_model=openai_error(400, "model 'n' not found", type="invalid_request_error", code=400),
        bad_key=openai_error(401, "Invalid API Key", type="authentication_error", code=401),
    ),
    StandIn(
        name="transformers",
        takes=USUAL | {"generation_config", "chat_template_kwargs"},
        response=completion(content="B", reasoning_content=None),
        too_long=None,
        no_model=error(400, {"detail": "Server is pinned to 'm'; requested 'n'."}),
        bad_key=None,
    ),
    StandIn(
        name="ollama",
        takes=USUAL - {"max_completion_tokens"} | PENALTIES,
        formats=frozenset({"jpeg", "jpg", "png", "webp"}),
        response=completion(content="B", reasoning="A? B."),
        text=THOUGHT,
        too_long=error(
            400, {"error": "prompt too long; exceeded max context length by 904 tokens"}
        ),
        no_model=openai_error(
            404, 'model "n" not found, try pulling it first', type="not_found_error"
        ),
        bad_key=None,
    ),
)
