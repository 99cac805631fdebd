"""How answers travel: packed, in other encodings, cut short, and far too large."""

import gzip
import re
import tracemalloc
import zlib

import pytest

from tests.resources.models.api.asking import ask
from tests.resources.models.api.raw_server import http, saying

BODY = b'{"choices":[{"index":0,"message":{"content":"\xc3\xa9"},"finish_reason":"stop"}]}'
MIB = 2**20


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(http(BODY), id="as it is"),
        pytest.param(http(gzip.compress(BODY), "Content-Encoding: gzip"), id="gzip"),
        pytest.param(http(zlib.compress(BODY), "Content-Encoding: deflate"), id="deflate"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n" + BODY, id="as long as the connection is open"),
        pytest.param(
            http(BODY, "Content-Type: application/json; charset=latin-1"),
            id="UTF-8, whatever it says of itself",
        ),
    ],
)
def test_a_response_is_read(answer: bytes) -> None:
    with saying(answer) as url:
        (response,) = ask(url, "?")
    assert (response.text, response.error) == ("é", "")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        pytest.param(http(BODY, "Content-Encoding: gzip"), "broke", id="gzip in name only"),
        pytest.param(http(gzip.compress(BODY)), "not JSON", id="gzip, and it does not say so"),
        pytest.param(http(BODY[:40], length=len(BODY)), "broke", id="hangs up in the middle"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n" + BODY[:40], "not JSON", id="without a length"),
        pytest.param(http(BODY.decode().encode("utf-16")), "not JSON", id="UTF-16"),
        pytest.param(http(BODY, status="206 Partial Content"), "HTTP 206", id="a part"),
        pytest.param(http(b"<title>Log in</title>"), "a web page: Log in", id="a page with 200"),
        pytest.param(b"", "broke", id="nothing"),
    ],
)
def test_no_response(answer: bytes, error: str) -> None:
    with saying(answer) as url:
        first, second = ask(url, "a", "b", max_tries=1, concurrency=9)
    assert re.search(error, first.error)
    assert re.search(error, second.error)


def packed(n_bytes: int) -> bytes:
    packer = zlib.compressobj(wbits=31)
    return packer.compress(b'"' + b" " * n_bytes + b'"') + packer.flush()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(http(packed(64 * MIB), "Content-Encoding: gzip"), id="64 MiB in 64 KiB"),
        pytest.param(http(b" " * MIB, length=17 * MIB), id="by what it says"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (17 * MIB), id="by what comes"),
    ],
)
def test_what_is_too_large_is_an_error_and_not_kept_in_memory(answer: bytes) -> None:
    with saying(answer) as url:
        tracemalloc.start()
        (response,) = ask(url, "?", max_tries=1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert re.fullmatch(r"HTTP \d+ with a body of more than 16 MiB.*", response.error)
    assert peak < 40 * MIB
