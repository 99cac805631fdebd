"""A chat server on loopback that counts and records requests, and can misbehave.

It offers two APIs, told apart by their paths: OpenAI's, and Anthropic's Messages.

In a test:

    with ChatServer(lambda body: "A") as server:
        ask(server.base_url)
        assert server.n_requests == 1
"""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import orjson
from aiohttp import web


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server does with a request."""

    text: str | None = ""
    status: int = 200  # any other: an error whose message is ``text``
    wait: float = 0.0  # s, before answering
    drop: bool = False  # closes the connection instead of answering
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # sent as it is, instead of a well-formed body
    message: Mapping[str, Any] = field(default_factory=dict)  # further fields; OpenAI's alone
    finish_reason: str = "stop"
    model: str | None = None  # name of the model in the response
    fingerprint: str | None = None  # OpenAI's alone


AnswerTo = Callable[[dict[str, Any]], str | int | Answer]  # body -> text, status or answer


class ChatServer:
    """Answers in a thread until the ``with`` block ends."""

    def __init__(
        self,
        answer: AnswerTo | str = "A",
        *,
        latency: float = 0.0,
        port: int = 0,
        keep_bodies: bool = True,
    ) -> None:
        self._answer: AnswerTo = (lambda _: answer) if isinstance(answer, str) else answer
        self._latency = latency
        self._keep_bodies = keep_bodies
        self._failures: list[Answer] = []
        self._ready = threading.Event()
        self.port = port  # 0: a free port, which ``start`` replaces by its number
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []  # s on the monotonic clock, when each request came
        self.n_requests = 0
        self.n_answered = 0
        self.n_connections = 0  # by the client's port
        self.most_at_once = 0
        self._ports: set[int] = set()
        self._last_response = 0.0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def fail_next(self, n_requests: int, answer: int | Answer = 500) -> None:
        """Answer the next requests with an error."""
        failure = Answer(status=answer, text="as asked") if isinstance(answer, int) else answer
        self._failures += [failure] * n_requests

    def forget(self) -> None:
        """Reset the records, and the counts of requests and of answers."""
        self.bodies.clear()
        self.headers.clear()
        self.times.clear()
        self.n_requests = self.n_answered = 0

    def start(self) -> None:
        """Listen; after ``stop`` on the same port as before."""
        self._ready.clear()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(120), "the test server did not start"

    def stop(self) -> None:
        """Close every connection and listen no more."""
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self.stop()

    async def serve(self) -> None:
        """Listen until stopped."""
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**30)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/messages", self._chat)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port, reuse_address=True).start()
        ((_, self.port),) = runner.addresses
        self._ready.set()
        await self._over.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.times.append(time.monotonic())
        self.n_requests += 1
        self.most_at_once = max(self.most_at_once, self.n_requests - self.n_answered)
        try:
            return await self._response(request)
        finally:
            self.n_answered += 1
            self._last_response = time.monotonic()

    async def _response(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        self._ports.add(request.transport.get_extra_info("peername")[1])
        self.n_connections = len(self._ports)
        body = orjson.loads(await request.read())
        if self._keep_bodies:
            self.bodies.append(body)
            self.headers.append(dict(request.headers))
        answer = self._failures.pop(0) if self._failures else _as_answer(self._answer(body))
        await asyncio.sleep(self._latency + answer.wait)
        if answer.drop:
            request.transport.abort()
            return web.Response()
        return web.Response(
            status=answer.status,
            headers=answer.headers,
            body=body_of(answer, body, request.path) if answer.raw is None else answer.raw,
            content_type="application/json",
        )


def texts(body: Mapping[str, Any]) -> list[str]:
    """Every text of a request, in reading order; for answer functions."""
    contents = [turn["parts"] if "parts" in turn else turn["content"] for turn in body["messages"]]
    parts_by_turn = [[{"text": text}] if isinstance(text, str) else text for text in contents]
    return [part["text"] for parts in parts_by_turn for part in parts if "text" in part]


def _as_answer(answer: str | int | Answer) -> Answer:
    if isinstance(answer, int):
        return Answer(status=answer, text="as asked")
    return Answer(text=answer) if isinstance(answer, str) else answer


def body_of(answer: Answer, request: Mapping[str, Any], path: str) -> bytes:
    """The body of an answer in the format of the API of a path."""
    if path.endswith("/messages"):
        return orjson.dumps(_as_anthropic(answer, request))
    if answer.status != 200:
        return orjson.dumps({"error": {"message": answer.text, "code": answer.status}})
    message = {"role": "assistant", "content": answer.text, **answer.message}
    choice = {"index": 0, "message": message, "finish_reason": answer.finish_reason}
    usage = {"prompt_tokens": len(request["messages"]), "completion_tokens": 3, "total_tokens": 4}
    completion: dict[str, Any] = {"object": "chat.completion", "choices": [choice], "usage": usage}
    if answer.model is not None:
        completion["model"] = answer.model
    if answer.fingerprint is not None:
        completion["system_fingerprint"] = answer.fingerprint
    return orjson.dumps(completion)


def _as_anthropic(answer: Answer, request: Mapping[str, Any]) -> dict[str, Any]:
    if answer.status != 200:
        return {"type": "error", "error": {"type": "api_error", "message": answer.text}}
    end = "end_turn" if answer.finish_reason == "stop" else answer.finish_reason
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": answer.text}],
        "stop_reason": end,
        "usage": {"input_tokens": len(request["messages"]), "output_tokens": 3},
        **({"model": answer.model} if answer.model else {}),
    }
