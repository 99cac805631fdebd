"""Addresses in other people's data: none may reach this machine or its network."""

import http.server
import random
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from bench_resources.images.download import ImageDownloadLimits, download_images
from tests.faults.image_files import photo, saved
from tests.faults.table import Fault, FoundError, Trial

_POLITE = ImageDownloadLimits(tries=1, timeout=2.0, pause=0.0)
_INWARD = (
    *("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1", "2130706433", "0x7f000001"),
    *("0.0.0.0", "0177.0.0.1", "127.0.0.1.", "LOCALHOST", "localhost.", "127.255.255.254"),
)
_ELSEWHERE = (
    "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/a.png", "http://[::1]:1/a.png",
    "http://192.168.0.1/a.png", "http://172.16.0.1/a.png", "http://[fe80::1]/a.png",
    "http://[fd00::1]/a.png", "http://224.0.0.1/a.png", "http://100.64.0.1/a.png",
)  # fmt: skip
_MALFORMED = (
    "", " ", "a.png", "//x/a.png", "http://", "http:///a.png", "http://x y/a.png", "http://[::1",
    "http://x:99999/a.png", "http://x:-1/a.png", "http://x:port/a.png", "ftp://x/a.png",
    "file:///etc/passwd", "data:image/png;base64,AA==", "javascript:alert(1)", "http://\ud800/a.png",
    "http://x/\0", "http://x/a\r\nHost: y", "http://" + "x" * 300 + "/a.png", "http://a..b/",
    "http://%00/", "http://xn--/a.png", "http://x/" + "a" * 100_000, "https://[v1.x]/a.png",
)  # fmt: skip


def faults() -> list[Fault]:
    """Each address beside a second one; both have a row."""
    unasked = "an error of that address, and nobody is asked"
    return [
        *(_row(f"{host!r}", "a host that is this machine", unasked, _of_host(host), short=True)
          for host in _INWARD),
        *(_row(f"{url!r}", "an address within a network", unasked, _of_address(url))
          for url in _ELSEWHERE),
        *(_row(f"{url[:60]!r}", "no address", "an error of that address",
               _of_address(url)) for url in _MALFORMED),
    ]  # fmt: skip


def _row(
    name: str, made: str, must: str, url: Callable[[int], str], *, short: bool = False
) -> Fault:
    return Fault(
        group="downloads",
        name=name,
        made=made,
        must=must,
        attempt=lambda trial: _refused(trial, url),
        short=short,
        longest=20.0,
    )


def _of_address(url: str) -> Callable[[int], str]:
    return lambda _: url


def _of_host(host: str) -> Callable[[int], str]:
    return lambda port: f"http://{host}:{port}/a.png"


def _refused(trial: Trial, url: Callable[[int], str]) -> str:
    with _listening() as (port, requests):
        address = url(port)
        urls = [address, "http://malformed:port/"]
        rows = download_images(urls, trial.folder / "images", _POLITE, random.Random(0))
    if requests:
        raise FoundError(f"asked {requests} of this machine")
    if [row.url for row in rows] != urls or not all(row.error for row in rows):
        raise FoundError(f"not an error each: {rows}")
    return "refused"


@contextmanager
def _listening() -> Generator[tuple[int, list[str]]]:
    """A server on this machine, with an image."""
    requests: list[str] = []
    image = saved(photo())

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(image)))
            self.end_headers()
            self.wfile.write(image)

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        try:
            yield server.server_port, requests
        finally:
            server.shutdown()
