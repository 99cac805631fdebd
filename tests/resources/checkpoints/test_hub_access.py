"""A hub that fails is one sentence, and is not waited for long."""

import os
import socket
import socketserver
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import _ResponseClock

COMMIT = 40 * "a"
HEAD = f'ETag: "x"\r\nX-Repo-Commit: {COMMIT}\r\n'


def raw_answer(status: str, headers: str, body: str) -> bytes:
    """A response."""
    end = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    return f"HTTP/1.1 {status}\r\n{headers}{end}".encode()


RAW_ANSWERS = {
    "garbage": b"\0\1\2 nothing\r\n\r\n",
    "page": raw_answer("200 OK", HEAD, "<html>hello</html>"),
    "busy": raw_answer("503 Service Unavailable", "Retry-After: 3600\r\n", "later"),
    "down": raw_answer("500 Internal Server Error", "", "oh"),
    "half": raw_answer("200 OK", HEAD, 99 * "{")[:-90],
}
PROGRAM = """
import sys, time
time.sleep = lambda _: None  # between the library's five tries
from bench_assets.core.schema.errors import BenchError
from bench_resources.checkpoints.identity import pin
for fault in sys.argv[1:]:
    try:
        print(fault, pin(f"{fault}/m"))
    except BenchError as why:
        print(fault, "ended with", why)
"""


class Faults(socketserver.StreamRequestHandler):
    """Fails as the owner of the repository is called."""

    KINDS = ("closed", "reset", "hang", *RAW_ANSWERS)

    def handle(self) -> None:
        parts = self.rfile.readline().decode().split("/")
        fault = next((kind for kind in self.KINDS if kind in parts), "")
        while self.rfile.readline().strip():
            pass
        match fault:
            case "reset":
                linger = struct.pack("ii", 1, 0)
                self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            case "hang":
                self.rfile.read(1)  # until the other side gives up
            case _:
                self.wfile.write(RAW_ANSWERS.get(fault, b""))


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
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, *faults],
        env={**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(cache)},
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    assert "Retrying" not in process.stderr
    assert "Trying" not in process.stderr
    return process.stdout.splitlines()


def test_a_connection_that_breaks_off_is_one_sentence_and_no_page_is_kept(
    hub: str, tmp_path: Path
) -> None:
    faults = ("closed", "reset", "garbage", "half", "page")
    *broken, page = messages = ask(hub, tmp_path, *faults)
    assert tuple(line.split()[0] for line in messages) == faults
    for line in broken:
        assert f"ended with {hub}: the connection to the model hub failed: " in line
        assert "or name a folder instead of a hub id" in line
    assert "the hub sent a web page in its place" in page
    assert not list(tmp_path.rglob("config.json"))


@pytest.mark.long
@pytest.mark.parametrize("fault", ["busy", "down", "hang"])
def test_a_hub_that_does_not_answer_is_given_up(hub: str, tmp_path: Path, fault: str) -> None:
    (message,) = ask(hub, tmp_path, fault)
    assert "ended with" in message


def test_requests_are_bounded_and_not_sent_for_ever() -> None:
    now = [0.0]
    waits = _ResponseClock(lambda: now[0])
    request = httpx.Request("GET", "http://hub/m", extensions={"timeout": {"read": 60.0}})
    for at in (0.0, 20.0, 40.0):
        now[0] = at
        waits.begin(request)
    assert request.extensions["timeout"] == dict.fromkeys(("connect", "read", "write", "pool"), 10)
    now[0] = 46.0
    with pytest.raises(ModelError, match="has not responded for 46 s"):
        waits.begin(request)
    waits.end(httpx.Response(500))
    with pytest.raises(ModelError):
        waits.begin(request)
    waits.end(httpx.Response(404))
    waits.begin(request)  # it has answered
    now[0] = 100.0
    waits.begin(request)  # another command
