"""A gallery over HTTP is searched politely, and becomes a folder that annotators can work on."""

import io
import json
import threading
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import Image

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.journeybench.construction.assets.images import acquire
from bench_assets.suites.journeybench.raw_material import GalleryImage, read_raw
from resources.images.download import ImageDownloadLimits
from resources.images.gallery import HttpGallery

POLITE = ImageDownloadLimits(tries=1, pause=0.0)


def png():
    file = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def gallery():
    """A gallery that finds the same cat for every query, and a dog that is gone."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            url = urlsplit(self.path)
            asked.append(self.path)
            host = f"http://{self.headers['Host']}"
            status, body = 200, png()
            if url.path == "/search":
                query = parse_qs(url.query)["query"][0]
                found = [
                    {"id": "cat/1", "prompt": f"a {query}", "url": f"{host}/cat.png"},
                    {"id": f"dog {query}", "prompt": "a dog", "url": f"{host}/gone.png"},
                ]
                body = json.dumps(found if query != "odd" else {"error": query}).encode()
                if query == "down" or (query == "busy" and asked.count(self.path) == 1):
                    status = 503
            elif url.path == "/gone.png":
                status, body = 404, b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield HttpGallery(f"http://127.0.0.1:{server.server_port}/search", pause=0.0), asked
    server.shutdown()
    server.server_close()


def test_what_several_queries_find_is_fetched_once_and_what_is_gone_is_named(gallery, tmp_path):
    searched, asked = gallery
    rows = acquire(searched, ["giant pet", "tiny pet"], tmp_path, POLITE)
    assert [(row.image, row.query, row.error) for row in rows] == [
        ("cat%2F1.png", "giant pet", ""),
        ("dog%20giant%20pet.png", "giant pet", "HTTP 404"),
        ("dog%20tiny%20pet.png", "tiny pet", "HTTP 404"),
    ]
    assert asked.count("/cat.png") == 1
    assert read_raw(tmp_path, GalleryImage) == [
        GalleryImage(image="cat%2F1.png", query="giant pet", prompt="a giant pet")
    ]
    assert (tmp_path / "images" / "cat%2F1.png").read_bytes() == png()


def test_searching_again_fetches_only_what_is_missing(gallery, tmp_path):
    searched, asked = gallery
    acquire(searched, ["giant pet"], tmp_path, POLITE)
    acquire(searched, ["giant pet"], tmp_path, POLITE)
    assert asked.count("/cat.png") == 1
    assert asked.count("/gone.png") == 2


def test_an_answer_that_is_no_list_names_the_query(gallery, tmp_path):
    searched, _ = gallery
    with pytest.raises(SourceError, match=r"query=odd: expected a list of images"):
        acquire(searched, ["odd"], tmp_path, POLITE)


@pytest.mark.parametrize(
    ("query", "tries", "error"),
    [
        pytest.param("busy", 2, "", id="a busy one until it answers"),
        pytest.param("down", 4, "HTTP 503", id="one that is down a few times"),
    ],
)
def test_a_gallery_is_asked_again(gallery, query, tries, error):
    searched, asked = gallery
    with pytest.raises(SourceError, match=error) if error else nullcontext():
        searched.search(query)
    assert len(asked) == tries
