"""Signed links and sessions of annotators, CSRF tokens, rate limits, security headers.

A link contains a pseudonym, not a name. Whoever has it can answer as that person: treat links like
keys. The signing key is a file beside the answers that only its owner may read.
"""

import hmac
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Literal, TypeAlias

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bench_assets.annotation.tasks import AnnotationError
from bench_assets.core.schema.errors import BenchError
from bench_resources.annotation.web.forms import SubmittedForm
from bench_resources.annotation.web.rendering import RefusedError
from bench_resources.annotation.web.store import PagesStore
from bench_resources.storage.atomic_write import describe_write_errors
from bench_resources.storage.blobs.files import FileBlobs

if TYPE_CHECKING:
    from itsdangerous import URLSafeSerializer

NAME = "pages.key"
"""File of the signing key, in ``annotation/`` of the home folder."""

_KEY = re.compile(r"[0-9a-f]{64}")
_PERSON = re.compile(r"\w[\w.+-]{0,63}")


class LinkError(BenchError):
    """A link is forged, expired or revoked."""


@dataclass(frozen=True, slots=True)
class Link:
    """The content of a link."""

    person: str  # a pseudonym
    tasks: tuple[str, ...]  # (): all
    until: int  # s since 1970


@dataclass(frozen=True, slots=True)
class LinkSigner:
    """Signs, verifies and revokes links."""

    store: PagesStore
    key: str

    @classmethod
    def beside(cls, store: PagesStore) -> "LinkSigner":
        """Use the signing key beside the answers, which is created if missing.

        Raises:
            AnnotationError: If the key cannot be read or written, or others may read it.
        """
        return cls(store, _read_or_create_key(store.file.with_name(NAME)))

    def make(self, person: str, tasks: tuple[str, ...], until: int) -> str:
        """Sign a link until a time in s since 1970; returns its token.

        Raises:
            AnnotationError: If ``person`` is not a pseudonym.
        """
        _require_pseudonym(person)
        return self._serializer.dumps([person, tasks, until, self._revocations(person)])

    def read(self, token: str, now: float) -> Link:
        """Verify a link.

        Raises:
            LinkError: If it is forged, expired or revoked.
        """
        from itsdangerous import BadData

        try:
            person, tasks, until, revocations = self._serializer.loads(token)
        except BadData as error:
            raise LinkError("This link is incomplete. Open it exactly as it was sent.") from error
        if until < now:
            raise LinkError("This link has expired. Ask its sender for a new one.")
        if revocations != self._revocations(person):
            raise LinkError("This link was revoked. Ask its sender for a new one.")
        return Link(person=person, tasks=tuple(tasks), until=until)

    def revoke(self, person: str) -> None:
        """Revoke all existing links of a person, given by a pseudonym as for ``make``."""
        _require_pseudonym(person)
        with self.store.writing() as db:
            db.execute(
                "INSERT INTO links VALUES (?, 1) ON CONFLICT DO UPDATE SET voided = voided + 1",
                (person,),
            )

    @property
    def _serializer(self) -> "URLSafeSerializer":
        from itsdangerous import URLSafeSerializer

        return URLSafeSerializer(self.key, salt="link")

    def _revocations(self, person: str) -> int:
        """How often the links of a person were revoked."""
        if not self.store.exists:
            return 0
        with self.store.reading() as db:
            row = db.execute("SELECT voided FROM links WHERE person = ?", (person,)).fetchone()
        (n_revocations,) = row or (0,)
        return int(n_revocations)


def _require_pseudonym(person: str) -> None:
    if not _PERSON.fullmatch(person):
        raise AnnotationError(
            f"{person!r:.80}: not a pseudonym (expected up to 64 letters, digits and . _ - +)."
            " Give addresses a pseudonym in [annotation.names] of bench.toml."
        )


def _read_or_create_key(file: Path) -> str:
    FileBlobs(file.parent, mode=0o600).put_new(file.name, secrets.token_hex(32).encode())
    with describe_write_errors(file):
        if file.stat().st_mode & 0o077:
            raise AnnotationError(f"{file}: readable by others. Run `chmod 600` on it.")
        key = file.read_text(encoding="ascii", errors="replace")
    if not _KEY.fullmatch(key):
        raise AnnotationError(f"{file}: not a key. Delete it; all links are void then.")
    return key


COOKIE = "bench_annotation"

RequestKind: TypeAlias = Literal["page", "answer", "upload", "link"]

_MOST_BUCKETS = 10_000  # rate limits in memory; the least recently used one is dropped


@dataclass(frozen=True, slots=True)
class Rate:
    """A rate limit: a token bucket."""

    burst: float
    each_second: float


RATES: dict[RequestKind, Rate] = {
    "page": Rate(300, 20),
    "answer": Rate(60, 2),
    "upload": Rate(20, 0.2),
    "link": Rate(20, 0.2),  # invalid links, by client address
}


@dataclass(slots=True)
class RateLimiter:
    """Token buckets by kind of request and person or address."""

    rates: dict[RequestKind, Rate] = field(default_factory=RATES.copy)
    clock: Callable[[], float] = monotonic  # s
    # Tokens left, and the time of the last request, by kind and client.
    _buckets: OrderedDict[tuple[RequestKind, str], tuple[float, float]] = field(
        default_factory=OrderedDict
    )
    _lock: Lock = field(default_factory=Lock)

    def take(self, kind: RequestKind, client: str) -> float:
        """Take a token; returns 0, or the seconds until one is available."""
        rate, now = self.rates[kind], self.clock()
        with self._lock:
            tokens, last_time = self._buckets.pop((kind, client), (rate.burst, now))
            tokens = min(rate.burst, tokens + (now - last_time) * rate.each_second)
            is_allowed = tokens >= 1
            self._buckets[kind, client] = (tokens - 1 if is_allowed else tokens), now
            while len(self._buckets) > _MOST_BUCKETS:
                self._buckets.popitem(last=False)
        return 0.0 if is_allowed else (1 - tokens) / rate.each_second


@dataclass(frozen=True, slots=True)
class Visitor:
    """A person with a valid link."""

    link: Link
    form_token: str  # CSRF token

    @property
    def person(self) -> str:
        """Their pseudonym."""
        return self.link.person

    def can_answer(self, task: str) -> bool:
        """Whether the link allows a task."""
        return not self.link.tasks or task in self.link.tasks

    def check_form(self, form: SubmittedForm) -> None:
        """Verify the CSRF token of a form.

        Raises:
            RefusedError: If it is missing or wrong.
        """
        if not hmac.compare_digest(form.first("form-token").encode(), self.form_token.encode()):
            raise RefusedError(403, "This form has expired. Reload the page, and send it again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitorSessions:
    """Sessions of annotators; the session cookie holds the link that began one."""

    links: LinkSigner
    limits: RateLimiter
    clock: Callable[[], datetime]

    def enter(self, request: Request, token: str) -> None:
        """Begin a session, unless this link has begun it already.

        Raises:
            RefusedError: If the link is invalid.
        """
        self._read_link(request, token)
        if request.session.get("link") != token:
            request.session.update(link=token, form_token=secrets.token_urlsafe(16))

    def visitor(self, request: Request, kind: RequestKind = "page") -> Visitor:
        """Find the visitor of a request, and count the request.

        Raises:
            RefusedError: If there is no valid link, or the rate limit is exceeded.
        """
        token = request.session.get("link")
        if not token:
            raise RefusedError(403, "Please open the link that was sent to you.")
        visitor = Visitor(self._read_link(request, token), request.session["form_token"])
        self.count_request(kind, visitor.person)
        return visitor

    def count_request(self, kind: RequestKind, client: str) -> None:
        """Count a request against the rate limit.

        Raises:
            RefusedError: If the rate limit is exceeded.
        """
        if wait := self.limits.take(kind, client):
            message = "This was too fast: please try again in a moment."
            raise RefusedError(429, message, retry_after=wait)

    def _read_link(self, request: Request, token: str) -> Link:
        """Verify a link; an invalid one counts against the rate limit of its address."""
        try:
            return self.links.read(token, self.clock().timestamp())
        except LinkError as error:
            self.count_request("link", request.client.host if request.client else "")
            raise RefusedError(403, str(error)) from error


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
        """Handle a request."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                is_file = "etag" in headers  # a stylesheet or script
                headers.setdefault("Cache-Control", "no-cache" if is_file else "no-store")
            await send(message)

        await self.app(scope, receive, send_with_headers)
