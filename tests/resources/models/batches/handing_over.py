"""Engines that hand requests over in batches, what they said, and notes of what is out."""

from pathlib import Path
from typing import Any

from bench_assets.core.schema.chat import Request, Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.batches.engine import BatchEngine
from bench_resources.response_cache.rows import TokenCounts
from tests.fakes.server_engines import read_image
from tests.resources.models.batches.stand_in import BatchServer

TEXTS = ("a", "b", "c", "d", "e")
ANSWERS = [f"A to {text}" for text in TEXTS]


def engine(
    server: BatchServer,
    home: Path,
    format_: str,
    spent: TokenCounts | None = None,
    patience: float = 5,
    **fields: Any,
) -> BatchEngine:
    section = {"kind": "server", "base_url": server.base_url, "model": "m", "format": format_}
    spec = ServerSpec.model_validate(
        section | {"api_key_env": "BATCH_KEY", "batch": True, "max_tokens": 50} | fields
    )
    return BatchEngine(
        spec,
        read_image,
        home / "batches",
        base_delay=0.01,
        patience=patience,
        spent=lambda _: spent or TokenCounts(),
    )


def answered(batches: BatchEngine, *requests: Request) -> list[Response]:
    responses = dict(batches.stream(requests))
    return [responses[position] for position in range(len(requests))]


def response_texts(responses: list[Response]) -> list[str]:
    return [response.error or response.text for response in responses]


def out(home: Path) -> list[Path]:
    return sorted((home / "batches").rglob("*.json"))
