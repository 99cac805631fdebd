"""A chat server that answers byte by byte as a misbehaviour says, until it is healed.

It speaks HTTP itself: what has to be wrong here is what libraries get right.
"""

import asyncio
import contextlib
import re
import threading
from base64 import b64decode
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple, Self, TypeAlias

import orjson

from tests.faults.homes import KEY, N_QUESTIONS, RESPONSES, question_text


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, and the connection that waits for the response."""

    question_index: int
    right: str  # response of the healed server
    wrong: str  # response that gives other points
    request: dict[str, Any]
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()

    async def say(self, body: bytes, status: str = "200 OK", *headers: bytes) -> None:
        """Answer with a body, in HTTP as it should be."""
        await self.send(
            b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s"
            % (status.encode(), len(body), b"".join(h + b"\r\n" for h in headers), body)
        )


Misbehave: TypeAlias = Callable[[Exchange], Awaitable[None]]


_CONTENT_LENGTH = re.compile(rb"content-length: *(\d+)")
_DATA = re.compile(r"data:image/\w+;base64,([\w+/=]+)")


class RequestCounts(NamedTuple):
    """Number of requests by the index of their question."""

    received: Counter[int]
    answered: Counter[int]  # with the complete right answer


def response(text: object, **fields: Any) -> dict[str, Any]:
    """A body as the API documents it; ``fields`` replace its own, and ... removes one."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_800_000_000,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10},
    }
    return {name: value for name, value in (body | fields).items() if value is not Ellipsis}


class MisbehavingServer:
    """Listens in a thread until the ``with`` block ends; misbehaves on every other question."""

    def __init__(self, misbehave: Misbehave | None = None, latency: float = 0.0) -> None:
        self.misbehave = misbehave
        self.latency = latency  # s before each response
        self.affected = set(range(0, N_QUESTIONS, 2))  # indices of questions
        self.n_without_key = 0
        self.received: Counter[int] = Counter()
        self.answered: Counter[int] = Counter()
        self.images: set[str] = set()  # SHA-256 of those it received
        self.port = 0
        self._ready = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def heal(self) -> None:
        """Stop the misbehaviour."""
        self.misbehave = None

    def counts(self) -> RequestCounts:
        """The number of requests until now."""
        return RequestCounts(self.received.copy(), self.answered.copy())

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(120), "the misbehaving server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(lambda *_: None)  # connections are cut on purpose
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=2**24)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._over.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = _CONTENT_LENGTH.search(head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                await self._answer(head, orjson.loads(body), writer)
        with contextlib.suppress(OSError):
            writer.close()

    async def _answer(
        self, head: bytes, request: dict[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        """Answer a request; ``head`` is in lower case."""
        text = orjson.dumps(request["messages"]).decode()
        index = next(n for n in range(N_QUESTIONS) if question_text(n) in text)
        answer = RESPONSES[index]
        exchange = Exchange(index, answer, "B" if answer == "A" else "A", request, writer)
        if KEY.lower().encode() not in head:
            self.n_without_key += 1
        self.received[index] += 1
        self.images |= {sha256(b64decode(data)).hexdigest() for data in _DATA.findall(text)}
        await asyncio.sleep(self.latency)
        if self.misbehave and index in self.affected:
            await self.misbehave(exchange)
        else:
            self.answered[index] += 1
            await exchange.say(orjson.dumps(response(answer)))
