"""An API that neither we nor its vendor knows of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from bench_assets.core.schema.chat import Request, Response, Turn
from resources.config.sections.servers import ServerSpec
from resources.models.api.engine import ServerEngine
from tests.chat_server import ChatServer
from tests.resources.models.api.formats import apis
from tests.resources.models.api.formats.asking import asked, image


class Plain:
    """An API of somebody's own."""

    path = "/chat/completions"
    headers: Mapping[str, str] = {"x-plain": "1"}
    holds = "said"

    def __init__(self, spec: ServerSpec, read_image: Callable[[str], bytes]) -> None:
        self._spec = spec

    def message(self, turn: Turn) -> dict[str, Any]:
        return {turn.role: turn.parts}

    def body(self, request: Request, messages: Sequence[dict[str, Any]]) -> bytes:
        return orjson.dumps(messages)

    def response(self, received: Mapping[str, Any], seconds: float) -> Response:
        return Response(text=received["said"], finish_reason="stop")


def test_a_package_may_bring_an_api_of_its_own() -> None:
    with ChatServer(lambda body: apis.whole({"said": body[0]["user"][0].upper()})) as server:
        spec = ServerSpec(kind="server", base_url=server.base_url, model="m")
        engine = ServerEngine(spec, image, format_of=Plain)
        ((_, response),) = engine.stream([asked("yes")])
        assert server.headers[0]["x-plain"] == "1"
    assert response.text == "YES"
