"""Packs and serves the report."""

import sys
import time
import zipfile
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.report.site.addresses import remember_port, served_port
from bench_assets.workspace.console.output import print_message
from bench_assets.workspace.inspect.leaderboard import present_report
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import default_home
from bench_resources.storage.atomic_write import open_atomic

ADDRESS = "127.0.0.1"
EVERY = 5.0  # s between two updates of a served report, at least
_SHARE = 10  # pause between two updates, in durations of an update
_LONGEST_END = 10.0  # s to wait for an update when the server ends
_ROOT = "report"  # top folder of the archive
_SERVED_FOLDERS = ("app", "data", "images", "style", "vendor")
# stored without another compression
_COMPRESSED_SUFFIXES = (".webp", ".jpg", ".png", ".gif", ".avif")
_FIXED_TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # so that the same report is the same file


def pack_report(folder: Path, target: Path) -> None:
    """Pack a report into one archive; the same report gives the same bytes.

    Raises:
        HomeError: If it cannot be written.
    """
    with open_atomic(target) as file, zipfile.ZipFile(file, "w") as archive:
        for path in _report_files(folder):
            name = f"{_ROOT}/{path.relative_to(folder).as_posix()}"
            member = zipfile.ZipInfo(name, _FIXED_TIMESTAMP)
            member.external_attr = 0o644 << 16  # Unix permissions
            is_compressed = path.suffix in _COMPRESSED_SUFFIXES
            member.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
            archive.writestr(member, path.read_bytes())


def open_server(home: Path, port: int | None = None) -> ThreadingHTTPServer:
    """Open a server on loopback for a home's report; call ``serve_forever`` to serve.

    Args:
        home: The home, whose links to the report will use the port.
        port: Port; 0: any free port; None: the last one if free, otherwise any free port.

    Raises:
        SettingsError: If the port is in use, not permitted, or out of range.
    """
    handler = partial(_ReportRequestHandler, directory=str(home / "report"))
    first_port = served_port(home) if port is None else port
    try:
        server = _ReportServer((ADDRESS, first_port), handler)
    except OSError as error:
        if port is None:
            return open_server(home, port=0)
        raise SettingsError(
            f"port {port} of {ADDRESS}: {error.strerror}. Choose another with --port (0: any)"
        ) from error
    except OverflowError as error:
        raise SettingsError(f"port {port}: expected 0 to 65535") from error
    if server.server_port != served_port(home):
        remember_port(home, server.server_port)
    return server


def report_maker(bench: Workbench, without_images: Collection[str] = ()) -> Callable[[], object]:
    """Return a function that updates the report of a home by its settings at that time."""
    last_settings = load_settings(default_home())

    def make() -> object:
        nonlocal bench, last_settings
        settings = load_settings(default_home())
        if settings != last_settings:
            bench, last_settings = Workbench(settings), settings
        return present_report(bench, without_images)

    return make


@contextmanager
def serve_live(home: Path, remake: Callable[[], object], port: int | None = None) -> Generator[str]:
    """Serve a report during the block, and update it by ``remake`` every few seconds.

    ``port`` is as for ``open_server``.

    Yields:
        The report's address.

    Raises:
        SettingsError: If the port is in use, not permitted, or out of range.
    """
    server, ended = open_server(home, port), Event()
    threads = [
        Thread(target=server.serve_forever, daemon=True),
        Thread(target=_keep_current, args=(remake, ended), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield f"http://{ADDRESS}:{server.server_port}"
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
        for thread in threads:
            thread.join(_LONGEST_END)


def _keep_current(remake: Callable[[], object], ended: Event) -> None:
    """Update a report until ``ended``; prints an error once, and tries again."""
    pause, last_error = 0.0, ""
    while not ended.wait(pause):
        started_at = time.monotonic()
        try:
            remake()
        except BenchError as error:
            if str(error) != last_error:
                last_error = str(error)
                print_message(f"The report cannot be updated: {last_error}")
        pause = max(EVERY, _SHARE * (time.monotonic() - started_at))


class _ReportServer(ThreadingHTTPServer):
    """A server that ignores connections closed by the client."""

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Report other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _ReportRequestHandler(SimpleHTTPRequestHandler):
    """Serves the files of a report, and nothing else, to clients on this machine."""

    def send_head(self) -> Any:  # noqa: ANN401
        """Refuse paths outside the report, and requests under another host name."""
        host, _, _ = self.headers.get("Host", "").partition(":")  # a default port is left out
        path, _, _ = self.path.partition("?")
        top_name, _, _ = path.lstrip("/").partition("/")
        if host not in (ADDRESS, "localhost"):  # DNS rebinding
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        if top_name not in ("", "index.html", *_SERVED_FOLDERS):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        if not Path(self.directory, "index.html").is_file():
            self.send_error(HTTPStatus.NOT_FOUND, "no report yet", "Run `bench report`")
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:  # noqa: ANN401
        """Refuse to list folders."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """Add the page's content security policy, and headers against sniffing and old copies."""
        self.send_header("Content-Security-Policy", _security_policy(Path(self.directory)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_: Any) -> None:  # noqa: ANN401
        """Log nothing."""


def _security_policy(folder: Path) -> str:
    """Content security policy that the page declares."""
    try:
        page = (folder / "index.html").read_text(encoding="utf-8")
    except OSError:  # no report yet
        page = ""
    _, _, rest = page.partition('Content-Security-Policy" content="')
    policy, _, _ = rest.partition('"')
    return policy


def _report_files(folder: Path) -> Iterator[Path]:
    yield folder / "index.html"
    for name in _SERVED_FOLDERS:
        yield from sorted(path for path in (folder / name).rglob("*") if path.is_file())
