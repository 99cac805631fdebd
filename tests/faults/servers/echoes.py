"""Servers that say our key back to us, wherever they can."""

import json

import orjson

from tests.faults.homes import KEY
from tests.faults.servers.misbehaviour import Misbehaviour, Must
from tests.faults.servers.server import Exchange, Misbehave, response

_KEY = KEY.encode()
_PAGE = b"<html><body>Denied: Authorization: Bearer %s</body></html>" % _KEY
_ESCAPED = b"".join(b"\\u%04x" % byte for byte in _KEY)


def _says(body: bytes, status: str = "200 OK", *headers: bytes) -> Misbehave:
    return lambda exchange: exchange.say(body, status, *headers)


def _sends(data: bytes) -> Misbehave:
    async def misbehave(exchange: Exchange) -> None:
        await exchange.send(data)
        exchange.writer.close()

    return misbehave


def _error(text: str) -> bytes:
    return orjson.dumps({"error": {"message": text}})


def _in_response(**more: object) -> Misbehave:
    return lambda exchange: exchange.say(orjson.dumps(response(exchange.right, **more)))


def _row(must: Must, name: str, misbehave: Misbehave) -> Misbehaviour:
    return Misbehaviour(
        name=f"the key {name}", made="says our key back", must=must, misbehave=misbehave
    )


ECHOES = [
    *(
        _row("lost", name, misbehave)
        for name, misbehave in (
            ("in a page of HTML with HTTP 200", _says(_PAGE)),
            ("in an error with HTTP 200", _says(_error(f"bad key {KEY}"))),
            ("in an error with HTTP 401", _says(_error(f"bad key {KEY}"), "401 X")),
            ("in an error, escaped", _says(b'{"error": {"message": "%s"}}' % _ESCAPED, "400 X")),
            ("in an error, cut at the 300th character", _says(_error("x" * 275 + KEY), "400 X")),
            ("in the code of an error", _says(
                json.dumps({"error": {"message": "no", "code": KEY}}).encode(), "400 X")),
            ("in the reason of the status", _says(b"{}", f"500 {KEY}")),
            ("in finish_reason", lambda exchange: exchange.say(orjson.dumps(
                {"choices": [{"index": 0, "message": {"content": exchange.wrong},
                              "finish_reason": KEY}]}))),
            ("in a malformed header", _sends(
                b"HTTP/1.1 200 OK\r\nX-Echo\0: Bearer %s\r\n\r\n" % _KEY)),
            ("instead of HTTP", _sends(_KEY)),
            ("in Content-Length", _sends(b"HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n" % _KEY)),
            ("in Location", _says(b"", "302 Found", b"Location: http://x/?key=%s" % _KEY)),
            ("in Retry-After", _says(b"{}", "429 X", b"Retry-After: %s" % _KEY)),
        )
    ),
    _row("stops", "in the model's name", _in_response(model=KEY)),
    _row("stops", "in the build of the model", _in_response(id=KEY, system_fingerprint=KEY)),
    *(
        _row("either", name, misbehave)
        for name, misbehave in (
            ("in the text of a response", lambda exchange: exchange.say(
                orjson.dumps(response(f"{exchange.right}\n\nBearer {KEY}")))),
            ("in a thought", lambda exchange: exchange.say(
                orjson.dumps(response(f"<think>The key is {KEY}.</think>{exchange.right}")))),
        )
    ),
]  # fmt: skip
