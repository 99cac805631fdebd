"""The batch APIs of OpenAI and Anthropic."""

import io
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import aiohttp
import orjson

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.http.errors import error_message, failure
from bench_resources.models.api.formats.base import ApiFormat
from bench_resources.models.api.formats.response_body import as_object, is_empty
from bench_resources.models.batches.http import BatchClient
from bench_resources.models.batches.provider import (
    BatchState,
    decode_batch_response,
    decode_result,
    failed_response,
    unsent_response,
)

_FINAL_STATES = {"completed", "failed", "expired", "cancelled"}
_SIZE_ERRORS = {"token_limit_exceeded", "request_limit_exceeded", "file_too_large"}
_TAG = "bench"


class OpenAIBatches:
    """``/files`` and ``/batches``."""

    most = 50_000
    most_bytes = 190 * 10**6  # the limit is 200 MB or MiB

    def line(self, custom_id: str, body: bytes) -> bytes:
        """Encode one line of the input file."""
        quoted_id = orjson.dumps(custom_id)
        head = (
            b'{"custom_id":' + quoted_id + b',"method":"POST","url":"/v1/chat/completions","body":'
        )
        return head + body + b"}\n"

    async def submit(self, wire: BatchClient, lines: Sequence[bytes], tag: str) -> str:
        """Submit a batch; returns its id."""
        content = b"".join(lines)

        def form() -> dict[str, Any]:
            data = aiohttp.FormData()
            data.add_field("purpose", "batch")
            data.add_field("file", io.BytesIO(content), filename=f"{tag}.jsonl")
            return {"data": data}

        file = _id(await wire.post("/files", form))
        payload = {
            "input_file_id": file,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {_TAG: tag},
        }
        return _id(await wire.post("/batches", lambda: {"json": payload}, once=True))

    async def find(self, wire: BatchClient, tag: str, n: int, since: float) -> str:
        """Find a batch by its tag."""
        listed = (await wire.get("/batches?limit=100")).get("data")
        for batch in listed if isinstance(listed, list) else []:
            if as_object(as_object(batch).get("metadata")).get(_TAG) == tag:
                return _id(batch)
        return ""

    async def look(self, wire: BatchClient, batch: str) -> BatchState:
        """Get the state of a batch."""
        response = await wire.get(f"/batches/{batch}")
        status = response.get("status")
        if status not in _FINAL_STATES:
            return BatchState(says=str(status))
        errors = as_object(response.get("errors")).get("data")
        listed = [as_object(error) for error in errors] if isinstance(errors, list) else []
        if status != "failed":
            return BatchState(ended=True, says=str(status))
        reason = "; ".join(str(error.get("message") or error.get("code")) for error in listed[:3])
        too_much = any(error.get("code") in _SIZE_ERRORS for error in listed)
        return BatchState(
            ended=True, says="failed", failed=reason or "no reason given", too_much=too_much
        )

    async def results(
        self, wire: BatchClient, batch: str, form: ApiFormat
    ) -> AsyncIterator[tuple[str, Response]]:
        """Read the output file and the error file."""
        response = await wire.get(f"/batches/{batch}")
        for name in ("output_file_id", "error_file_id"):
            if isinstance(file := response.get(name), str) and file:
                async for line in wire.lines(f"/files/{file}/content"):
                    yield decode_result(line, wire, lambda one: _response(one, form))


def _response(one: dict[str, Any], form: ApiFormat) -> Response:
    error, response = as_object(one.get("error")), as_object(one.get("response"))
    if not is_empty(error):
        return unsent_response(error.get("code"), error.get("message"))
    status, body = response.get("status_code"), orjson.dumps(response.get("body"))
    if status == 200:
        return decode_batch_response(form, body)
    if isinstance(status, int):
        return failed_response(failure(status, body, {}))
    return Response(error="in a batch: neither a response nor an error")


def _id(value: object) -> str:
    name = as_object(value).get("id")
    if not (isinstance(name, str) and name.replace("-", "").replace("_", "").isalnum()):
        raise ModelError("the response to a batch request has no id")
    return name


_ANTHROPIC_PATH = "/messages/batches"
_CLOCK_SKEW = 120.0  # s that the server's clock may be behind ours


class AnthropicBatches:
    """``/messages/batches``."""

    most = 100_000
    most_bytes = 240 * 10**6  # the limit is 256 MB or MiB

    def line(self, custom_id: str, body: bytes) -> bytes:
        """Encode one request."""
        return b'{"custom_id":' + orjson.dumps(custom_id) + b',"params":' + body + b"}"

    async def submit(self, wire: BatchClient, lines: Sequence[bytes], tag: str) -> str:
        """Submit a batch; returns its id."""
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        headers = {"Content-Type": "application/json"}
        response = await wire.post(
            _ANTHROPIC_PATH, lambda: {"data": io.BytesIO(body), "headers": headers}, once=True
        )
        return _id(response)

    async def find(self, wire: BatchClient, tag: str, n: int, since: float) -> str:
        """Find a batch by its size and age: the API has no tags."""
        listed = (await wire.get(f"{_ANTHROPIC_PATH}?limit=100")).get("data")
        for batch in map(as_object, listed if isinstance(listed, list) else []):
            counts = as_object(batch.get("request_counts")).values()
            as_many = sum(count for count in counts if isinstance(count, int)) == n
            if as_many and _parse_timestamp(batch.get("created_at")) > since - _CLOCK_SKEW:
                return _id(batch)
        return ""

    async def look(self, wire: BatchClient, batch: str) -> BatchState:
        """Get the state of a batch."""
        status = (await wire.get(f"{_ANTHROPIC_PATH}/{batch}")).get("processing_status")
        return BatchState(ended=status == "ended", says=str(status))

    async def results(
        self, wire: BatchClient, batch: str, form: ApiFormat
    ) -> AsyncIterator[tuple[str, Response]]:
        """Read the results from our own address, not the one that the batch names."""
        async for line in wire.lines(f"{_ANTHROPIC_PATH}/{batch}/results"):
            yield decode_result(
                line, wire, lambda one: _anthropic_response(as_object(one.get("result")), form)
            )


def _anthropic_response(result: Any, form: ApiFormat) -> Response:  # noqa: ANN401 - an object of JSON
    match result.get("type"):
        case "succeeded":
            return decode_batch_response(form, orjson.dumps(result.get("message")))
        case "errored":
            return unsent_response("errored", error_message(result.get("error")))
        case kind:
            return unsent_response(kind, "")


def _parse_timestamp(value: object) -> float:
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return 0.0
