import json
from typing import Any

from tests.faults.servers.misbehaviour import bodies, choice, message, right_choice
from tests.faults.servers.server import Exchange, response

_HALF = "A thing like this"


def _with_fields(exchange: Exchange, **fields: Any) -> dict[str, Any]:
    return response(exchange.wrong, **fields)


def _deeply_nested(exchange: Exchange) -> bytes:
    return b'{"choices":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


NOT_RESPONSES = bodies(
    "lost",
    ("blocked by its content filter", choice(
        finish_reason="content_filter", message={"role": "assistant", "content": ""})),
    ("finish_reason error, with an error in the choice",
     lambda _: {"choices": [
         {"finish_reason": "error", "error": {"code": 502}, "message": {"content": ""}}]}),
    ("finish_reason error, with a text", choice(finish_reason="error")),
    ("finish_reason is an object", choice(finish_reason={})),
    ("finish_reason of a million letters", choice(finish_reason="x" * 10**6)),
    ("an error in the choice beside a text", choice(error={"message": "upstream", "code": 502})),
    ("no choices", lambda _: response(..., choices=...)),
    ("choices are empty", lambda _: response(..., choices=[])),
    ("the choice is null", lambda _: response(..., choices=[None])),
    ("no message", lambda _: response(..., choices=[{"index": 0, "finish_reason": "stop"}])),
    ("the message is null", choice(message=None)),
    ("a delta instead of a message", lambda a: response(..., choices=[
        {"index": 0, "delta": {"content": a.wrong}, "finish_reason": "stop"}])),
    ("a message without content", message(role="assistant")),
    ("audio alone", message(role="assistant", content=None, audio={"id": "a", "data": "AA=="})),
    ("content is 0", message(role="assistant", content=0)),
    ("content is a list of numbers", message(role="assistant", content=[1, 2])),
    ("content has a part whose text is a number",
     message(role="assistant", content=[{"type": "text", "text": 7}])),
    ("an error beside the choices", lambda a: _with_fields(a, error={"message": "overloaded"})),
    ("an error that is a text", lambda _: {"error": "overloaded"}),
    ("a detail instead of a response", lambda _: {"detail": "Internal Server Error"}),
    ("object: error, as older vLLM has it",
     lambda _: {"object": "error", "message": "CUDA out of memory", "code": 50001}),
    ("an empty body", lambda _: b""),
    ("null", lambda _: b"null"),
    ("a list of responses", lambda a: [response(a.wrong)]),
    ("a page of HTML", lambda _: b"<html><title>502 Bad Gateway</title></html>"),
    ("JSON that is cut off", lambda a: json.dumps(response(a.wrong)).encode()[:-9]),
    ("two responses, one behind the other", lambda a: json.dumps(response(a.wrong)).encode() * 2),
    ("a stream of events, though none was asked for", lambda a:
     b'data: {"choices":[{"delta":{"content":"' + a.wrong.encode() + b'"}}]}\n\ndata: [DONE]\n\n'),
    ("text that is not UTF-8", lambda a: json.dumps(response(a.wrong + "\0")).encode()
     .replace(b"\\u0000", b"\xff\xfe")),
    ("a hundred thousand brackets", _deeply_nested),
)  # fmt: skip

RESPONSES = bodies(
    "kept",
    ("usage is null", lambda a: response(a.right, usage=None)),
    ("finish_reason is missing, as Ollama has it", right_choice(finish_reason=None)),
    ("content in parts of text", lambda a: right_choice(
        message={"role": "assistant", "content": [{"type": "text", "text": a.right}]})(a)),
    ("fields that nobody documents", lambda a: response(a.right, citations=[], x={"y": [1]})),
    ("error: null beside the choices", lambda a: response(a.right, error=None)),
    ("blanks around the JSON", lambda a: b"\n\n " + json.dumps(response(a.right)).encode() + b"\n"),
)  # fmt: skip

EITHER = bodies(
    "either",
    *((f"usage.prompt_tokens is {title}", lambda a, n_tokens=n_tokens: response(
        a.right, usage={"prompt_tokens": n_tokens, "completion_tokens": n_tokens}))
      for title, n_tokens in (
          ("a text", "12"), ("negative", -1), ("a list", [1]), ("a long text", "9" * 5000))),
    ("usage.prompt_tokens is beyond 2**63", lambda a: json.dumps(
        response(a.right, usage={"prompt_tokens": 2**63, "completion_tokens": 2**64})).encode()),
    ("usage.prompt_tokens is 1e400", lambda a: json.dumps(
        response(a.right, usage={"prompt_tokens": 0})).encode().replace(b": 0}", b": 1e400}")),
    ("usage is a list", lambda a: response(a.right, usage=[])),
    ("reasoning_tokens is 2**70", lambda a: json.dumps(response(a.right, usage={
        "completion_tokens_details": {"reasoning_tokens": 2**70}})).encode()),
    ("two choices, though one was asked for", lambda a: response(..., choices=[
        right_choice()(a)["choices"][0], choice(index=1)(a)["choices"][0]])),
    ("choices are an object", lambda a: response(
        ..., choices={"0": right_choice()(a)["choices"][0]})),
    ("a NUL behind the text", lambda a: response(f"{a.right}\0")),
    ("half a character behind the text",
     lambda a: json.dumps(response(f"{a.right}\ud800")).encode()),
    ("64 KiB of blanks behind the text", lambda a: response(a.right + " " * 2**16)),
    ("reasoning_content is a number", lambda a: right_choice(
        message={"role": "assistant", "content": a.right, "reasoning_content": 7})(a)),
)  # fmt: skip

_BLANKS = b" " * (20 << 20)  # small, as this process holds a copy for each request
LARGE = bodies(
    "either",
    ("twenty mebibytes of blanks behind the text",
     lambda a: json.dumps(response(f"{a.right}@")).encode().replace(b"@", _BLANKS)),
    short=False,
    max_memory=400,  # the server is in this process, and makes each body in several copies
)  # fmt: skip

SILENT = bodies(
    "silent",
    ("null content with finish_reason stop", message(role="assistant", content=None)),
    ("null content and a call of a tool", message(
        role="assistant", content=None, tool_calls=[{"id": "1", "type": "function"}])),
    ("a thought and no text", message(role="assistant", content="", reasoning="It is")),
)  # fmt: skip

STOPS = bodies(
    "stops",
    ("another model than was asked", lambda a: response(a.right, model="m-turbo")),
    ("the model is a mebibyte of text", lambda a: response(a.right, model="m" * 2**20)),
)  # fmt: skip

OWN = bodies(
    "own",
    ("a refusal", message(role="assistant", content=None, refusal="I cannot help with that.")),
    ("cut off at its length while it thought", choice(
        finish_reason="length",
        message={"role": "assistant", "content": "", "reasoning_content": _HALF})),
    ("an empty text with finish_reason stop", message(role="assistant", content="")),
    ("a digit 4301 times", message(role="assistant", content="7" * 4301)),
    ("ten thousand open brackets", message(role="assistant", content="[" * 10_000 + "{" * 10_000)),
    ("ten thousand thoughts without an end",
     message(role="assistant", content="<think>" * 10_000)),
)  # fmt: skip
