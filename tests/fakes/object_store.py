"""An S3 store for tests, moto's in another process, and a proxy that can fail."""

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
# One request at a time: moto's conditional writes are not atomic, as those of reliable stores are.
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
    """Serve an empty store during the block; yield its endpoint."""
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
    headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20261122/us-east-1/s3/aws4_request"}
    request = urllib.request.Request(f"{endpoint}/{name}", method="PUT", headers=headers)
    with urllib.request.urlopen(request, timeout=30):
        return f"s3://{name}"


class Front(ThreadingHTTPServer):
    """A proxy of a store, which can answer with errors instead."""

    def __init__(self, store: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.store = store
        self.answer = 0
        """Status of all responses; 0: the store's responses."""
        self.taken_but_answered = 0
        """Status of the response to the next PUT, which the store still performs; 0: its own."""
        self.ignores_conditions = False
        self.requests: list[str] = []
        Thread(target=self.serve_forever, daemon=True).start()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def away_for(self, seconds: float, status: int = 503) -> None:
        """Answer every request with an error for some seconds."""
        self.answer = status
        Thread(target=self._end_failure_after, args=(seconds,), daemon=True).start()

    def _end_failure_after(self, seconds: float) -> None:
        time.sleep(seconds)
        self.answer = 0


class _Handler(BaseHTTPRequestHandler):
    server: Front

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append(f"{self.command} {self.path}")
        if self.server.answer:
            self._respond(self.server.answer, b"<Error><Code>SlowDown</Code></Error>", {})
            return
        headers = dict(self.headers)
        if self.server.ignores_conditions:
            headers = {key: text for key, text in headers.items() if key.lower() != "if-none-match"}
        connection = HTTPConnection(self.server.store.removeprefix("http://"), timeout=30)
        with closing(connection):
            connection.request(self.command, self.path, body or None, headers)
            response = connection.getresponse()
            status, content, headers = response.status, response.read(), dict(response.headers)
        if self.command == "PUT" and self.server.taken_but_answered:
            status, self.server.taken_but_answered = self.server.taken_but_answered, 0
        self._respond(status, content, headers)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _forward  # noqa: N815

    def _respond(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        length = headers.get("Content-Length") if self.command == "HEAD" else None
        for name, value in headers.items():
            if name.lower() in ("etag", "last-modified", "content-type"):
                self.send_header(name, value)
        self.send_header("Content-Length", length or str(len(content)))
        self.end_headers()
        with suppress(BrokenPipeError):
            self.wfile.write(b"" if self.command == "HEAD" else content)

    def log_message(self, *_: object) -> None:
        """Log no requests."""
