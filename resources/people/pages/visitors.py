"""Who comes: the person of a link, kept in a cookie; and how often they may."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response

from resources.people.pages.bodies import Sent
from resources.people.pages.limits import Limits, What
from resources.people.pages.links import Link, LinkError, Links
from resources.people.pages.refusals import RefusedError

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

    def may_fill_in(self, form: str) -> bool:
        """Whether their link is for a form."""
        return not self.link.forms or form in self.link.forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
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

    def check_form(self, visitor: Visitor, sent: Sent) -> None:
        """See that a form came from a page of ours.

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
