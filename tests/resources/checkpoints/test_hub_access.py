import os
import socket
import socketserver
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.hub_access import _ResponseClock

COMMIT = 40 * "a"
HEAD = f'ETag: "x"\r\nX-Repo-Commit: {COMMIT}\r\n'


def http_response(status: str, headers: str, body: str) -> bytes:
    end = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}"
    return f"HTTP/1.1 {status}\r\n{headers}{end}".encode()


RAW_RESPONSES = {
    "garbage": b"\0\1\2 nothing\r\n\r\n",
    "page": http_response("200 OK", HEAD, "<html>hello</html>"),
    "busy": http_response("503 Service Unavailable", "Retry-After: 3600\r\n", "later"),
    "down": http_response("500 Internal Server Error", "", "oh"),
    "half": http_response("200 OK", HEAD, 99 * "{")[:-90],
    "layers": http_response("404 Not Found", "X-Error-Code: EntryNotFound\r\n", ""),
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


class FailingHubHandler(socketserver.StreamRequestHandler):
    """Fails in the way that the owner of the requested repository is named after.

    Repositories of "layers" have modules.json, and no other file.
    """

    FAULTS = ("closed", "reset", "hang", *RAW_RESPONSES)

    def handle(self) -> None:
        path_names = self.rfile.readline().decode().replace(" ", "/").split("/")
        fault = next((fault for fault in self.FAULTS if fault in path_names), "")
        while self.rfile.readline().strip():
            pass
        match fault:
            case "reset":
                linger = struct.pack("ii", 1, 0)
                self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            case "hang":
                self.rfile.read(1)  # until the other side gives up
            case "layers" if "modules.json" in path_names:
                self.wfile.write(http_response("200 OK", HEAD, "[]"))
            case _:
                self.wfile.write(RAW_RESPONSES.get(fault, b""))


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), FailingHubHandler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def pin_from_hub(hub: str, cache: Path, *faults: str) -> dict[str, str]:
    """Pin a model by each fault of the hub, in a new process; returns a line of output by fault."""
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, *faults],
        env={**os.environ, "HF_ENDPOINT": hub, "HF_HOME": str(cache)},
        capture_output=True, text=True, check=True, timeout=600,
    )  # fmt: skip
    assert "Retrying" not in process.stderr
    assert "Trying" not in process.stderr
    return dict(zip(faults, process.stdout.splitlines(), strict=True))


@pytest.fixture(scope="module")
def hub_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hub")


@pytest.fixture(scope="module")
def messages(hub: str, hub_cache: Path) -> dict[str, str]:
    """What comes of each fault at once; one process for all, as its imports take seconds."""
    return pin_from_hub(hub, hub_cache, "closed", "reset", "garbage", "half", "page", "layers")


@pytest.mark.parametrize("fault", ["closed", "reset", "garbage", "half"])
def test_a_broken_connection_is_one_sentence_with_advice(hub, messages, fault):
    failed = f"{fault} ended with {hub}: the connection to the model hub failed: "
    assert messages[fault].startswith(failed)
    assert "or name a folder instead of a hub id" in messages[fault]


def test_a_repository_without_a_configuration_is_pinned_by_its_layers(messages):
    assert f"content='layers/m@{COMMIT}'" in messages["layers"]


def test_a_web_page_in_place_of_a_file_is_refused_and_not_kept(messages, hub_cache):
    assert "the hub sent a web page in its place" in messages["page"]
    assert not list(hub_cache.rglob("config.json"))


@pytest.mark.long
@pytest.mark.parametrize("fault", ["busy", "down", "hang"])
def test_a_hub_that_does_not_respond_is_given_up(hub: str, tmp_path: Path, fault: str) -> None:
    assert "ended with" in pin_from_hub(hub, tmp_path, fault)[fault]


class Clock:
    """Shows the time that a test sets."""

    now = 0.0  # s

    def __call__(self) -> float:
        return self.now


def hub_request() -> httpx.Request:
    return httpx.Request("GET", "http://hub/m", extensions={"timeout": {"read": 60.0}})


def test_the_timeouts_of_a_request_are_ten_seconds() -> None:
    request = hub_request()
    _ResponseClock(Clock()).begin(request)
    assert request.extensions["timeout"] == dict.fromkeys(("connect", "read", "write", "pool"), 10)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def unanswered(clock: Clock) -> _ResponseClock:
    """The hooks of a client that requests every 20 s, and got no response for 46 s."""
    hooks = _ResponseClock(clock)
    for clock.now in (0.0, 20.0, 40.0):
        hooks.begin(hub_request())
    clock.now = 46.0
    return hooks


def test_a_hub_without_a_response_for_long_gets_no_further_request(unanswered):
    with pytest.raises(ModelError, match="has not responded for 46 s"):
        unanswered.begin(hub_request())


def test_an_error_of_the_server_is_no_response(unanswered: _ResponseClock) -> None:
    unanswered.end(httpx.Response(500))
    with pytest.raises(ModelError, match="has not responded for 46 s"):
        unanswered.begin(hub_request())


def test_after_a_response_requests_are_sent_again(unanswered: _ResponseClock) -> None:
    unanswered.end(httpx.Response(404))
    unanswered.begin(hub_request())


def test_the_first_request_after_a_pause_is_sent(unanswered: _ResponseClock, clock: Clock) -> None:
    clock.now = 100.0  # a minute after the last request, as of another command
    unanswered.begin(hub_request())
