"""A server that speaks the little of the hub's API that revisions need."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar

from huggingface_hub import HfApi

OLD, NEW, EMPTY = "a" * 40, "b" * 40, "c" * 40
REFS = {"main": NEW, "step-900": OLD, "step-1000": NEW, "readme only": EMPTY}
FILES = {
    OLD: ["config.json", "model.safetensors"],
    NEW: ["config.json", "model-1-of-1.safetensors", "model.safetensors.index.json"],
    EMPTY: ["README.md"],
}


class Hub(BaseHTTPRequestHandler):
    paths: ClassVar[list[str]] = []
    broken: ClassVar[bytes] = b""  # what is said of org/broken

    def do_GET(self) -> None:
        self.paths.append(self.path)
        _, _, _, _, name, what, *rest = self.path.partition("?")[0].split("/")
        if name == "broken":
            self._send(self.broken)
            return
        if name != "vlm":
            self.send_error(404)
            return
        answer: Any = (
            {
                "branches": [
                    {"name": ref, "ref": f"refs/heads/{ref}", "targetCommit": commit}
                    for ref, commit in REFS.items()
                ],
                "converts": [],
                "tags": [],
            }
            if what == "refs"
            else [{"type": "file", "path": path, "size": 1, "oid": "0"} for path in FILES[rest[0]]]
        )
        self._send(json.dumps(answer).encode())

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@contextmanager
def running_hub() -> Iterator[HfApi]:
    """A client of the server, which has listed nothing yet."""
    Hub.paths.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield HfApi(endpoint=f"http://127.0.0.1:{server.server_port}", token=False)
        server.shutdown()
