"""Anthropic's Message Batches: requests go up in one body, one file of results comes down."""

import io
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any

import orjson

from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.errors import ModelError
from resources.http.errors import sentence
from resources.models.api.formats.base import ApiFormat
from resources.models.api.formats.response_body import fields_of
from resources.models.batches.http import Wire
from resources.models.batches.provider import State
from resources.models.batches.results import object_of, responded, unasked

_AT = "/messages/batches"
_CLOCKS = 120.0  # s that the server's clock may be behind ours


class AnthropicBatches:
    """``/messages/batches``."""

    most = 100_000
    most_bytes = 240 * 10**6  # of 256 MB, whichever they count

    def line(self, custom_id: str, body: bytes) -> bytes:
        """Write one request of the body."""
        return b'{"custom_id":' + orjson.dumps(custom_id) + b',"params":' + body + b"}"

    async def submit(self, wire: Wire, lines: Sequence[bytes], tag: str) -> str:
        """Hand over a batch; its id there."""
        body = b'{"requests":[' + b",".join(lines) + b"]}"
        headers = {"Content-Type": "application/json"}
        said = await wire.post(
            _AT, lambda: {"data": io.BytesIO(body), "headers": headers}, once=True
        )
        return _id(said)

    async def find(self, wire: Wire, tag: str, n: int, since: float) -> str:
        """Look for a batch of as many requests: it has no tag; who it is of, its results tell."""
        listed = (await wire.get(f"{_AT}?limit=100")).get("data")
        for one in map(fields_of, listed if isinstance(listed, list) else []):
            counts = fields_of(one.get("request_counts")).values()
            as_many = sum(count for count in counts if isinstance(count, int)) == n
            if as_many and _moment(one.get("created_at")) > since - _CLOCKS:
                return _id(one)
        return ""

    async def look(self, wire: Wire, batch: str) -> State:
        """Say how far a batch has come."""
        said = (await wire.get(f"{_AT}/{batch}")).get("processing_status")
        return State(ended=said == "ended", says=str(said))

    async def results(
        self, wire: Wire, batch: str, form: ApiFormat
    ) -> AsyncIterator[tuple[str, Response]]:
        """Read the results. The address that the batch names is not asked: it may be anybody's."""
        async for line in wire.lines(f"{_AT}/{batch}/results"):
            one = object_of(line)
            yield str(one.get("custom_id")), _response(fields_of(one.get("result")), form)


def _response(result: Any, form: ApiFormat) -> Response:  # noqa: ANN401 - an object of JSON
    match result.get("type"):
        case "succeeded":
            return responded(form, orjson.dumps(result.get("message")))
        case "errored":
            return unasked("errored", sentence(result.get("error")))
        case kind:
            return unasked(kind, "")


def _moment(said: object) -> float:
    try:
        return datetime.fromisoformat(str(said)).timestamp()
    except ValueError:
        return 0.0


def _id(said: object) -> str:
    name = fields_of(said).get("id")
    if not (isinstance(name, str) and name.replace("-", "").replace("_", "").isalnum()):
        raise ModelError("what was handed over as a batch has no id")
    return name
