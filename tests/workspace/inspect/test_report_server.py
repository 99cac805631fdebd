import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest

from bench_assets.core.schema.errors import SettingsError, TableError
from bench_assets.report.site.addresses import served_address
from bench_assets.report.site.folder import Site
from bench_assets.workspace.inspect import report_server
from bench_assets.workspace.inspect.report_server import (
    ADDRESS,
    open_server,
    pack_report,
    report_maker,
    serve_live,
)
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = Site(tmp_path / "report", ImageStore(folder=str(tmp_path / "images")))
    site.put("index", {})
    site.finish()
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    return site.folder


@contextmanager
def serving_report(home: Path) -> Iterator[int]:
    """Serve the report of a home; gives the port."""
    server = open_server(home, port=0)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def port(folder: Path) -> Iterator[int]:
    with serving_report(folder.parent) as report_port:
        yield report_port


def response_status(port: int, path: str, host: str = f"{ADDRESS}:8765") -> int:
    connection = HTTPConnection(ADDRESS, port, timeout=10)
    connection.request("GET", path, headers={"Host": host})
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_report_is_always_packed_into_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    pack_report(folder, tmp_path / "a.zip")
    for file in folder.rglob("*"):
        file.touch()
    pack_report(folder, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_packed_report_has_all_files_but_stamps_and_packs(folder: Path, tmp_path: Path) -> None:
    pack_report(folder, folder / "report.zip")
    pack_report(folder, tmp_path / "report.zip")
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        names = archive.namelist()
    files = {path.relative_to(folder.parent).as_posix() for path in folder.rglob("*.*")}
    assert set(names) == files - {"report/.stamps.json", "report/report.zip"}
    assert names[0] == "report/index.html"


def test_the_page_comes_with_its_policy_as_a_header(port: int) -> None:
    connection = HTTPConnection(ADDRESS, port, timeout=10)
    connection.request("GET", "/")
    response = connection.getresponse()
    assert response.status == 200
    policy = response.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert policy in response.read().decode()


@pytest.mark.parametrize(
    ("path", "expected_status"),
    [
        ("/data/files.js", 200),
        ("/index.html?x=1", 200),
        ("/.stamps.json", 404),
        ("/../secret.txt", 404),
        ("/app/..%2f..%2fsecret.txt", 404),
        ("/app/../../secret.txt", 404),
        ("/%2e%2e/secret.txt", 404),
        ("/data/", 404),
        ("/data", 301),
    ],
)
def test_files_of_the_report_alone_are_served(port: int, path: str, expected_status: int) -> None:
    assert response_status(port, path) == expected_status


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example"])
def test_a_request_for_another_host_is_refused(port: int, host: str) -> None:
    assert response_status(port, "/", host) == 421


def test_a_port_in_use_is_refused(folder: Path, port: int) -> None:
    with pytest.raises(SettingsError, match=rf"port {port} .*--port"):
        open_server(folder.parent, port)


def test_a_port_out_of_range_is_refused(folder: Path) -> None:
    with pytest.raises(SettingsError, match="0 to 65535"):
        open_server(folder.parent, 70_000)


@pytest.mark.parametrize("path", ["/", "/data/files.js"])
def test_pages_of_a_home_without_a_report_are_not_found(tmp_path: Path, path: str) -> None:
    with serving_report(tmp_path) as port:
        assert response_status(port, path) == 404


def test_links_go_to_the_last_address_that_was_served(folder: Path) -> None:
    home = folder.parent
    assert served_address(home) == "http://127.0.0.1:8765"
    with serve_live(home, lambda: None, port=0) as first_address:
        assert served_address(home) == first_address
        with serve_live(home, lambda: None) as second_address:  # the first port is in use
            assert second_address != first_address
            assert served_address(home) == second_address
    with serve_live(home, lambda: None) as third_address:
        assert third_address == second_address


def test_a_report_that_cannot_be_updated_is_served_on_and_tried_again(folder, capsys, monkeypatch):
    monkeypatch.setattr(report_server, "EVERY", 0.001)
    n_calls = count(1)
    called_four_times = Event()

    def fail_to_update() -> None:
        if next(n_calls) == 4:
            called_four_times.set()
        raise TableError("scores.parquet: damaged")

    with serve_live(folder.parent, fail_to_update, port=0):
        assert called_four_times.wait(10)
    assert capsys.readouterr().err.count("The report cannot be updated: scores") == 1


def test_a_served_report_follows_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    with Workbench(load_settings(tmp_path)) as bench:
        make_report = report_maker(bench)
        make_report()
        (tmp_path / "signs.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}')
        (tmp_path / "bench.toml").write_text('[benchmarks.signs]\nfile = "signs.jsonl"\n')
        assert "signs" not in index_data(tmp_path)
        make_report()
        assert "signs" in index_data(tmp_path)


def index_data(home: Path) -> str:
    """The data of the first page."""
    (file,) = (home / "report" / "data").glob("index.*.js")
    return file.read_text(encoding="utf-8")
