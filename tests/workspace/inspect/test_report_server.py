"""A report as one file, and on 127.0.0.1."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
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
from bench_assets.workspace.materialization.opening import home_settings
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.images.store import ImageStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    site = Site(tmp_path / "report", ImageStore(folder=str(tmp_path / "images")))
    site.put("index", {})
    site.finish()
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    return site.folder


@contextmanager
def served(home: Path) -> Iterator[int]:
    serving = open_server(home, 0)
    thread = Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield serving.server_port
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()


@pytest.fixture
def port(folder: Path) -> Iterator[int]:
    with served(folder.parent) as number:
        yield number


def status(port: int, path: str, host: str = f"{ADDRESS}:8765") -> int:
    connection = HTTPConnection(ADDRESS, port, timeout=10)
    connection.request("GET", path, headers={"Host": host})
    found = connection.getresponse().status
    connection.close()
    return found


def test_the_same_report_is_the_same_file(folder: Path, tmp_path: Path) -> None:
    pack_report(folder, tmp_path / "a.zip")
    for file in folder.rglob("*"):
        file.touch()
    pack_report(folder, tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_packed_report_is_whole_and_without_stamps(folder: Path, tmp_path: Path) -> None:
    pack_report(folder, folder / "report.zip")  # which the next one does not take along
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
    ("path", "expected"),
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
def test_what_is_no_part_of_the_report_is_not_handed_out(
    port: int, path: str, expected: int
) -> None:
    assert status(port, path) == expected


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1.evil.example"])
def test_a_page_of_another_name_gets_nothing(port: int, host: str) -> None:
    assert status(port, "/", host) == 421


def test_a_port_that_is_taken_or_none_is_reported_at_once(folder: Path, port: int) -> None:
    with pytest.raises(SettingsError, match=rf"port {port} .*--port"):
        open_server(folder.parent, port)
    with pytest.raises(SettingsError, match="0 to 65535"):
        open_server(folder.parent, 70_000)


def test_a_folder_without_a_report_says_so_and_goes_on(tmp_path: Path) -> None:
    with served(tmp_path) as port:
        assert status(port, "/") == status(port, "/data/files.js") == 404


def test_links_follow_the_port_that_is_served(folder: Path) -> None:
    home = folder.parent
    assert served_address(home) == "http://127.0.0.1:8765"
    with serve_live(home, lambda: None, 0) as first:
        assert served_address(home) == first
        with serve_live(home, lambda: None) as second:  # the last port is in use
            assert second != first
            assert served_address(home) == second
    with serve_live(home, lambda: None) as third:
        assert third == second


def test_a_served_report_is_made_again_and_a_failure_ends_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_server, "EVERY", 0.001)
    made, many = [], Event()

    def remake() -> None:
        made.append(1)
        if len(made) > 3:
            many.set()
        raise TableError("scores.parquet: damaged")

    with serve_live(folder.parent, remake, 0):
        assert many.wait(10)
    assert capsys.readouterr().err.count("The report cannot be updated: scores") == 1


def test_a_served_report_follows_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    with Workbench(home_settings()) as bench:
        make = report_maker(bench)
        make()
        (tmp_path / "signs.jsonl").write_text('{"question": "1 + 1?", "answer": "2"}')
        (tmp_path / "bench.toml").write_text('[benchmarks.signs]\nfile = "signs.jsonl"\n')
        assert "signs" not in index_of(tmp_path)
        make()
        assert "signs" in index_of(tmp_path)


def index_of(home: Path) -> str:
    """The data of the first page."""
    (file,) = (home / "report" / "data").glob("index.*.js")
    return file.read_text(encoding="utf-8")
