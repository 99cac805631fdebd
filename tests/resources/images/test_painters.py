"""Images of prompts: exact drawings, each made once, those of a server, and those of a folder."""

import base64
import io
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from time import monotonic

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from bench_assets.core.schema.errors import ModelError, SourceError
from bench_resources.images.painters import (
    Drawer,
    ImageRequest,
    ImagesServerSpec,
    ServerPainter,
    collect_images,
    open_painter,
    paint_images,
)
from bench_resources.images.store import ImageStore
from bench_resources.storage.blobs.files import FileBlobs


def request(prompt="A table with exactly 3 of: red apple", name="a.png", seed=0):
    return ImageRequest(name=name, prompt=prompt, seed=seed)


def png(colour="red"):
    file = io.BytesIO()
    Image.new("RGB", (4, 4), colour).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("n", [1, 6, 20])
def test_the_drawer_draws_as_many_as_the_prompt_says_and_none_touches_another(n):
    data = Drawer().paint(request(f"exactly {n} of: red apple, and exactly 2 of: teapot"))
    pixels = np.asarray(Image.open(io.BytesIO(data))).astype(int)
    _, parts = ndimage.label(abs(pixels - pixels[0, 0]).max(axis=2) > 8)
    assert parts == n + 2


class Painter:
    """Paints red, and counts how often."""

    concurrency = 2

    def __init__(self, identity="p"):
        self.identity = identity
        self.n = 0

    def paint(self, request):
        self.n += 1
        return png()


def test_a_image_is_made_once_for_a_painter_prompt_and_seed(tmp_path):
    images, painter = ImageStore(folder=str(tmp_path / "images")), Painter()
    first = paint_images(
        [request(), request(seed=1)], painter, images, FileBlobs(tmp_path / "painted")
    ).images
    assert painter.n == 2
    again = paint_images(
        [request(name="b.png")], painter, images, FileBlobs(tmp_path / "painted")
    ).images
    assert painter.n == 2
    assert (again[0].name, again[0].sha256) == ("b.png", first[0].sha256)
    other = Painter("another")
    paint_images([request()], other, images, FileBlobs(tmp_path / "painted"))
    assert other.n == 1


def test_what_is_no_image_is_an_error_that_names_the_request(tmp_path, monkeypatch):
    painter = Painter()
    monkeypatch.setattr(painter, "paint", lambda request: b"no image")
    image_store = ImageStore(folder=str(tmp_path / "images"))
    with pytest.raises(ModelError, match=r"p: a\.png: not an image"):
        paint_images([request()], painter, image_store, FileBlobs(tmp_path / "painted"))


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        pytest.param("A cat in a hat", "the drawer finds no 'exactly", id="it counts nothing"),
        pytest.param("exactly 3 of: zorkmid", "no sprite named 'zorkmid'", id="no such sprite"),
        pytest.param("exactly 9000 of: dog", "at most 400 things", id="too many"),
        pytest.param("exactly 390 of: dog, exactly 90 of: cat", "480 things", id="too many in all"),
    ],
)
def test_a_image_that_cannot_be_drawn_is_a_rejection_and_costs_no_other(tmp_path, prompt, message):
    image_store = ImageStore(folder=str(tmp_path / "images"))
    requests = [request(), request(prompt, name="bad.png"), request(name="c.png", seed=1)]
    painted = paint_images(requests, Drawer(), image_store, FileBlobs(tmp_path / "painted"))
    assert [image.name for image in painted.images] == ["a.png", "c.png"]
    (rejection,) = painted.rejections
    assert rejection.entry == "bad.png"
    assert message in rejection.reason


def test_a_painter_that_can_make_nothing_ends_the_build(tmp_path):
    image_store = ImageStore(folder=str(tmp_path / "images"))
    requests, notes = [request("a cat"), request("a dog")], FileBlobs(tmp_path / "painted")
    with pytest.raises(ModelError, match=r"a\.png: the drawer finds no"):
        paint_images(requests, Drawer(), image_store, notes)


@pytest.mark.parametrize("written", [b"", b"..", b"\xff", b"0" * 64, b"ab" * 100])
def test_what_is_remembered_wrongly_is_painted_again(tmp_path, written):
    images, painter = ImageStore(folder=str(tmp_path / "images")), Painter()
    notes = FileBlobs(tmp_path / "painted")
    (stored,) = paint_images([request()], painter, images, notes).images
    (remembered,) = (tmp_path / "painted").iterdir()
    remembered.write_bytes(written)
    assert paint_images([request()], painter, images, notes).images == [stored]
    assert (painter.n, remembered.read_text()) == (2, stored.sha256)


@pytest.fixture
def serve():
    """Start a server that answers alike, or by the request, after so many seconds of blanks."""
    servers, enough = [], threading.Event()

    def start(status, body, drips=0.0, **headers):
        received = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                data = self.rfile.read(int(self.headers["Content-Length"]))
                received.append((self.path, json.loads(data), self.headers.get("Authorization")))
                code, reply = body(json.loads(data)) if callable(body) else (status, body)
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                until = monotonic() + drips
                while monotonic() < until and not enough.wait(0.05):
                    self.wfile.write(b" ")
                self.wfile.write(json.dumps(reply).encode())

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1", received

    yield start
    enough.set()
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_server_gets_one_request_for_an_image(serve, monkeypatch):
    reply = {"data": [{"b64_json": base64.b64encode(png()).decode()}]}
    url, received = serve(200, reply)
    monkeypatch.setenv("PAINT_KEY", "s3cret")
    spec = ImagesServerSpec(kind="server", base_url=url, model="m", api_key_env="PAINT_KEY")
    painter = open_painter(spec)
    assert painter.paint(request(seed=7)) == png()
    ((path, body, key),) = received
    assert path == "/v1/images/generations"
    assert (body["model"], body["n"], body["seed"]) == ("m", 1, 7)
    assert key == "Bearer s3cret"
    assert "s3cret" not in painter.identity


def test_fields_that_a_server_refuses_are_not_sent_again(serve):
    """As gpt-image-1 refuses both: with the field in ``param``."""

    def reply(body):
        for field in ("response_format", "seed"):
            if field in body:
                message = f"Unknown parameter: '{field}'."
                return 400, {"error": {"message": message, "param": field}}
        return 200, {"data": [{"b64_json": base64.b64encode(png()).decode()}]}

    url, received = serve(0, reply)
    painter = ServerPainter(ImagesServerSpec(kind="server", base_url=url, model="m"))
    assert painter.paint(request()) == png()
    assert [sorted(body) for _, body, _ in received] == [
        ["model", "n", "prompt", "response_format", "seed"],
        ["model", "n", "prompt", "seed"],
        ["model", "n", "prompt"],
    ]


@pytest.mark.parametrize(
    ("status", "body", "complaint"),
    [
        pytest.param(
            *(400, {"error": {"param": "prompt"}}, "no image for a.png: HTTP 400"),
            id="a refused prompt",
        ),
        pytest.param(400, ["?"], "no image for a.png: HTTP 400", id="an error of another form"),
        pytest.param(500, {}, "no image for a.png: HTTP 500", id="an error"),
        pytest.param(200, {"data": []}, "a.png: the response holds no image", id="nothing in it"),
    ],
)
def test_a_server_without_an_image_is_an_error(serve, status, body, complaint):
    url, _ = serve(status, body)
    painter = ServerPainter(ImagesServerSpec(kind="server", base_url=url, model="m"))
    with pytest.raises(ModelError, match=complaint):
        painter.paint(request())


def test_a_key_is_not_sent_to_whom_a_server_redirects_to(serve, monkeypatch):
    other, received = serve(200, {})
    url, redirected = serve(307, {}, Location=other.replace("127.0.0.1", "localhost"))
    monkeypatch.setenv("PAINT_KEY", "s3cret")
    spec = ImagesServerSpec(kind="server", base_url=url, model="m", api_key_env="PAINT_KEY")
    with pytest.raises(ModelError, match="HTTP 307"):
        ServerPainter(spec).paint(request())
    assert (len(redirected), received) == (1, [])


def test_a_server_that_drips_is_waited_for_no_longer_than_the_timeout(serve):
    url, _ = serve(200, {}, drips=10.0)
    spec = ImagesServerSpec(kind="server", base_url=url, model="m", timeout=0.3)
    with pytest.raises(ModelError, match=r"a\.png: no whole response within 0\.3 s"):
        ServerPainter(spec).paint(request())


@pytest.fixture
def folder(tmp_path):
    """Images that another program generated: one as planned, one as JPEG, one torn, one extra."""
    made = tmp_path / "made"
    (made / "more").mkdir(parents=True)
    (made / "a.png").write_bytes(png("red"))
    (made / "a.webp").write_bytes(png("yellow"))
    Image.new("RGB", (4, 4), "blue").save(made / "b.1.jpg")
    (made / "more" / "c.png").write_bytes(png("lime"))
    (made / "torn.png").write_bytes(png()[:20])
    (made / "extra.png").write_bytes(png("black"))
    return made


def test_planned_images_are_collected_by_name(tmp_path, folder):
    image_store = ImageStore(folder=str(tmp_path / "images"))
    names = ("a.png", "b.1.png", "more/c.png", "torn.png", "d.png", "../made/extra.png")
    images, rejections = collect_images([request(name=name) for name in names], folder, image_store)
    colours = [image_store.open(image.sha256).getpixel((0, 0)) for image in images]
    assert [image.name for image in images] == ["a.png", "b.1.png", "more/c.png"]
    assert colours == [(255, 0, 0), (0, 0, 254), (0, 255, 0)]
    assert [rejection.entry for rejection in rejections] == [
        "torn.png",
        "d.png",
        "../made/extra.png",
    ]
    assert rejections[1].reason == f"no such image in {folder}"


@pytest.mark.parametrize("path", ["empty", "absent"])
def test_a_folder_without_planned_images_ends_the_build(tmp_path, path):
    (tmp_path / "empty").mkdir()
    image_store = ImageStore(folder=str(tmp_path / "images"))
    with pytest.raises(SourceError, match=r"none of the 2 planned images .* such as a\.png"):
        collect_images([request(), request(name="b.png")], tmp_path / path, image_store)
