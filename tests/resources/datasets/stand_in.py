"""A hub and a web server on loopback, with faults that tests set."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

COMMIT = "6c" * 20
REPOSITORY = "authors/suite"


class StandIn:
    """State of the server: its files, its faults, and the requests that it got."""

    def __init__(self, files: Mapping[str, bytes], lfs: tuple[str, ...] = ()) -> None:
        self.files = dict(files)
        self.lfs = lfs
        self.requests: list[tuple[str, str]] = []  # path, range
        self.refusals: list[tuple[int, dict[str, str]]] = []  # status and headers of the next
        self.break_after = 0  # bytes of each answer, while it is set
        self.resumes = True  # whether it heeds the header Range
        self.served: dict[str, bytes] = {}  # path -> what is served instead
        self.needs_terms = False
        self.listed: dict[str, object] = {}  # fields of each file in the listing, added or replaced
        self.url = ""

    def siblings(self) -> list[dict[str, object]]:
        """Entries of the files in the hub's description of the repository."""
        entries = []
        for path, data in self.files.items():
            entry: dict[str, object] = {
                "rfilename": path,
                "size": len(data),
                "blobId": hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest(),
            }
            if path in self.lfs:
                sha256 = hashlib.sha256(data).hexdigest()
                entry["lfs"] = {"sha256": sha256, "size": 1, "pointerSize": 1}
            entries.append(entry | self.listed)
        return entries


class _Handler(BaseHTTPRequestHandler):
    state: ClassVar[StandIn]

    def do_GET(self) -> None:
        state, path = self.state, self.path.partition("?")[0]
        state.requests.append((path, self.headers.get("Range", "")))
        if path.startswith("/api/"):
            self._send_description(path)
        elif state.refusals:
            status, headers = state.refusals.pop(0)
            self._send(status, b"not now", headers)
        else:
            self._serve(path.rpartition(f"/resolve/{COMMIT}/")[2].lstrip("/"))

    def _send_description(self, path: str) -> None:
        if f"/datasets/{REPOSITORY}/revision/" not in path:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})
        elif path.endswith("/nowhere"):
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        elif self.state.needs_terms:
            self._send(403, b"{}", {"X-Error-Code": "GatedRepo"})
        else:
            description = {"id": REPOSITORY, "sha": COMMIT, "siblings": self.state.siblings()}
            self._send(200, json.dumps(description).encode(), {"Content-Type": "application/json"})

    def _serve(self, name: str) -> None:
        if name not in self.state.files:
            self._send(404, b"", {})
            return
        data = self.state.served.get(name, self.state.files[name])
        start = int(self.headers.get("Range", "bytes=0-")[6:-1]) if self.state.resumes else 0
        self._send(206 if start else 200, data[start:], {}, self.state.break_after)

    def _send(self, status, body, headers, break_after=0):
        self.send_response(status)
        for header, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body[: break_after or None])

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serving(state: StandIn) -> Iterator[StandIn]:
    with ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Handler", (_Handler,), {"state": state})
    ) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        state.url = f"http://127.0.0.1:{server.server_port}"
        yield state
        server.shutdown()
