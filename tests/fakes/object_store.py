"""A store that speaks S3, for tests: moto's, in a process of its own, and one that can be away."""

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from threading import Thread

import pytest

KEYS = {
    "AWS_ACCESS_KEY_ID": "bench-tests-id",
    "AWS_SECRET_ACCESS_KEY": "bench-tests-secret-word",
    "AWS_REGION": "us-east-1",
}
# One request after the other: where two come at once, moto looks whether an object is there and
# writes it in two steps, which a store that may be relied on does in one.
_SERVE = """
import sys
from threading import Lock, Thread
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

app, one_at_a_time = DomainDispatcherApplication(create_backend_app), Lock()

def answer(environ, start):
    with one_at_a_time:
        return [b"".join(app(environ, start))]

server = make_server("127.0.0.1", 0, answer, threaded=True)
Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
"""


@contextmanager
def moto() -> Iterator[str]:
    """Serve an empty store during the block; yields its endpoint."""
    if not (find_spec("moto") and find_spec("obstore")):
        pytest.skip("no moto or obstore here: make cluster-check installs them")
    command = [sys.executable, "-W", "ignore", "-c", _SERVE]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, text=True) as server:
        assert server.stdout
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.terminate()


def make_bucket(endpoint: str, name: str) -> str:
    """Make a bucket, and return its address."""
    sent = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20261122/us-east-1/s3/aws4_request"}
    request = urllib.request.Request(f"{endpoint}/{name}", method="PUT", headers=sent)
    with urllib.request.urlopen(request, timeout=30):
        return f"s3://{name}"


class Front(ThreadingHTTPServer):
    """Stands before a store: passes everything on, or answers what it is told to."""

    def __init__(self, behind: str) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.behind = behind
        self.answer = 0
        """The status that is answered to everything; 0: what the store answers."""
        self.taken_but_answered = 0
        """The status that is answered once to a put that the store has taken."""
        self.ignores_conditions = False
        self.asked: list[str] = []
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def away_for(self, seconds: float, status: int = 503) -> None:
        """Answer every request with an error for some seconds."""
        self.answer = status
        Thread(target=self._back_after, args=(seconds,), daemon=True).start()

    def _back_after(self, seconds: float) -> None:
        time.sleep(seconds)
        self.answer = 0


class _Passing(BaseHTTPRequestHandler):
    server: Front

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(f"{self.command} {self.path}")
        if self.server.answer:
            self._say(self.server.answer, b"<Error><Code>SlowDown</Code></Error>", {})
            return
        sent = dict(self.headers)
        if self.server.ignores_conditions:
            sent = {name: value for name, value in sent.items() if name.lower() != "if-none-match"}
        behind = HTTPConnection(self.server.behind.removeprefix("http://"), timeout=30)
        with closing(behind):
            behind.request(self.command, self.path, body or None, sent)
            answer = behind.getresponse()
            status, content, headers = answer.status, answer.read(), dict(answer.headers)
        if self.command == "PUT" and self.server.taken_but_answered:
            status, self.server.taken_but_answered = self.server.taken_but_answered, 0
        self._say(status, content, headers)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815

    def _say(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        length = headers.get("Content-Length") if self.command == "HEAD" else None
        kept = ("etag", "last-modified", "content-type")
        for name, value in headers.items():
            if name.lower() in kept:
                self.send_header(name, value)
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        with suppress(BrokenPipeError):
            self.wfile.write(b"" if self.command == "HEAD" else content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
