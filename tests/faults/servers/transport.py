import asyncio
import gzip
import zlib
from collections.abc import Callable

import orjson

from tests.faults.servers.misbehaviour import Expectation, Misbehaviour
from tests.faults.servers.server import Exchange, Misbehave, response


def _right(exchange: Exchange) -> bytes:
    return orjson.dumps(response(exchange.right))


def _wrong(exchange: Exchange) -> bytes:
    return orjson.dumps(response(exchange.wrong))


def _status(
    status: str, *headers: bytes, body: bytes = b'{"error": {"message": "no"}}'
) -> Misbehave:
    return lambda exchange: exchange.say(body, status, *headers)


def _raw(data, *, abort=False, close=True):
    """Send bytes as they are, then close or reset the connection."""

    async def misbehave(exchange: Exchange) -> None:
        await exchange.send(data(exchange))
        if abort:
            exchange.writer.transport.abort()
        elif close:
            exchange.writer.close()

    return misbehave


def _head(length: int, *headers: bytes) -> bytes:
    """Status line and headers; a negative length leaves Content-Length out."""
    lines = [b"HTTP/1.1 200 OK", b"Content-Type: application/json", *headers]
    lines += [b"Content-Length: %d" % length] if length >= 0 else []
    return b"\r\n".join(lines) + b"\r\n\r\n"


def _encoded(name: bytes, encode: Callable[[bytes], bytes], *, is_wrong: bool = False) -> Misbehave:
    """Send a response in a Content-Encoding."""

    def data(exchange: Exchange) -> bytes:
        body = encode(_wrong(exchange) if is_wrong else _right(exchange))
        return _head(len(body), b"Content-Encoding: " + name) + body

    return _raw(data, close=False)


def _chunked(split: Callable[[bytes], bytes], *, is_wrong: bool = True) -> Misbehave:
    """Send a response in chunks."""

    def data(exchange: Exchange) -> bytes:
        body = _wrong(exchange) if is_wrong else _right(exchange)
        return _head(-1, b"Transfer-Encoding: chunked") + split(body)

    return _raw(data)


def _bomb(mebibytes: int) -> Misbehave:
    """Send a gzip of blanks; one compressed block is repeated, which is faster."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(b" " * 2**20) + packer.flush(zlib.Z_FULL_FLUSH)
    body = b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + block * mebibytes
    return _raw(lambda _: _head(len(body), b"Content-Encoding: gzip") + body)


async def _drip(exchange: Exchange) -> None:
    for byte in _head(99_999) + _wrong(exchange):
        await exchange.send(bytes([byte]))
        await asyncio.sleep(0.05)


def _stalled(data: Callable[[Exchange], bytes]) -> Misbehave:
    async def misbehave(exchange: Exchange) -> None:
        await exchange.send(data(exchange))
        await asyncio.sleep(30)

    return misbehave


def _rows(
    expected: Expectation, cause: str, *misbehaviours: tuple[str, Misbehave], **fields: object
) -> list[Misbehaviour]:
    return [
        Misbehaviour(name=name, cause=cause, expected=expected, misbehave=misbehave, **fields)  # type: ignore[arg-type]
        for name, misbehave in misbehaviours
    ]


_STATUSES = (
    *("400 Bad Request", "401 Unauthorized", "404 Not Found", "408 Request Timeout", "418 X"),
    *("429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable", "529"),
    *("600 X", "204 No Content", "301 Moved Permanently", "304 Not Modified"),
)
_WAITS = (
    ("in the year 99999", b"Fri, 31 Dec 99999 23:59:59 GMT"),
    ("on no such day", b"Fri, 99 Foo 2026 99:99:99 GMT"),
    ("of 5000 digits", b"9" * 5000),
    ("that is nan", b"nan"),
    ("that is empty", b""),
)

STATUSES = [
    *_rows("lost", "a status", *((f"HTTP {status}", _status(status)) for status in _STATUSES)),
    *_rows(
        "lost",
        "HTTP 429 with Retry-After",
        *(
            (f"Retry-After {title}", _status("429 Too Many Requests", b"Retry-After: " + value))
            for title, value in _WAITS
        ),
    ),
    *_rows(
        "lost",
        "a status with a header",
        ("retry-after-ms of 400 digits", _status("503 X", b"retry-after-ms: " + b"9" * 400)),
        ("RetryInfo of 400 digits", _status("429 X", body=b'{"retryDelay": "%ss"}' % (b"9" * 400))),
        ("HTTP 302 to itself", _status("302 Found", b"Location: /v1/chat/completions")),
        ("HTTP 307 to a metadata address", _status("307 X", b"Location: http://169.254.169.254/")),
        ("HTTP 200 with a status of its own inside",
         _status("200 OK", body=b'{"status": 500, "message": "no"}')),
        ("an error of a mebibyte", _status("500 X", body=b"x" * 2**20)),
        ("an error nested 100,000 deep", _status("500 X", body=b'{"error":' * 10**5)),
    ),
    *_rows(
        "either",
        "a response with another status",
        ("HTTP 201 with a response", lambda a: a.say(_right(a), "201 Created")),
        ("HTTP 100 before the response",
         _raw(lambda a: b"HTTP/1.1 100 Continue\r\n\r\n" + _head(len(_right(a))) + _right(a))),
    ),
]  # fmt: skip

CONNECTIONS = [
    *_rows(
        "lost",
        "the connection",
        ("closed without a byte", _raw(lambda _: b"")),
        ("reset without a byte", _raw(lambda _: b"", abort=True)),
        ("closed behind the headers", _raw(lambda a: _head(len(_wrong(a))))),
        ("closed in the body", _raw(lambda a: _head(len(_wrong(a))) + _wrong(a)[:-20])),
        ("closed one byte before the end", _raw(lambda a: _head(len(_wrong(a)) + 1) + _wrong(a))),
        ("garbage instead of HTTP", _raw(lambda _: bytes(range(256)) * 4)),
        ("a body without a status line, as HTTP/0.9 has it", _raw(_wrong)),
        ("Content-Length that is negative",
         _raw(lambda a: _head(-1, b"Content-Length: -1") + _wrong(a))),
        ("Content-Length that is too small", _raw(lambda a: _head(9) + _wrong(a))),
        ("a header of a mebibyte",
         _raw(lambda a: _head(len(_wrong(a)), b"X: " + b"x" * 2**20) + _wrong(a))),
        ("a header with a NUL", _raw(lambda a: _head(len(_wrong(a)), b"X: a\0b") + _wrong(a))),
        ("two different Content-Lengths",
         _raw(lambda a: _head(len(_wrong(a)), b"Content-Length: 7") + _wrong(a))),
        ("a chunk whose size is no number", _chunked(lambda b: b"zz\r\n" + b + b"\r\n0\r\n\r\n")),
        ("a chunk of 2**64 bytes", _chunked(lambda b: b"ffffffffffffffff\r\n" + b)),
    ),
    *_rows(
        "lost",
        "a Content-Encoding",
        ("an encoding that nobody knows", _encoded(b"x-rot13", bytes.swapcase, is_wrong=True)),
        ("a gzip of 8 MiB of blanks", _bomb(8)),
    ),
    *_rows("lost", "a gzip of 1 GiB of blanks, in 1 MB", ("a gzip bomb", _bomb(1024)), short=False),
    *_rows(
        "kept",
        "a response, sent in another way",
        ("gzip", _encoded(b"gzip", gzip.compress)),
        ("chunks", _chunked(lambda b: b"%x\r\n%s\r\n0\r\n\r\n" % (len(b), b), is_wrong=False)),
        ("closed behind the response", _raw(lambda a: _head(len(_right(a))) + _right(a))),
        ("a hundred cookies", lambda a: a.say(
            _right(a), "200 OK", *(b"Set-Cookie: c%d=1" % n for n in range(100)))),
    ),
    *_rows(
        "either",
        "a response, and something behind it",
        ("bytes behind the response", _raw(lambda a: _head(len(_right(a))) + _right(a) + b"junk",
                                        close=False)),
        ("a second response that nobody asked for", _raw(
            lambda a: _head(len(_right(a))) + _right(a) + _head(len(_wrong(a))) + _wrong(a),
            close=False)),
        ("chunks with a trailer", _chunked(
            lambda b: b"%x\r\n%s\r\n0\r\nX: y\r\n\r\n" % (len(b), b), is_wrong=False)),
        ("no Content-Length, closed at the end", _raw(lambda a: _head(-1) + _right(a))),
    ),
    *_rows(
        "lost",
        "time",
        ("silence instead of a response", _stalled(lambda _: b"")),
        ("silence in the body", _stalled(lambda a: _head(9999) + _wrong(a))),
        ("one byte at a time, for ever", _drip),
        timeout=0.3,
        short=False,
    ),
]  # fmt: skip
