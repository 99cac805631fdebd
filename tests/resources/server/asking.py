"""Asks an engine, for the tests that talk to ``tests.chat_server``.

``python -m tests.resources.server.asking URL FILE N`` asks N requests and remembers the replies.
"""

import sys
from pathlib import Path
from typing import Any

from PIL import Image as PILImage

from bench_assets.core.schema.chat import Prompt, Reply, Request
from bench_assets.core.schema.errors import ImageError
from resources.config.sections.servers import ServerSpec
from resources.models.api.engine import ServerEngine
from resources.response_cache.caching_model import RememberingModel
from resources.response_cache.sqlite_store import SqliteResponseStore
from tests.core.written_pictures import animated, corners, saved

PICTURES: dict[str, bytes] = {
    "png": saved(corners()),
    "moving": animated("GIF"),
    "clear": saved(PILImage.new("RGBA", (2, 2))),
}


def read_picture(sha256: str) -> bytes:
    if sha256 not in PICTURES:
        raise ImageError(f"no picture {sha256}")
    return PICTURES[sha256]


def engine(base_url: str, **spec: Any) -> ServerEngine:
    whole = ServerSpec(kind="server", base_url=base_url, model="m", **spec)
    return ServerEngine(whole, read_picture, base_delay=0.01)


def ask(base_url: str, *texts: str, **spec: Any) -> list[Reply]:
    requests = requests_for(*texts)
    replies = dict(engine(base_url, **spec).stream(requests))
    return [replies[position] for position in range(len(texts))]


def requests_for(*texts: str) -> list[Request]:
    return [Request(prompt=Prompt.of(text)) for text in texts]


def remembering(base_url: str, file: Path, **spec: Any) -> RememberingModel:
    return RememberingModel("m", engine(base_url, **spec), SqliteResponseStore(file))


if __name__ == "__main__":
    url, file, n = sys.argv[1:]
    remembering(url, Path(file), concurrency=8).reply(requests_for(*map(str, range(int(n)))))
