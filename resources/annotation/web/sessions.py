"""Sessions of annotators: signed links, CSRF tokens, rate limits, security headers."""

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from time import monotonic
from typing import Literal, TypeAlias

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.annotation.web.form_data import SubmittedForm
from resources.annotation.web.rendering import RefusedError
from resources.annotation.web.signed_links import Link, LinkError, Links

COOKIE = "bench_annotation"

What: TypeAlias = Literal["page", "answer", "upload", "link"]

_MOST_BUCKETS = 10_000  # beyond, the least recently used is dropped


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate limit: a token bucket."""

    burst: float
    each_second: float


RATES: dict[What, Rate] = {
    "page": Rate(300, 20),
    "answer": Rate(60, 2),
    "upload": Rate(20, 0.2),
    "link": Rate(20, 0.2),  # invalid links, by client address
}


@dataclass(slots=True)
class RateLimiter:
    """Token buckets by kind of request and person or address."""

    rates: dict[What, Rate] = field(default_factory=RATES.copy)
    clock: Callable[[], float] = monotonic  # s
    _left: OrderedDict[tuple[What, str], tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def take(self, what: What, who: str) -> float:
        """Take a token; 0, or the seconds until one is available."""
        rate, now = self.rates[what], self.clock()
        with self._lock:
            left, seen = self._left.pop((what, who), (rate.burst, now))
            left = min(rate.burst, left + (now - seen) * rate.each_second)
            enough = left >= 1
            self._left[what, who] = left - enough, now
            while len(self._left) > _MOST_BUCKETS:
                self._left.popitem(last=False)
        return 0.0 if enough else (1 - left) / rate.each_second


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person with a valid link."""

    link: Link
    form_token: str  # CSRF token

    @property
    def person(self) -> str:
        """Their pseudonym."""
        return self.link.person

    def may_fill_in(self, task: str) -> bool:
        """Whether the link is for a task."""
        return not self.link.tasks or task in self.link.tasks

    def check_form(self, sent: SubmittedForm) -> None:
        """Verify the CSRF token of a form.

        Raises:
            RefusedError: If it is missing or wrong.
        """
        if not hmac.compare_digest(sent.first("form-token").encode(), self.form_token.encode()):
            raise RefusedError(403, "This came from another page: please send it from here.")


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitorSessions:
    """Sessions, each begun by a link; the session's cookie holds the link."""

    links: Links
    limits: RateLimiter
    clock: Callable[[], datetime]

    def enter(self, request: Request, token: str) -> None:
        """Begin a session.

        Raises:
            RefusedError: If the link is invalid.
        """
        self._read(request, token)
        if request.session.get("link") != token:
            request.session.update(link=token, form_token=secrets.token_urlsafe(16))

    def visitor(self, request: Request, what: What = "page") -> Visitor:
        """The visitor of a request, which is counted.

        Raises:
            RefusedError: If there is no valid link, or the rate limit is exceeded.
        """
        token = request.session.get("link")
        if not token:
            raise RefusedError(403, "Please open the link that was sent to you.")
        visitor = Visitor(self._read(request, token), request.session["form_token"])
        self.count(what, visitor.person)
        return visitor

    def count(self, what: What, who: str) -> None:
        """Count a request.

        Raises:
            RefusedError: If the rate limit is exceeded.
        """
        if after := self.limits.take(what, who):
            raise RefusedError(429, "This was too fast: please try again in a moment.", after=after)

    def _read(self, request: Request, token: str) -> Link:
        try:
            return self.links.read(token, self.clock().timestamp())
        except LinkError as why:
            self.count("link", request.client.host if request.client else "")
            raise RefusedError(403, str(why)) from why


_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True, slots=True)
class SecurityHeaders:
    """Middleware that adds security headers to every response."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                is_file = "etag" in headers  # a style, a script
                headers.setdefault("Cache-Control", "no-cache" if is_file else "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers)
