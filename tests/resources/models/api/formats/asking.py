"""Asks the stand-ins of ``apis``, and makes formats as an engine has them."""

import io
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Image, Prompt, Request, Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import FormatOf, ServerEngine
from bench_resources.models.api.formats.base import ApiFormat
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.server_engines import read_image
from tests.resources.models.api.formats import apis

APIS: Mapping[str, Callable[..., Answer]] = {"anthropic": apis.anthropic, "gemini": apis.gemini}
IMAGES = ("JPEG", "PNG", "GIF", "WEBP", "BMP")


def image(sha256: str) -> bytes:
    written = io.BytesIO()
    PILImage.new("RGB", (2, 2)).save(written, sha256)
    return written.getvalue()


def ask(
    api: str, *requests: Request, first: tuple[Answer, ...] = (), key: str = "sk-1", **spec: Any
) -> tuple[list[Response], ChatServer]:
    """Ask a stand-in that gives some other answers first; the responses, and what it was asked."""

    def answer(body: dict[str, Any]) -> Answer:
        return APIS[api](body, server.headers[-1])

    fields = {"kind": "server", "format": api, "model": "m", "api_key_env": "A_KEY"}
    with ChatServer(answer) as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("A_KEY", key)
        for one in first:
            server.fail_next(1, one)
        whole = ServerSpec.model_validate(fields | {"base_url": server.base_url} | spec)
        responses = dict(ServerEngine(whole, image, base_delay=0.001).stream(requests))
    return [responses[position] for position in range(len(requests))], server


def request_of(*parts: str | Image, **more: Any) -> Request:
    return Request(prompt=Prompt.of(*parts, **more))


def form(api: FormatOf) -> ApiFormat:
    return api(ServerSpec(kind="server", base_url="http://s/v1", model="m"), read_image)
