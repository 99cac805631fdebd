"""Packs and serves the report."""

import sys
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from bench_assets.core.schema.errors import SettingsError
from bench_assets.report.site.addresses import PORT, SERVED
from bench_assets.workspace.console.output import print_message
from resources.storage.atomic_write import open_atomic

ADDRESS = "127.0.0.1"
_ROOT = "report"  # the folder that a zip unpacks to
_SERVED_FOLDERS = ("app", "data", "images", "style", "vendor")
# nothing is gained by packing them again
_COMPRESSED_SUFFIXES = (".webp", ".jpg", ".png", ".gif", ".avif")
_FIXED_TIMESTAMP = (1980, 1, 1, 0, 0, 0)  # so that the same report is the same file


def pack_report(folder: Path, target: Path) -> None:
    """Pack a report into one archive; the same report gives the same bytes.

    Raises:
        HomeError: If it cannot be written.
    """
    with open_atomic(target) as file, zipfile.ZipFile(file, "w") as archive:
        for path in _files(folder):
            entry = zipfile.ZipInfo(
                f"{_ROOT}/{path.relative_to(folder).as_posix()}", _FIXED_TIMESTAMP
            )
            entry.external_attr = 0o644 << 16
            is_packed = path.suffix in _COMPRESSED_SUFFIXES
            entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def open_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Open a server on loopback for a report; call ``serve_forever`` to serve.

    Args:
        folder: The report.
        port: Port; 0: any free port.

    Raises:
        SettingsError: If the port is in use, or not permitted.
    """

    class OfFolder(_ReportRequestHandler):
        def __init__(self, *arguments: Any) -> None:  # noqa: ANN401
            super().__init__(*arguments, directory=str(folder))

    try:
        return _ReportServer((ADDRESS, port), OfFolder)
    except OSError as why:
        raise SettingsError(
            f"port {port} of {ADDRESS}: {why.strerror}; name another: --port, 0 for any"
        ) from why
    except OverflowError as why:
        raise SettingsError(f"port {port}: expected 0 to 65535") from why


def serve_until_interrupted(serving: ThreadingHTTPServer) -> None:
    """Serve until Ctrl-C."""
    try:
        serving.serve_forever()
    except KeyboardInterrupt:
        print_message("ended")
    finally:
        serving.server_close()


@contextmanager
def serve_in_background(folder: Path) -> Generator[str]:
    """Serve a report during another command, where checks link to; returns a message.

    If the port is in use, the message says so; no error is raised.
    """
    try:
        serving = open_server(folder, PORT)
    except SettingsError:
        yield f"The report is not shown: port {PORT} is taken (by another bench?)"
        return
    Thread(target=serving.serve_forever, daemon=True).start()
    try:
        yield f"The report: {SERVED}"
    finally:
        serving.shutdown()
        serving.server_close()


class _ReportServer(ThreadingHTTPServer):
    """Ignores connections that close before a page is complete."""

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401
        """Report other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _ReportRequestHandler(SimpleHTTPRequestHandler):
    """Serves the files of a report, and nothing else, to clients on this machine."""

    def send_head(self) -> Any:  # noqa: ANN401
        """Refuse paths outside the report, and requests under another host name."""
        name = self.headers.get("Host", "").rpartition(":")[0]
        first = self.path.split("?")[0].lstrip("/").split("/")[0]
        if name not in (ADDRESS, "localhost"):  # a foreign name that resolves to this machine
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        if first not in ("", "index.html", *_SERVED_FOLDERS):
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        if not Path(self.directory, "index.html").is_file():
            self.send_error(HTTPStatus.NOT_FOUND, "no report yet", "`bench report` makes it")
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:  # noqa: ANN401
        """Refuse to list folders."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        """Send the page's content security policy."""
        self.send_header("Content-Security-Policy", _policy(Path(self.directory)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *_: Any) -> None:  # noqa: ANN401
        """Log nothing."""


def _policy(folder: Path) -> str:
    """Content security policy that the page declares."""
    try:
        page = (folder / "index.html").read_text(encoding="utf-8")
    except OSError:  # no report yet
        page = ""
    return page.partition('Content-Security-Policy" content="')[2].partition('"')[0]


def _files(folder: Path) -> Iterator[Path]:
    yield folder / "index.html"
    for name in _SERVED_FOLDERS:
        yield from sorted(path for path in (folder / name).rglob("*") if path.is_file())
