"""Servers that others announce are asked where they answer, and have the weights that are meant."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from resources.models.managed.process import ReadinessProbe
from resources.models.managed.service_discovery import AnnouncedServers, why_not

ASKED = ReadinessProbe(health="/health", model="m", path=str(Path(__file__).parent), within=1)
OURS = {"/health": (200, {}), "/v1/models": (200, {"data": [{"id": "m", "root": ASKED.path}]})}
Pages = dict[str, tuple[int, object]]


class Announcing(BaseHTTPRequestHandler):
    """Answers what its server says."""

    server: "Known"

    def do_GET(self) -> None:
        self.server.seen.append(self.path)
        time.sleep(self.server.late)
        status, said = self.server.pages.get(self.path, (404, {}))
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


class Known(ThreadingHTTPServer):
    """A server that says what it is told to."""

    daemon_threads = True

    def __init__(self, pages: Pages) -> None:
        super().__init__(("127.0.0.1", 0), Announcing)
        self.pages = pages
        self.late = 0.0
        self.seen: list[str] = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def served(pages: Pages) -> Iterator[Known]:
    with Known(pages) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        yield server
        server.shutdown()


def listing(**said: str) -> Pages:
    return OURS | {"/v1/models": (200, {"data": [said]})}


@pytest.mark.parametrize(
    ("pages", "why"),
    [
        pytest.param(OURS, "", id="the weights"),
        pytest.param(listing(id="m"), "", id="no folder is named"),
        pytest.param(
            listing(id="m", root="/"), f"it says that m is /, not {ASKED.path}", id="other weights"
        ),
        pytest.param(OURS | {"/health": (503, {})}, "HTTP 503", id="not well"),
        pytest.param(OURS | {"/health": (404, {})}, "", id="no page for its health"),
        pytest.param({}, "HTTP 404", id="a stranger"),
    ],
)
def test_whether_one_is_what_was_meant(pages: Pages, why: str) -> None:
    with served(pages) as server:
        assert why_not(server.address, ASKED) == why


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://127.0.0.1:{dead_port}/v1", "refused"),
        ("http://no-such-machine.invalid:80/v1", "not known|resolution"),
        ("http://127.0.0.1:port/v1", "port"),
        ("http://[/v1", "Invalid IPv6"),
        (f"http://{'a' * 70}.b:1/v1", "label too long|too long"),
    ],
)
def test_what_cannot_be_reached_is_no_error(address: str, why: str, dead_port: int) -> None:
    found = why_not(address.format(dead_port=dead_port), ASKED)
    assert found
    assert any(one in found for one in why.split("|")), found


def test_one_that_cannot_be_asked_is_told_once_and_left_for_a_while(
    caplog: pytest.LogCaptureFixture, dead_port: int
) -> None:
    gone = f"http://127.0.0.1:{dead_port}/v1"
    with served(OURS | {"/health": (503, {})}) as server:
        announced = AnnouncedServers(ASKED, again=3600)
        with caplog.at_level(logging.WARNING, "bench_assets.server"):
            for _ in range(3):
                assert announced.those_of([gone, server.address]) == []
        assert len(caplog.records) == 2
        assert caplog.messages[1] == f"{server.address} is announced, but not used: HTTP 503"
        assert server.seen == ["/health"]


def test_then_it_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    with served(OURS | {"/health": (503, {})}) as server:
        announced = AnnouncedServers(ASKED, again=0)
        for _ in range(3):
            assert announced.those_of([server.address]) == []
        server.pages = OURS
        assert announced.those_of([server.address]) == [server.address]
    assert len(caplog.records) == 1


def test_which_models_one_has_is_asked_once(caplog: pytest.LogCaptureFixture) -> None:
    with served(OURS) as server:
        announced = AnnouncedServers(ASKED)
        for _ in range(3):
            assert announced.those_of([server.address]) == [server.address]
        assert server.seen == ["/health", "/v1/models", "/health", "/health"]
        server.shutdown()
        server.server_close()
        assert announced.those_of([server.address]) == []
    assert len(caplog.records) == 1


def test_one_that_has_much_to_do_stays_for_some_looks() -> None:
    with served(OURS) as server:
        announced = AnnouncedServers(ASKED, again=0, within=0.2)
        while not announced.those_of([server.address]):
            pass  # this machine has much to do itself
        server.late = 1
        looks = [bool(announced.those_of([server.address])) for _ in range(6)]
        assert looks == [True, True, True, True, False, False]
