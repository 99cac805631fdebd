"""Server of the annotation pages, in a thread."""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Thread
from typing import Self
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from bench_assets.annotation.tasks import AnnotationTerms
from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_resources.annotation.web.assignments import LEASE, Assignments
from bench_resources.annotation.web.forms import MOST_TEXT
from bench_resources.annotation.web.rendering import MOST_BYTES, RefusedError, Uploads, render_page
from bench_resources.annotation.web.routes import Pages
from bench_resources.annotation.web.sessions import (
    COOKIE,
    RATES,
    LinkSigner,
    Rate,
    RateLimiter,
    RequestKind,
    SecurityHeaders,
    VisitorSessions,
)
from bench_resources.annotation.web.store import PagesStore, pages_store
from bench_resources.config.addresses import fill_keys
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.images.locations import ImageLocation
from bench_resources.images.store import open_image_store

PORT = 8766  # default port of the annotation pages
LOOPBACK = "127.0.0.1"
_LOCAL = ("127.0.0.1", "localhost", "::1")
_ANY_ADDRESS = ("0.0.0.0", "::")
_MAX_CONNECTIONS = 900  # connections; a process may often open 1,024 files
_QUIET = 10.0  # s without progress, after which a connection is closed
_SESSION = 365 * 86400  # s that a session lasts; the end of its link ends it earlier

_log = logging.getLogger("bench_assets.annotation.answers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Dependencies of the pages."""

    store: PagesStore
    images: ImageLocation
    url: str = ""  # public address of the pages
    terms: Callable[[], Mapping[str, AnnotationTerms]] = dict  # by task
    lease: float = LEASE  # s
    rates: Mapping[RequestKind, Rate] = field(default_factory=RATES.copy)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(slots=True)
class CurrentTerms:
    """Terms of a home's tasks by name; bench.toml is read again when it changes."""

    settings: Settings
    _modified_at: int = 0  # ns since the epoch

    def __call__(self) -> Mapping[str, AnnotationTerms]:
        """Current terms; the previous ones while bench.toml is missing or invalid."""
        with suppress(OSError, SettingsError):
            modified_at = self.settings.file.stat().st_mtime_ns
            if modified_at != self._modified_at:
                self.settings = load_settings(self.settings.home)
                self._modified_at = modified_at
        return {name: task.terms for name, task in self.settings.annotation.tasks.items()}


def require_pages(settings: Settings) -> None:
    """Require ``kind = "pages"``, and the packages that serve them.

    Raises:
        MissingExtraError: If a package is missing.
        SettingsError: If another backend is configured.
    """
    require_extra("an annotation page", "itsdangerous", "python_multipart")
    if settings.annotation.kind != "pages":
        raise SettingsError(
            f'{settings.file}, [annotation]: kind is "{settings.annotation.kind}" (expected'
            ' "pages").'
        )


def setup_of(settings: Settings) -> Setup:
    """The setup of a home's pages; raises as ``require_pages``."""
    require_pages(settings)
    return Setup(
        store=pages_store(settings.home),
        images=open_image_store(settings).place,
        url=fill_keys(settings.annotation.url),
        terms=CurrentTerms(settings),
    )


def _build_application(setup: Setup, host: str = LOOPBACK) -> ASGIApp:
    from starlette.middleware.sessions import SessionMiddleware  # needs itsdangerous

    public_url = urlsplit(setup.url)
    links = LinkSigner.beside(setup.store)
    assignments = Assignments(
        store=setup.store, terms=setup.terms, lease=setup.lease, clock=setup.clock
    )
    sessions = VisitorSessions(
        links=links, limits=RateLimiter(dict(setup.rates)), clock=setup.clock
    )
    if host in _ANY_ADDRESS:
        hosts = {"*"}
    else:
        hosts = {_url_host(name) for name in (*_LOCAL, public_url.hostname, host) if name}
    pages = Pages(assignments=assignments, sessions=sessions, uploads=Uploads(setup.images))
    app = Starlette(
        routes=pages.routes(),
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=sorted(hosts), www_redirect=False),
            Middleware(_OriginCheck, host=public_url.netloc),
            Middleware(RequestBodyLimitMiddleware, max_body_size=MOST_TEXT + MOST_BYTES),
            Middleware(
                SessionMiddleware,
                secret_key=links.key,
                session_cookie=COOKIE,
                max_age=_SESSION,
                https_only=public_url.scheme == "https",
            ),
        ],
        exception_handlers={
            HTTPException: _handle_http_error,
            RefusedError: _handle_refusal,
            BenchError: _handle_unavailable,
            Exception: _handle_unavailable,
        },
    )
    return SecurityHeaders(app)


def _url_host(host: str) -> str:
    """A host as in addresses and the header Host: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


@dataclass(frozen=True, slots=True)
class _OriginCheck:
    """Middleware that refuses forms of other sites, by the header Origin that browsers send."""

    app: ASGIApp
    host: str  # public host and port of the pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, app = Headers(scope=scope), self.app
        if "origin" in headers and scope["method"] not in ("GET", "HEAD"):
            _, _, origin_host = headers["origin"].partition("://")
            # A proxy may replace the header Host by its own; then the public host is expected.
            own_hosts = {headers.get("host", ""), self.host} - {""}
            if origin_host not in own_hosts:
                app = _message_page(403, "Not possible", "This form came from another site.")
        await app(scope, receive, send)


class _TimedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # chosen by uvicorn
    """HTTP connections that close when a client sends no whole request in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self._last_cycle, self._has_data = self.cycle, False
        self._schedule_check()

    def data_received(self, data: bytes) -> None:
        self._has_data = True
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._check.cancel()
        super().connection_lost(exc)

    def _schedule_check(self) -> None:
        self._check = self.loop.call_later(_QUIET, self._close_if_quiet)

    def _close_if_quiet(self) -> None:
        """Close the connection if the request has not advanced since the last check."""
        if self.cycle is not None and not self.cycle.response_complete:
            is_quiet = self.cycle.more_body and not self._has_data
        else:  # no request yet, or its headers are not complete
            is_quiet = self.cycle is self._last_cycle
        self._last_cycle, self._has_data = self.cycle, False
        if is_quiet:
            self.transport.close()
        else:
            self._schedule_check()


class PagesServer:
    """Serves the pages in a thread during a ``with`` block."""

    def __init__(self, setup: Setup, host: str = LOOPBACK, port: int = PORT) -> None:
        """Bind the port; 0: any free port.

        Raises:
            SettingsError: If the port is not available.
            AnnotationError: If the signing key cannot be read or created.
        """
        self._app = _build_application(setup, host)
        try:
            family, kind, _, _, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            self._socket = socket.socket(family, kind)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(address)
        except (OSError, OverflowError) as error:
            raise SettingsError(
                f"port {port} of {host} cannot be used: {error}. Choose another: --port, 0 for any"
            ) from error
        self.address = f"http://{_url_host(host)}:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        """Start serving, without a log of requests."""
        logging.getLogger("uvicorn.access").disabled = True  # paths contain the secret links
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._app, log_config=None, access_log=False, server_header=False,
                proxy_headers=False, ws="none", lifespan="off", limit_concurrency=_MAX_CONNECTIONS,
                http=_TimedProtocol,
                timeout_graceful_shutdown=5,  # s
            )
        )  # fmt: skip
        self._socket.listen()  # requests before the thread runs have to wait
        self._thread = Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Finish open requests, then stop."""
        self._server.should_exit = True
        self._thread.join(10)  # s, more than the graceful shutdown takes
        with suppress(OSError):
            self._socket.close()

    def wait(self) -> None:
        """Wait until the server stops."""
        self._thread.join()


def _message_page(status: int, heading: str, sentence: str, retry_after: float = 0.0) -> Response:
    response = render_page(
        "message.html", status, heading=heading, sentence=sentence,
        onward="" if status in (403, 503) else "/", onward_name="To the tasks",
    )  # fmt: skip
    if retry_after:
        response.headers["Retry-After"] = str(int(retry_after) + 1)
    return response


def _handle_refusal(_: Request, error: Exception) -> Response:
    if not isinstance(error, RefusedError):
        raise error
    return _message_page(error.status, "Not possible", str(error), error.retry_after)


def _handle_http_error(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    status = error.status_code
    if status in (400, 413):
        return _message_page(status, "Not possible", "The request is too large, or not a form.")
    return _message_page(status, "Page not found", "There is nothing at this address.")


def _handle_unavailable(_: Request, error: Exception) -> Response:
    """Error page; the reason is only in the log, without the person."""
    _log.error("a page failed: %s", error, exc_info=not isinstance(error, BenchError))
    sentence = "What you sent was not saved. Please try again in a few minutes."
    return _message_page(503, "The pages cannot be used now", sentence)
