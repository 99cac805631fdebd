"""What holds for every request and every response, whichever page it is about."""

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from resources.annotation.web.rendering import page

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
