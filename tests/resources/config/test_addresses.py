"""A key in an address of any section is read as the name of a variable; requests alone have it."""

import http.server
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_resources.config.addresses import source_of
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.images.painters import ImageFolderSpec, ImageRequest, open_painter

KEY = "k9-Qm3x9ZpLw7Rk2Vt5"

SECTIONS = {
    "a source": '[sources]\ncodis = "https://me:K@host/x.zip"',
    "a model": '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1?key=K"',
    "a field of the request": (
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1"\n'
        'extra_body = { hook = "https://host/?token=K", api_key = "K" }'
    ),
    "a variable of the chat template": (
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://host/v1"\nserver = "vllm"\n'
        'chat_template_kwargs = { hook = "https://host/?token=K" }'
    ),
    "the pages": '[annotation]\nurl = "https://host/?token=K"',
}
PAINTER = {"kind": "server", "model": "p", "base_url": "http://host/v1;key=K"}


@pytest.mark.parametrize(
    "section", [pytest.param(text, id=name) for name, text in SECTIONS.items()]
)
def test_a_key_in_an_address_becomes_a_variable(tmp_path: Path, section: str) -> None:
    (tmp_path / "bench.toml").write_text(section.replace("K", KEY))
    read = load_settings(tmp_path)
    shown = repr(read)
    (name,) = {name for name in os.environ if name.startswith("BENCH_KEY_") and name in shown}
    assert os.environ[name] == KEY
    assert KEY not in shown


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """A server that has nothing, and the paths that it was asked for."""
    paths: list[str] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_error(404)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None: ...

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1;key={KEY}", paths
        finally:
            server.shutdown()


def test_requests_have_the_key_and_errors_do_not(tmp_path: Path) -> None:
    with listening() as (address, paths):
        suite = {"painter": {**PAINTER, "base_url": address}}
        read = Settings(home=tmp_path, suites={"journeybench": suite})
        chosen = read.suite("journeybench", JourneyBenchSettings)
        assert not isinstance(chosen.painter, ImageFolderSpec)
        painter = open_painter(chosen.painter)
        with pytest.raises(ModelError) as unpainted:
            painter.paint(ImageRequest(name="i", prompt="p", seed=0))
    assert paths == [f"/v1;key={KEY}/images/generations"]
    texts = [painter.identity, str(unpainted.value)]
    assert [text for text in texts if KEY in text] == []


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("hf:a/b@main", "hf:a/b@main"),
        ("https://host/a.zip#sha256=" + "a" * 64, "https://host/a.zip#sha256=" + "a" * 64),
        ("data", str(Path("data").absolute())),
        ("../data", str(Path("../data").absolute())),
    ],
)
def test_a_command_s_source_is_an_address_as_it_is_or_a_folder(
    tmp_path: Path, written: str, used: str
) -> None:
    settings = load_settings(tmp_path).with_overrides(sources={"blink": written})
    assert source_of(written) == settings.sources["blink"] == used
