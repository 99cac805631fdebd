"""Engines and requests for the tests that talk to ``tests.fakes.chat_server``.

``python -m tests.fakes.server_engines URL FILE N`` asks N requests and caches responses.
"""

import sys
from pathlib import Path
from typing import Any

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_assets.core.schema.errors import ImageError
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.engine import FormatOf, ServerEngine
from bench_resources.models.api.formats.base import ApiFormat
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.stores import response_file
from tests.fakes.written_images import animated, corners, saved

IMAGES: dict[str, bytes] = {
    "png": saved(corners()),
    "moving": animated("GIF"),
    "clear": saved(PILImage.new("RGBA", (2, 2))),
}


def read_image(sha256: str) -> bytes:
    if sha256 not in IMAGES:
        raise ImageError(f"no image {sha256}")
    return IMAGES[sha256]


def engine(base_url: str, **spec: Any) -> ServerEngine:
    server_spec = ServerSpec(kind="server", base_url=base_url, model="m", **spec)
    return ServerEngine(server_spec, read_image, base_delay=0.01)


def api_format(api: FormatOf) -> ApiFormat:
    """A format with the server section of an engine."""
    return api(ServerSpec(kind="server", base_url="http://s/v1", model="m"), read_image)


def ask(base_url: str, *texts: str, **spec: Any) -> list[Response]:
    requests = requests_for(*texts)
    responses = dict(engine(base_url, **spec).stream(requests))
    return [responses[position] for position in range(len(texts))]


def requests_for(*texts: str) -> list[Request]:
    return [Request(prompt=Prompt.of(text)) for text in texts]


def caching_model(base_url: str, file: Path, **spec: Any) -> CachingModel:
    return CachingModel("m", engine(base_url, **spec), response_file(file))


if __name__ == "__main__":
    url, file, n_requests = sys.argv[1:]
    requests = requests_for(*map(str, range(int(n_requests))))
    caching_model(url, Path(file), concurrency=8).response(requests)
