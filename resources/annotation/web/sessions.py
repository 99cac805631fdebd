"""Sessions of annotators: cookies, rate limits and CSRF tokens.

How often somebody may do something: buckets that fill again, one for each person or address.

What holds for every request and every response, whichever page it is about.
"""

from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from time import monotonic
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.annotation.web.form_data import SubmittedForm
from resources.annotation.web.rendering import RefusedError, page
from resources.annotation.web.signed_links import Link, LinkError, Links

What: TypeAlias = Literal["page", "answer", "upload", "link"]

_KEPT = 10_000  # buckets; who was not there for longest is forgotten, with a full one


@dataclass(frozen=True, slots=True)
class Rate:
    """At once, and again each second."""

    burst: float
    each_second: float


RATES: dict[What, Rate] = {
    "page": Rate(300, 20),
    "answer": Rate(60, 2),  # nobody reads faster
    "upload": Rate(20, 0.2),
    "link": Rate(20, 0.2),  # that open nothing: guesses, from one address
}


@dataclass(slots=True)
class Limits:
    """What everybody has left."""

    rates: dict[What, Rate] = field(default_factory=RATES.copy)
    clock: Callable[[], float] = monotonic  # s
    _left: OrderedDict[tuple[What, str], tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def take(self, what: What, who: str) -> float:
        """Take one.

        Returns:
            0, or in how many s there is one again.
        """
        rate, now = self.rates[what], self.clock()
        with self._lock:
            left, seen = self._left.pop((what, who), (rate.burst, now))
            left = min(rate.burst, left + (now - seen) * rate.each_second)
            enough = left >= 1
            self._left[what, who] = left - enough, now
            while len(self._left) > _KEPT:
                self._left.popitem(last=False)
        return 0.0 if enough else (1 - left) / rate.each_second


COOKIE = "bench_people"


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person whose link is good."""

    link: Link
    token: str

    @property
    def person(self) -> str:
        """Their pseudonym."""
        return self.link.person

    def may_fill_in(self, task: str) -> bool:
        """Whether their link is for a task."""
        return not self.link.tasks or task in self.link.tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitorSessions:
    """Lets people in."""

    links: Links
    limits: Limits
    is_secure: bool  # the pages are called by https
    clock: Callable[[], datetime]

    def enter(self, request: Request, token: str, response: Response) -> None:
        """Let somebody with a link in: from then on a cookie says who they are.

        Raises:
            RefusedError: If the link opens nothing.
        """
        link = self._read(request, token)
        response.set_cookie(
            COOKIE, token, max_age=max(1, int(link.until - self._now())), httponly=True,
            secure=self.is_secure, samesite="lax",
        )  # fmt: skip

    def visitor(self, request: Request, what: What = "page") -> Visitor:
        """Say who comes.

        Raises:
            RefusedError: If nobody knows, or they come too often.
        """
        token = request.cookies.get(COOKIE, "")
        if not token:
            raise RefusedError(403, "Please open the link that was sent to you.")
        visitor = Visitor(self._read(request, token), token)
        self.count(what, visitor.person)
        return visitor

    def count(self, what: What, who: str) -> None:
        """Count what somebody does.

        Raises:
            RefusedError: If it was too often.
        """
        if after := self.limits.take(what, who):
            raise RefusedError(429, "This was too fast: please try again in a moment.", after=after)

    def check_form(self, visitor: Visitor, sent: SubmittedForm) -> None:
        """See that a task came from a page of ours.

        Raises:
            RefusedError: If it did not.
        """
        if not self.links.is_form_token(sent.first("form-token"), visitor.token):
            raise RefusedError(403, "This came from another page: please send it from here.")

    def _read(self, request: Request, token: str) -> Link:
        try:
            return self.links.read(token, self._now())
        except LinkError as why:
            self.count("link", request.client.host if request.client else "")
            raise RefusedError(403, str(why)) from why

    def _now(self) -> float:
        return self.clock().timestamp()


_SAID = {
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
_ANY = "*"


@dataclass(frozen=True, slots=True)
class Guard:
    """Refuses what comes from other pages; says what ours may do."""

    app: ASGIApp
    hosts: Collection[str]  # names that we are called by; "*": any
    outside: str = ""  # host and port by which a proxy before us is called

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def said(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_SAID)
                is_file = "etag" in headers  # a style, a script
                headers.setdefault("Cache-Control", "no-cache" if is_file else "no-store")
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is None:
            await self.app(scope, receive, said)
            return
        status, sentence = refusal
        response = page(
            "message.html", status, heading="This cannot be done", sentence=sentence, onward=""
        )
        await response(scope, receive, said)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        called = headers.get("host", "")
        if _ANY not in self.hosts and _name(called) not in self.hosts:
            return 421, "These pages are not called by that name."
        if method in ("GET", "HEAD"):
            return None
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        ours = (called, self.outside) if self.outside else (called,)
        if site not in (None, "same-origin") or (origin and urlsplit(origin).netloc not in ours):
            return 403, "This came from another page: please send it from here."
        return None


def _name(host: str) -> str:
    """The name in a Host header, without its port."""
    return (urlsplit(f"//{host}").hostname or "") if "/" not in host and "@" not in host else ""
