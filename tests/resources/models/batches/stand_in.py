"""A server on loopback with the batches of OpenAI and of Anthropic, as their vendors document them.

It refuses what they refuse, has its results in another order than the requests, and misbehaves on
demand. A batch is under way for two looks.
"""

import asyncio
import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

import orjson
from aiohttp import web

from tests.fakes.chat_server import texts
from tests.resources.models.batches.vendors_results import anthropic_results, openai_files

Answer = str | int | None  # a text, the status of an error, or nothing until it expires


@dataclass(kw_only=True)
class Batch:
    """A batch that was handed over."""

    id: str
    requests: list[dict[str, Any]]
    looks: int = 0
    end: str = ""  # what it ends as
    metadata: dict[str, str] = field(default_factory=dict)
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


class BatchServer:
    """Serves in a thread until the ``with`` block ends."""

    def __init__(self, answer: Callable[[dict[str, Any]], Answer] | None = None) -> None:
        self._answer = answer or (lambda body: f"A to {texts(body)[-1]}")
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, bytes] = {}
        self.n_requests = 0  # requests in all batches that were taken
        self.n_collected = 0  # times that results were fetched
        self.end = ""  # what the next batches end as: expired, cancelled, failed
        self.looks = 2  # that a batch is under way for; 0: it never ends
        self.most = 10**6  # requests that are enqueued at most
        self.most_bytes = 10**9
        self.drops = False  # takes the next batch, and breaks the connection
        self.fails = 0  # so many next requests get 503
        self.doubled = False  # tells the first result twice
        self.breaks = list[float]()  # share of the results after which each next download breaks
        self.key = "k" * 20
        self.refusal = ""  # says so instead of the results
        self._ready = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**30, middlewares=[self._checked])
        app.router.add_post("/v1/files", self._upload)
        app.router.add_get("/v1/files/{id}/content", self._download)
        app.router.add_post("/v1/batches", self._create)
        app.router.add_get("/v1/batches", self._list)
        app.router.add_get("/v1/batches/{id}", self._look)
        app.router.add_post("/v1/messages/batches", self._create_messages)
        app.router.add_get("/v1/messages/batches", self._list_messages)
        app.router.add_get("/v1/messages/batches/{id}", self._look_messages)
        app.router.add_get("/v1/messages/batches/{id}/results", self._results_messages)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.01)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._over.wait()
        await runner.cleanup()

    @web.middleware
    async def _checked(self, request: web.Request, handler: Any) -> web.StreamResponse:
        key = request.headers.get("x-api-key") or request.headers.get("Authorization") or ""
        if key.removeprefix("Bearer ") != self.key:
            return _error(401, "authentication_error", "invalid x-api-key")
        if self.fails:
            self.fails -= 1
            return _error(503, "overloaded_error", "Overloaded")
        if (request.content_length or 0) > self.most_bytes:
            return _error(413, "request_too_large", "Request exceeds the maximum size")
        response: web.StreamResponse = await handler(request)
        return response

    # OpenAI

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert form["purpose"] == "batch"
        assert isinstance(file, web.FileField)
        name = f"file-{len(self.files)}"
        self.files[name] = file.file.read()
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        assert body["completion_window"] == "24h"
        assert body["endpoint"] == "/v1/chat/completions"
        requests = [orjson.loads(line) for line in self.files[body["input_file_id"]].splitlines()]
        assert all(line["method"] == "POST" for line in requests)
        assert {line["url"] for line in requests} == {body["endpoint"]}
        batch = self._taken(
            "batch_", [{"custom_id": line["custom_id"], "body": line["body"]} for line in requests]
        )
        batch.metadata = body.get("metadata", {})
        if self.drops:
            return self._dropped(request)
        return web.json_response(self._batch_body(batch))

    async def _list(self, _: web.Request) -> web.Response:
        listed = [self._batch_body(batch) for batch in reversed(self.batches.values())]
        return web.json_response({"object": "list", "data": listed, "has_more": False})

    async def _look(self, request: web.Request) -> web.Response:
        if not (batch := self.batches.get(request.match_info["id"])):
            return _error(404, "invalid_request_error", "No batch found")
        batch.looks += 1
        return web.json_response(self._batch_body(batch))

    def _batch_body(self, batch: Batch) -> dict[str, Any]:
        body = {"id": batch.id, "object": "batch", "metadata": batch.metadata, "errors": None}
        if not self._ended(batch):
            return body | {"status": "validating" if batch.looks < 2 else "in_progress"}
        if batch.end == "failed":
            message = "Enqueued token limit reached"
            errors = {"data": [{"code": "token_limit_exceeded", "line": None, "message": message}]}
            return body | {"status": "failed", "errors": errors}
        output, error = openai_files(self._results(batch), batch.end)
        self.files |= {f"out-{batch.id}": output, f"err-{batch.id}": error}
        return body | {
            "status": batch.end or "completed",
            "output_file_id": f"out-{batch.id}" if output else None,
            "error_file_id": f"err-{batch.id}" if error else None,
        }

    async def _download(self, request: web.Request) -> web.StreamResponse:
        return await self._sent(request, self.files[request.match_info["id"]])

    # Anthropic

    async def _create_messages(self, request: web.Request) -> web.StreamResponse:
        assert request.headers["anthropic-version"] == "2023-06-01"
        body = json.loads(await request.read())
        for n, one in enumerate(body["requests"]):
            if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one["custom_id"]):
                return _error(400, "invalid_request_error", f"requests.{n}.custom_id: no")
            assert one["params"]["max_tokens"]
        batch = self._taken(
            "msgbatch_",
            [{"custom_id": one["custom_id"], "body": one["params"]} for one in body["requests"]],
        )
        if self.drops:
            return self._dropped(request)
        return web.json_response(self._messages_body(batch))

    async def _list_messages(self, _: web.Request) -> web.Response:
        listed = [self._messages_body(batch) for batch in reversed(self.batches.values())]
        return web.json_response({"data": listed, "has_more": False})

    async def _look_messages(self, request: web.Request) -> web.Response:
        if not (batch := self.batches.get(request.match_info["id"])):
            return _error(404, "not_found_error", "No batch found")
        batch.looks += 1
        return web.json_response(self._messages_body(batch))

    def _messages_body(self, batch: Batch) -> dict[str, Any]:
        ended, n = self._ended(batch), len(batch.requests)
        names = ("processing", "succeeded", "errored", "canceled", "expired")
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": dict.fromkeys(names, 0) | {names[ended]: n},
            "created_at": batch.created.isoformat(),
            "results_url": "https://elsewhere.example/results" if ended else None,
        }

    async def _results_messages(self, request: web.Request) -> web.StreamResponse:
        batch = self.batches[request.match_info["id"]]
        return await self._sent(request, anthropic_results(self._results(batch), batch.end))

    # both

    async def _sent(self, request: web.Request, body: bytes) -> web.StreamResponse:
        self.n_collected += 1
        if self.refusal:
            return _error(400, "invalid_request_error", self.refusal)
        if not self.breaks:
            return web.Response(body=body)
        response = web.StreamResponse()
        response.content_length = len(body)
        await response.prepare(request)
        await response.write(body[: int(len(body) * self.breaks.pop(0))])
        assert request.transport is not None
        request.transport.close()
        return response

    def _taken(self, prefix: str, requests: list[dict[str, Any]]) -> Batch:
        ids = [request["custom_id"] for request in requests]
        assert len(set(ids)) == len(ids)
        batch = Batch(id=f"{prefix}{len(self.batches)}", requests=requests, end=self.end)
        if len(requests) > self.most:
            batch.end = "failed"
        else:
            self.n_requests += len(requests)
        self.batches[batch.id] = batch
        return batch

    def _ended(self, batch: Batch) -> bool:
        return bool(self.looks) and batch.looks >= self.looks

    def _results(self, batch: Batch) -> list[dict[str, Any]]:
        found = [
            {"custom_id": request["custom_id"], "answer": self._answer(request["body"])}
            for request in reversed(batch.requests)
        ]
        return [found[0].copy(), *found] if self.doubled else found

    def _dropped(self, request: web.Request) -> web.StreamResponse:
        self.drops = False
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


def _error(status: int, kind: str, message: str) -> web.Response:
    error = {"type": "error", "error": {"type": kind, "message": message}}
    return web.json_response(error, status=status)
