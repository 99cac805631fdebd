"""A hub that fails is one sentence, and is not waited for long."""

import os
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

COMMIT = 40 * "a"
HEAD = f'ETag: "x"\r\nX-Repo-Commit: {COMMIT}\r\n'


def said(status: str, headers: str, body: str) -> bytes:
    """A response."""
    end = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    return f"HTTP/1.1 {status}\r\n{headers}{end}".encode()


SAID = {
    "garbage": b"\0\1\2 nothing\r\n\r\n",
    "page": said("200 OK", HEAD, "<html>hello</html>"),
    "busy": said("503 Service Unavailable", "Retry-After: 3600\r\n", "later"),
    "down": said("500 Internal Server Error", "", "oh"),
    "half": said("200 OK", HEAD, 99 * "{")[:-90],
}
PROGRAM = """
import sys
from bench_assets.core.schema.errors import BenchError
from resources.checkpoints.identity import Checkpoint, pin
from resources.models.transformers.sampling import _file
for fault in sys.argv[1:]:
    asks = [lambda: pin(f"{fault}/m"), lambda: _file(Checkpoint(location=f"{fault}/m", content=""))]
    for ask in asks[: 1 if fault == "page" else 2]:
        try:
            print(fault, ask())
        except BenchError as why:
            print(fault, "ended with", why)
"""


class Faults(socketserver.StreamRequestHandler):
    """Fails as the owner of the repository is called."""

    KINDS = ("closed", "reset", "hang", *SAID)

    def handle(self) -> None:
        fault = self.rfile.readline().decode().split(" ")[1].strip("/").split("/")[0]
        while self.rfile.readline().strip():
            pass
        match fault:
            case "reset":
                linger = struct.pack("ii", 1, 0)
                self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            case "hang":
                self.rfile.read(1)  # until the other side gives up
            case _:
                self.wfile.write(SAID.get(fault, b""))


@contextmanager
def failing_hub() -> Iterator[str]:
    """Its address."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Faults) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    with failing_hub() as address:
        yield address


def ask(hub: str, cache: Path, *faults: str) -> list[str]:
    asked = subprocess.run(
        [sys.executable, "-c", PROGRAM, *faults],
        env={**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(cache)},
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    return asked.stdout.splitlines()


def test_a_connection_that_breaks_off_is_one_sentence(hub: str, tmp_path: Path) -> None:
    said = ask(hub, tmp_path, "closed", "reset", "garbage")
    assert [line.split()[0] for line in said] == ["closed"] * 2 + ["reset"] * 2 + ["garbage"] * 2
    for line in said:
        assert f"ended with {hub}: the model hub broke off: " in line
        assert "or name a folder instead of a hub id" in line


def test_a_page_in_place_of_a_file_is_refused_and_not_kept(hub: str, tmp_path: Path) -> None:
    (said,) = ask(hub, tmp_path, "page")
    assert "the hub sent a page in its place" in said
    assert not list(tmp_path.rglob("config.json"))


def test_an_address_where_nothing_listens_is_known_at_once(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        (said,) = ask(f"http://127.0.0.1:{unused.getsockname()[1]}", tmp_path, "page")
    assert "the hub cannot be reached, and the local cache has no config.json" in said


@pytest.mark.long
def test_a_hub_that_asks_for_an_hour_is_given_up_within_two_minutes(
    hub: str, tmp_path: Path
) -> None:
    started = time.monotonic()
    said = ask(hub, tmp_path, "busy")
    assert all("ended with" in line and "\n" not in line for line in said)
    assert time.monotonic() - started < 120
