"""Bodies with status 200 of which one has to know whether they are responses."""

import json
from typing import Any

from tests.faults.servers.misbehaviour import bodies, choice, message, right_choice
from tests.faults.servers.server import Exchange, response

_HALF = "A thing like this"


def _named(exchange: Exchange, **more: Any) -> dict[str, Any]:
    return response(exchange.wrong, **more)


def _nested(exchange: Exchange) -> bytes:
    return b'{"choices":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


NOT_RESPONSES = bodies(
    "lost",
    ("blocked by its content filter", choice(
        finish_reason="content_filter", message={"role": "assistant", "content": ""})),
    ("finish_reason error, with an error in the choice",
     lambda _: {"choices": [
         {"finish_reason": "error", "error": {"code": 502}, "message": {"content": ""}}]}),
    ("finish_reason error, with a text", choice(finish_reason="error")),
    ("finish_reason abort, with half a text", choice(finish_reason="abort")),
    ("finish_reason cancelled", choice(finish_reason="cancelled")),
    ("finish_reason timeout", choice(finish_reason="timeout")),
    ("finish_reason insufficient_system_resource",
     choice(finish_reason="insufficient_system_resource")),
    ("finish_reason is an object", choice(finish_reason={})),
    ("finish_reason is a number", choice(finish_reason=0)),
    ("finish_reason is a list", choice(finish_reason=["stop"])),
    ("finish_reason is true", choice(finish_reason=True)),
    ("finish_reason of a million letters", choice(finish_reason="x" * 10**6)),
    ("an error in the choice beside a text", choice(error={"message": "upstream", "code": 502})),
    ("an error that is a text in the choice", choice(error="upstream went away")),
    ("no choices", lambda _: response(..., choices=...)),
    ("choices are empty", lambda _: response(..., choices=[])),
    ("choices are null", lambda _: response(..., choices=None)),
    ("choices are a text", lambda a: response(..., choices=a.wrong)),
    ("the choice is null", lambda _: response(..., choices=[None])),
    ("the choice is empty", lambda _: response(..., choices=[{}])),
    ("the only choice has index 1", choice(index=1)),
    ("the only choice has index -1", choice(index=-1)),
    ("no message", lambda _: response(..., choices=[{"index": 0, "finish_reason": "stop"}])),
    ("the message is null", choice(message=None)),
    ("the message is a text", lambda a: choice(message=a.wrong)(a)),
    ("the message is a list", choice(message=[])),
    ("a delta instead of a message", lambda a: response(..., choices=[
        {"index": 0, "delta": {"content": a.wrong}, "finish_reason": "stop"}])),
    ("a text instead of a message", lambda a: response(..., choices=[
        {"index": 0, "text": a.wrong, "finish_reason": "stop"}])),
    ("a message without content", message(role="assistant")),
    ("audio alone", message(role="assistant", content=None, audio={"id": "a", "data": "AA=="})),
    ("audio beside an empty text", message(role="assistant", content="", audio={"id": "a"})),
    ("content is 0", message(role="assistant", content=0)),
    ("content is false", message(role="assistant", content=False)),
    ("content is true", message(role="assistant", content=True)),
    ("content is an object", message(role="assistant", content={})),
    ("content is a number", message(role="assistant", content=1.5)),
    ("content is a list of numbers", message(role="assistant", content=[1, 2])),
    ("content has a part of an unknown kind", message(role="assistant", content=[{"type": "x"}])),
    ("content has a part whose text is a number",
     message(role="assistant", content=[{"type": "text", "text": 7}])),
    ("an error beside the choices", lambda a: _named(a, error={"message": "overloaded"})),
    ("an error that is a text", lambda _: {"error": "overloaded"}),
    ("an error that is a list", lambda a: _named(a, error=["overloaded"])),
    ("a detail instead of a response", lambda _: {"detail": "Internal Server Error"}),
    ("object: error, as older vLLM has it",
     lambda _: {"object": "error", "message": "CUDA out of memory", "code": 50001}),
    ("an empty body", lambda _: b""),
    ("null", lambda _: b"null"),
    ("an empty list", lambda _: b"[]"),
    ("an empty object", lambda _: b"{}"),
    ("a number", lambda _: b"0"),
    ("a text", lambda a: json.dumps(a.wrong).encode()),
    ("a list of responses", lambda a: [response(a.wrong)]),
    ("a page of HTML", lambda _: b"<html><title>502 Bad Gateway</title></html>"),
    ("JSON that is cut off", lambda a: json.dumps(response(a.wrong)).encode()[:-9]),
    ("two responses, one behind the other", lambda a: json.dumps(response(a.wrong)).encode() * 2),
    ("a stream of events, though none was asked for", lambda a:
     b'data: {"choices":[{"delta":{"content":"' + a.wrong.encode() + b'"}}]}\n\ndata: [DONE]\n\n'),
    ("text that is not UTF-8", lambda a: json.dumps(response(a.wrong + "\0")).encode()
     .replace(b"\\u0000", b"\xff\xfe")),
    ("JSON in UTF-16", lambda a: json.dumps(response(a.wrong)).encode("utf-16")),
    ("a hundred thousand brackets", _nested),
    ("NaN for an answer", lambda _: b'{"choices": NaN}'),
)  # fmt: skip

RESPONSES = bodies(
    "kept",
    ("usage is missing", lambda a: response(a.right, usage=...)),
    ("usage is null", lambda a: response(a.right, usage=None)),
    ("finish_reason is missing, as Ollama has it", right_choice(finish_reason=None)),
    ("content in parts of text", lambda a: right_choice(
        message={"role": "assistant", "content": [{"type": "text", "text": a.right}]})(a)),
    ("fields that nobody documents", lambda a: response(a.right, citations=[], x={"y": [1]})),
    ("error: null beside the choices", lambda a: response(a.right, error=None)),
    ("error: null in the choice", right_choice(error=None)),
    ("refusal: null in the message", lambda a: right_choice(
        message={"role": "assistant", "content": a.right, "refusal": None})(a)),
    ("no model", lambda a: response(a.right, model=...)),
    ("blanks around the JSON", lambda a: b"\n\n " + json.dumps(response(a.right)).encode() + b"\n"),
)  # fmt: skip

EITHER = bodies(
    "either",
    *((f"usage.prompt_tokens is {shown}", lambda a, number=number: response(
        a.right, usage={"prompt_tokens": number, "completion_tokens": number}))
      for shown, number in (
          ("a text", "12"), ("2**63", 2**63 - 1), ("negative", -1), ("a fraction", 1.5),
          ("true", True), ("a list", [1]), ("an object", {}), ("a long text", "9" * 5000))),
    ("usage.prompt_tokens is beyond 2**63", lambda a: json.dumps(
        response(a.right, usage={"prompt_tokens": 2**63, "completion_tokens": 2**64})).encode()),
    ("usage.prompt_tokens is 2**70", lambda a: json.dumps(
        response(a.right, usage={"prompt_tokens": 2**70, "completion_tokens": 2**70})).encode()),
    ("usage.prompt_tokens is 1e400", lambda a: json.dumps(
        response(a.right, usage={"prompt_tokens": 0})).encode().replace(b": 0}", b": 1e400}")),
    ("usage is a text", lambda a: response(a.right, usage="12")),
    ("usage is a list", lambda a: response(a.right, usage=[])),
    ("completion_tokens_details is a number", lambda a: response(
        a.right, usage={"prompt_tokens": 1, "completion_tokens_details": 7})),
    ("reasoning_tokens is 2**70", lambda a: json.dumps(response(a.right, usage={
        "completion_tokens_details": {"reasoning_tokens": 2**70}})).encode()),
    ("finish_reason in capitals", right_choice(finish_reason="STOP")),
    ("index is a text", right_choice(index="0")),
    ("index is a fraction", right_choice(index=0.0)),
    ("the choice with index 0 comes second", lambda a: response(..., choices=[
        right_choice(index=1)(a)["choices"][0]
        | {"message": {"role": "assistant", "content": a.wrong}},
        right_choice()(a)["choices"][0]])),
    ("two choices, though one was asked for", lambda a: response(..., choices=[
        right_choice()(a)["choices"][0], choice(index=1)(a)["choices"][0]])),
    ("choices are an object", lambda a: response(
        ..., choices={"0": right_choice()(a)["choices"][0]})),
    ("the model is a number", lambda a: response(a.right, model=7)),
    ("a byte order mark in front", lambda a: (
        b"\xef\xbb\xbf" + json.dumps(response(a.right)).encode())),
    ("a NUL behind the text", lambda a: response(f"{a.right}\0")),
    ("half a character behind the text",
     lambda a: json.dumps(response(f"{a.right}\ud800")).encode()),
    ("terminal escapes behind the text", lambda a: response(f"{a.right}\n\x1b[2J\x1b]0;owned\x07")),
    ("64 KiB of blanks behind the text", lambda a: response(a.right + " " * 2**16)),
    ("fields that come twice", lambda a: json.dumps(response(a.right)).encode().replace(
        b'"logprobs"', b'"index": 0, "logprobs"')),
    ("a role that is not assistant", lambda a: right_choice(
        message={"role": "user", "content": a.right})(a)),
    ("reasoning_content is a number", lambda a: right_choice(
        message={"role": "assistant", "content": a.right, "reasoning_content": 7})(a)),
    ("tool_calls are a text beside the answer", lambda a: right_choice(
        message={"role": "assistant", "content": a.right, "tool_calls": "x"})(a)),
    ("refusal is a number beside the answer", lambda a: right_choice(
        message={"role": "assistant", "content": a.right, "refusal": 0})(a)),
)  # fmt: skip

_BLANKS = b" " * (20 << 20)  # in this process too, once a request: no more than must be
LARGE = bodies(
    "either",
    ("twenty mebibytes of blanks behind the text",
     lambda a: json.dumps(response(f"{a.right}@")).encode().replace(b"@", _BLANKS)),
    ("twenty mebibytes of blanks behind the JSON",
     lambda a: json.dumps(response(a.right)).encode() + _BLANKS),
    short=False,
    most_memory=400,  # the server is in this process, and makes each body in several copies
)  # fmt: skip

SILENT = bodies(
    "silent",
    ("null content with finish_reason stop", message(role="assistant", content=None)),
    ("null content and a call of a tool", message(
        role="assistant", content=None, tool_calls=[{"id": "1", "type": "function"}])),
    ("content that is an empty list", message(role="assistant", content=[])),
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
    ("a digit 4301 times, in brackets", message(role="assistant", content=f"({'7' * 4301})")),
    ("ten thousand open brackets", message(role="assistant", content="[" * 10_000 + "{" * 10_000)),
    ("ten thousand thoughts without an end",
     message(role="assistant", content="<think>" * 10_000)),
    ("a superscript for a digit", message(role="assistant", content="² ① ௧ 五")),
)  # fmt: skip
