"""A server that echoes the key it was sent, in responses that are composed byte by byte.

In a test:

    with EchoingServer([ECHOES["a page"]]) as server:
        ask(server.base_url)
"""

import gzip
import itertools
import json
import socketserver
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self
from urllib.parse import quote

Echo = Callable[[str], bytes]  # key -> response with headers

_PADDING = "The request was not understood. " * 9  # 288 characters: messages are cut at 300


class EchoingServer:
    """Answers each request with the next echo, and with the first one after the last."""

    def __init__(self, echoes: Sequence[Echo]) -> None:
        self._next = itertools.cycle(echoes)
        self._lock = threading.Lock()
        self.keys: list[str] = []  # of all requests, in order
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                key = outer._read(self.rfile)
                self.wfile.write(outer._answer(key))

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _read(self, request: Any) -> str:
        key, length = "", 0
        while line := request.readline().strip():
            name, _, value = line.decode().partition(": ")
            key = value.removeprefix("Bearer ") if name.lower() == "authorization" else key
            length = int(value) if name.lower() == "content-length" else length
        request.read(length)
        return key

    def _answer(self, key: str) -> bytes:
        with self._lock:
            self.keys.append(key)
            return next(self._next)(key)


def answer(body: str | bytes, status: str = "200 OK", headers: str = "") -> bytes:
    data = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status}\r\n{headers}Content-Length: {len(data)}\r\nConnection: close\r\n\r\n"
    return head.encode() + data


def completion(text: str, **fields: object) -> str:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    choice |= {"finish_reason": fields.pop("finish_reason", "stop")}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return json.dumps({"choices": [choice], "usage": usage, **fields})


def error(message: str, status: str = "400 Bad Request") -> bytes:
    return answer(json.dumps({"error": {"message": message}}), status)


RESPONSES: Mapping[str, Echo] = {
    "a text": lambda key: answer(completion(f"B, and your key is {key}")),
    "a text in URL encoding": lambda key: answer(completion(f"?q={quote(key, safe='')}")),
    "escapes of JSON": lambda key: answer(completion("@").replace("@", key.replace("/", "\\/"))),
    "gzip": lambda key: answer(
        gzip.compress(completion(key).encode()), headers="Content-Encoding: gzip\r\n"
    ),
    "its name of the model": lambda key: answer(completion("B", model=key)),
    "the finish_reason": lambda key: answer(completion("B", finish_reason=key)),
    "a thought": lambda key: answer(
        completion("B").replace('"role"', f'"reasoning": {json.dumps(key)}, "role"')
    ),
}
FAILURES: Mapping[str, Echo] = {
    "a page": lambda key: answer(f"<html>Hello {key}</html>"),
    "a page's title": lambda key: answer(f"<html><title>{key}</title></html>"),
    "where a message is cut": lambda key: error(f"{_PADDING}{key}"),
    "where a page stops being read": lambda key: answer(f"{' ' * 65_530}{key}"),
    "a list of fields": lambda key: answer(
        json.dumps({"detail": [{"loc": ["header", key], "msg": "no"}]}), "400 Bad Request"
    ),
    "a code": lambda key: answer(json.dumps({"error": {"code": key}}), "400 Bad Request"),
    "a redirect": lambda key: answer("", "302 Found", f"Location: http://x/?key={key}\r\n"),
    "a refusal": lambda key: error(f"Incorrect API key: {key}", "401 Unauthorized"),
    "a Retry-After": lambda key: answer("no", "503 No", f"Retry-After: {key}\r\n"),
}
BROKEN: Mapping[str, Echo] = {
    "a header without a colon": lambda key: answer("{}", headers=f"Authorization {key}\r\n"),
    "a header with a control character": lambda key: answer("{}", headers=f"X-Key: {key}\0\r\n"),
    "a name of a header": lambda key: answer("{}", headers=f"{key} : 1\r\n"),
    "the status line": lambda key: answer("{}", status=f"{key} OK"),
    "a header that is too long": lambda key: answer("{}", headers=f"X: {key}{'x' * 9_000}\r\n"),
    "a header with a length that is cut": lambda key: answer(
        "{}", headers=f"X: {'x' * 8_180}{key}\r\n"
    ),
    "the size of a chunk": lambda key: (
        f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{key}\r\n{{}}\r\n0\r\n\r\n".encode()
    ),
    "an encoding": lambda key: answer("{}", headers=f"Content-Encoding: {key}\r\n"),
    "a body that is no gzip": lambda key: answer(key, headers="Content-Encoding: gzip\r\n"),
    "a body that ends early": lambda key: answer(f"{key}{' ' * 99}")[:-99],
}
ECHOES: Mapping[str, Echo] = {**RESPONSES, **FAILURES, **BROKEN}
