"""Addresses that others wrote lead to the internet or nowhere, however a server behaves."""

import asyncio
import random
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address

import aiohttp
import pytest

from bench_assets.core.schema.errors import SourceError
from bench_resources.datasets.download import DownloadRetryPolicy, FileDownloader, RemoteFile
from bench_resources.http.allowed_hosts import is_public
from bench_resources.images.download import ImageDownloadLimits, download_images

QUICK = ImageDownloadLimits(tries=1, pause=0.01, timeout=0.5, max_bytes=1000)


def is_loopback(address):
    return address.is_loopback


FORBIDDEN = [
    "http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://127.1:{port}/",
    "http://2130706433:{port}/", "http://0177.0.0.1:{port}/", "http://017700000001:{port}/",
    "http://0x7f.1:{port}/", "http://0x7f000001:{port}/", "http://127.0.0.1.:{port}/",
    "http://[::1]:{port}/", "http://[::ffff:127.0.0.1]:{port}/",
    "http://[::ffff:7f00:1]:{port}/", "http://0.0.0.0:{port}/", "http://0:{port}/",
    "http://[::]:{port}/", "http://user:word@127.0.0.1:{port}/", "http://LOCALHOST:{port}/",
    "http://①②⑦.⓪.⓪.①:{port}/", "http://127.0.0.1%2f@127.0.0.1:{port}/",
    "http://[fe80::1%25lo]:{port}/", "http://[64:ff9b::7f00:1]:{port}/",
    "http://127。0。0。1:{port}/", "http://224.0.0.1:{port}/",
]  # fmt: skip
MALFORMED = [
    "", "/etc/passwd", "file:///etc/passwd", "ftp://example.org/a.png", "gopher://127.0.0.1/",
    "http://", "http:///a.png", "http://[::1", "http://a:99999/", "http://a:b/", "http://a b/",
    "http://\0/", "https://\ud800/", "javascript:alert(1)", "data:image/png;base64,AAAA",
    "http://" + "a" * 300 + "/", "http://a..b/", "http://-/", "//127.0.0.1/", "http:127.0.0.1",
    "http://xn--a/", "http://1.2.3.4.5/", "http://256.256.256.256/", "http://[not-an-address]/",
]  # fmt: skip


@contextmanager
def serving(answer):
    """Answer every connection on a port of loopback; counts them."""
    received = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=speak, args=(connection,), daemon=True).start()

        def speak(connection):
            with connection:
                received.append(connection.recv(65536).split(b" ")[1].decode())
                try:
                    for piece in answer(received[-1]):
                        connection.sendall(piece)
                except OSError:
                    pass

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1], received
        listening.shutdown(socket.SHUT_RDWR)


def image(_path):
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nan image"


def redirected(target):
    def answer(_path):
        yield f"HTTP/1.1 302 Found\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()

    return answer


def fetch(folder, url, hosts=is_loopback, polite=QUICK):
    (row,) = download_images([url], folder, polite, random.Random(0), hosts=hosts)
    return row


@pytest.mark.parametrize("url", FORBIDDEN)
def test_no_way_of_writing_it_leads_to_this_machine(tmp_path, url):
    with serving(image) as (port, received):
        row = fetch(tmp_path, url.format(port=port), is_public)
        assert row.error
        assert received == []


@pytest.mark.parametrize("url", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_address_is_that_item_s_error(tmp_path, url):
    with serving(image) as (port, _):
        good = f"http://127.0.0.1:{port}/a.png"
        rows = download_images([url, good], tmp_path, QUICK, random.Random(0), hosts=is_loopback)
        assert [bool(row.error) for row in rows] == [True, False]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        pytest.param(
            "http://127.0.0.1:{port}/b", "not on the public internet", id="to this machine"
        ),
        pytest.param("http://localhost:{port}/b", "not on the public internet", id="by a name"),
        pytest.param(
            "http://169.254.169.254/", "not on the public internet", id="to a cloud's own data"
        ),
        pytest.param("file:///etc/passwd", "begins with http", id="to a file"),
    ],
)
def test_a_redirect_is_looked_at_like_an_address(tmp_path, target, message):
    with (
        serving(image) as (inside, received),
        serving(redirected(target.format(port=inside))) as (
            door,
            _,
        ),
    ):
        door_alone = iter([True])
        url = f"http://127.0.0.1:{door}/a"
        assert message in fetch(tmp_path, url, lambda _: next(door_alone, False)).error
        assert received == []


def test_a_name_is_looked_up_once_and_its_address_is_used(tmp_path, monkeypatch):
    answers = iter(["127.0.0.1", "127.0.0.2"])  # a name that is bound to another host in between
    real = socket.getaddrinfo

    def changing(host, *args, **more):
        return real(next(answers) if host == "rebound.test" else host, *args, **more)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    with serving(image) as (port, received):
        row = fetch(
            tmp_path, f"http://rebound.test:{port}/a", lambda it: it == ip_address("127.0.0.1")
        )
        assert row.error == ""
        assert received == ["/a"]
    assert next(answers) == "127.0.0.2"


def drip(_path):
    yield b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"
    for _ in range(40):
        time.sleep(0.05)
        yield b"x"


BOMB = b"\x1f\x8b" + b"\0" * 500


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(drip, "not complete in 0.5 s", id="a byte now and then"),
        pytest.param(lambda _: iter(()), "ServerDisconnected", id="nothing at all"),
        pytest.param(redirected("/again"), "redirected more than 10 times", id="round and round"),
        pytest.param(
            lambda _: iter([b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b"x" * 99999]),
            "more than the 1000 bytes",
            id="too much",
        ),
        pytest.param(
            lambda _: iter(
                [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 502\r\n\r\n", BOMB]
            ),
            "is compressed",
            id="something that may unpack to anything",
        ),
        pytest.param(
            lambda _: iter([b"HTTP/1.1 503 No\r\nRetry-After: 99999999999999\r\n\r\n"]),
            "HTTP 503",
            id="to come again in three million years",
        ),
    ],
)
def test_a_server_that_misbehaves_costs_its_own_image_only(tmp_path, answer, message):
    with serving(answer) as (port, _):
        started = time.monotonic()
        row = fetch(tmp_path, f"http://127.0.0.1:{port}/a", polite=replace(QUICK, tries=2))
        assert message in row.error
        assert row.error
        assert time.monotonic() - started < 10
        assert not list(tmp_path.glob("[!.]*"))


def test_a_release_that_drips_is_given_up(tmp_path):
    async def bring(port):
        patience = DownloadRetryPolicy(tries=2, pause=0.01, timeout=0.2)
        async with aiohttp.ClientSession() as session:
            downloads = FileDownloader(session, patience, lambda _: None)
            remote = RemoteFile(path="a.zip", url=f"http://127.0.0.1:{port}/a.zip", size=900)
            await downloads.fetch(remote, tmp_path / "a.zip")

    with serving(drip) as (port, _), pytest.raises(SourceError, match="slower than 1024 bytes"):
        asyncio.run(bring(port))


# Which addresses are on the internet.


INSIDE = [
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1",
    "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1",
    "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1",
    "255.255.255.255", "::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "fe80::1", "fec0::1", "fc00::1",
    "fd12:3456::1", "ff02::1", "ff0e::1", "2001:db8::1", "2001::1", "2002:7f00:1::", "100::1",
    "2001:10::1", "4000::1", "1::1",
]  # fmt: skip


@pytest.mark.parametrize("address", INSIDE)
def test_what_is_near_reserved_or_in_disguise_is_not_public(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111"])
def test_what_is_on_the_internet_is_public(address):
    assert is_public(ip_address(address))
