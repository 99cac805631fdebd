"""Downloads from a real server on this machine, which counts what it is asked."""

import asyncio
import gc
import random
import threading
from collections import Counter
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bench_assets.core.schema.errors import HomeError, SourceError
from bench_resources.images.download import ImageDownloadLimits, download_images, recorded_downloads
from tests.fakes.codis_release import image
from tests.fakes.full_disk import full_disk

IMAGE = b"an image"
PNG = image(1)
PAGES = {
    "/page.jpg": b"<!DOCTYPE html><html><title>This photo is no longer available</title></html>",
    "/page.png": b"\n  <HTML><body>Log in</body></HTML>",
    "/error.png": b"\xef\xbb\xbf<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
}
POLITE = ImageDownloadLimits(pause=0.01, max_bytes=1000, tries=3)


class ImageServer(ThreadingHTTPServer):
    """Counts requests by path."""

    requests: Counter[str]
    under_way: list[int]  # now, and the most ever
    url: str


@pytest.fixture
def server():
    requests: Counter[str] = Counter()
    under_way = [0, 0]
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            with lock:
                requests[self.path] += 1
                under_way[0] += 1
                under_way[1] = max(under_way)
            status = 503 if self.path == "/busy-once.png" and requests[self.path] == 1 else 200
            status = {"/gone.png": 404, "/broken.png": 500}.get(self.path, status)
            body = b"x" * 5000 if self.path == "/large.png" else IMAGE + self.path.encode()
            body = PAGES.get(self.path, body)
            self.send_response(status)
            if self.path == "/broken-off-once.png":
                body = PNG[: len(PNG) // 2] if requests[self.path] == 1 else PNG
            else:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with lock:  # before the client can know that it is over
                under_way[0] -= 1
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ImageServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        running.requests, running.under_way = requests, under_way
        running.url = f"http://127.0.0.1:{running.server_port}"
        yield running
        running.shutdown()


def fetch(server, folder, *names, polite=POLITE):
    urls = [f"{server.url}/{name}" for name in names]
    return download_images(urls, folder, polite, random.Random(0), hosts=lambda _: True)


def test_what_arrives_is_kept_with_its_checksum(server, tmp_path):
    (row,) = fetch(server, tmp_path, "a.png")
    content = IMAGE + b"/a.png"
    assert (tmp_path / row.file).read_bytes() == content
    assert (row.sha256, row.n_bytes) == (sha256(content).hexdigest(), len(content))
    assert row.error == ""


def test_a_notebook_with_its_running_loop_downloads_too(server, tmp_path):
    async def cell():
        return fetch(server, tmp_path, "a.png")

    (row,) = asyncio.run(cell())
    assert (tmp_path / row.file).read_bytes() == IMAGE + b"/a.png"


def test_a_full_disk_is_reported_once(server, tmp_path, caplog):
    with full_disk(), pytest.raises(HomeError, match="cannot be written"):
        fetch(server, tmp_path, *(f"{n}.png" for n in range(20)))
    gc.collect()
    assert caplog.messages == []


def test_nothing_is_fetched_twice(server, tmp_path):
    fetch(server, tmp_path, "a.png", "b.png", "a.png")
    rows = fetch(server, tmp_path, "a.png", "b.png", "c.png")
    assert server.requests == {"/a.png": 1, "/b.png": 1, "/c.png": 1}
    assert [row.error for row in rows] == ["", "", ""]
    assert recorded_downloads([rows[0].url], tmp_path) == rows[:1]


def test_a_record_that_was_cut_short_is_fetched_again(server, tmp_path):
    rows = fetch(server, tmp_path, "a.png", "b.png")
    records = tmp_path / "checksums.jsonl"
    records.write_text(records.read_text()[:-10])
    assert fetch(server, tmp_path, "a.png", "b.png") == rows
    assert fetch(server, tmp_path, "a.png", "b.png") == rows
    assert server.requests.total() == 3


@pytest.mark.parametrize(
    ("name", "error", "tries"),
    [
        pytest.param("gone.png", "HTTP 404", 1, id="what is gone is asked for once"),
        pytest.param("broken.png", "HTTP 500", 3, id="a broken server a few times"),
        pytest.param(
            "large.png", "ValueError: more than the 1000 bytes allowed", 1, id="too large"
        ),
        pytest.param("busy-once.png", "", 2, id="a busy server until it answers"),
    ],
)
def test_failures(server, tmp_path, name, error, tries):
    row, other = fetch(server, tmp_path, name, "a.png")
    assert (row.error, server.requests[f"/{name}"]) == (error, tries)
    assert other.error == ""
    n_files = 1 if error else 2
    assert len([file for file in tmp_path.iterdir() if file.name != "checksums.jsonl"]) == n_files


def test_an_image_without_a_length_is_kept_once_all_of_it_arrived(server, tmp_path):
    (row,) = fetch(server, tmp_path, "broken-off-once.png")
    assert (row.error, server.requests.total()) == ("", 2)
    assert (tmp_path / row.file).read_bytes() == PNG


def test_no_more_than_half_the_connections_go_to_one_host(server, tmp_path):
    polite = ImageDownloadLimits(connections=4)
    fetch(server, tmp_path, *(f"{n}.png" for n in range(60)), polite=polite)
    assert 1 <= server.under_way[1] <= 2


def test_a_list_of_checksums_that_is_not_ours_is_refused(tmp_path):
    (tmp_path / "checksums.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(SourceError, match=r"checksums.jsonl: not written by bench"):
        recorded_downloads(["http://a"], tmp_path)


def test_a_web_page_served_as_an_image_is_none(server, tmp_path):
    rows = fetch(server, tmp_path, *(name.strip("/") for name in PAGES), "a.png")
    assert [row.error for row in rows] == [
        *["ValueError: a web page, not an image; it may have been deleted"] * 3,
        "",
    ]
    assert set(server.requests.values()) == {1}  # another try brings nothing else
    assert len(list(tmp_path.iterdir())) == 2  # an image, and the list of checksums
