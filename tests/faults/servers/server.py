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
    """A request, and the connection that waits for what becomes of it."""

    number: int  # of the question
    right: str  # what the server would say if it were well
    wrong: str  # what gives other points than that, if it is taken for the answer
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


_DATA = re.compile(r"data:image/\w+;base64,([\w+/=]+)")


class Count(NamedTuple):
    """How often each question came."""

    received: Counter[int]
    answered: Counter[int]  # and got the right answer, whole


def response(text: object, **more: Any) -> dict[str, Any]:
    """A body as the API documents it; ``more`` is put on top, None takes a field away."""
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
    return {name: value for name, value in (body | more).items() if value is not Ellipsis}


class MisbehavingServer:
    """Listens in a thread until the ``with`` block ends; misbehaves towards questions by number."""

    def __init__(
        self, misbehave: Misbehave | None = None, numbers: str = "024", latency: float = 0.0
    ) -> None:
        self.misbehave = misbehave
        self.latency = latency  # s before each response
        self.numbers = {int(number) for number in numbers}
        self.wrong_key = 0
        self.received: Counter[int] = Counter()
        self.answered: Counter[int] = Counter()
        self.images: set[str] = set()  # SHA-256 of what it was shown
        self.port = 0
        self._ready = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def heal(self) -> None:
        """Be well from now on."""
        self.misbehave = None

    def counts(self) -> Count:
        """How often each question came until now."""
        return Count(self.received.copy(), self.answered.copy())

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
        self._loop.set_exception_handler(lambda *_: None)  # cut connections are what we are for
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
                length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
                body = await reader.readexactly(length)
                await self._answer(head, orjson.loads(body), writer)
        with contextlib.suppress(OSError):
            writer.close()

    async def _answer(
        self, head: bytes, request: dict[str, Any], writer: asyncio.StreamWriter
    ) -> None:
        text = orjson.dumps(request["messages"]).decode()
        number = next(n for n in range(N_QUESTIONS) if question_text(n) in text)
        answer = RESPONSES[number]
        exchange = Exchange(number, answer, "B" if answer == "A" else "A", request, writer)
        self.wrong_key += KEY.lower().encode() not in head
        self.received[number] += 1
        self.images |= {sha256(b64decode(data)).hexdigest() for data in _DATA.findall(text)}
        await asyncio.sleep(self.latency)
        if self.misbehave and number in self.numbers:
            await self.misbehave(exchange)
        else:
            self.answered[number] += 1
            await exchange.say(orjson.dumps(response(answer)))
