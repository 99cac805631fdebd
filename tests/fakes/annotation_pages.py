"""Annotators who use the annotation pages over HTTP, as a browser without scripts does."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from bench_assets.annotation.tasks import AnnotationTask, AnnotationTerms, Field, Unit
from bench_resources.annotation.web.backend import PagesBackend
from bench_resources.annotation.web.server import PagesServer, Setup
from bench_resources.annotation.web.sessions import RATES, LinkSigner, Rate, RequestKind
from bench_resources.annotation.web.store import PagesStore
from bench_resources.images.locations import ImageFolder
from tests.resources.annotation.port_cases import FORM

NO_LIMITS: dict[RequestKind, Rate] = dict.fromkeys(RATES, Rate(1e6, 1e6))
BRING = AnnotationTask(
    name="codis/submission",
    title="Bring an image",
    instructions="",
    fields=(
        Field(name="image", kind="image", label="Your image"),
        Field(name="question", kind="text", label="Your question", most=100),
        Field(name="words", kind="texts", label="Words", least=2, most=3, required=False),
    ),
)


class Clock:
    """A clock that a test can move forward."""

    def __init__(self) -> None:
        self.passed = 0.0  # s

    def __call__(self) -> datetime:
        """The current time, moved forward by ``passed``."""
        return datetime.now(UTC) + timedelta(seconds=self.passed)


class Site:
    """The annotation pages of a folder, on a server with a free port."""

    def __init__(
        self,
        folder: Path,
        *,
        terms: Callable[[], Mapping[str, AnnotationTerms]] = dict,
        rates: Mapping[RequestKind, Rate] = NO_LIMITS,
        lease: float = 600,
        url: str = "",
    ) -> None:
        self.store = PagesStore(folder / "annotation" / "pages.sqlite")
        self.images = folder / "images"
        self.backend = PagesBackend(self.store)
        self.clock = Clock()
        self._served = PagesServer(
            Setup(
                store=self.store,
                images=ImageFolder(str(self.images)),
                url=url,
                terms=terms,
                lease=lease,
                rates=rates,
                clock=self.clock,
            ),
            port=0,
        )
        self.address = self._served.address
        self._visitors: dict[str, Visitor] = {}

    def __enter__(self) -> Self:
        self._served.__enter__()
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for visitor in self._visitors.values():
            visitor.http.close()
        self._served.__exit__(error_type, error, traceback)

    def forget(self) -> None:
        """Delete the database and reset the clock; the server goes on."""
        for file in self.store.file.parent.glob(f"{self.store.file.name}*"):
            file.unlink()
        self.clock.passed = 0.0

    def link(self, person: str, tasks: Sequence[str] = (), days: float = 1) -> str:
        """The path of a person's link, which is valid for ``days``."""
        until = int(self.clock().timestamp() + days * 86400)
        return f"/in/{LinkSigner.beside(self.store).make(person, tuple(tasks), until)}"

    def visitor(self, person: str) -> "Visitor":
        """The visitor who opened the link of a person; one for each person."""
        if person not in self._visitors:
            self._visitors[person] = Visitor(self.address, self.link(person))
        return self._visitors[person]


class Visitor:
    """A browser of one person."""

    def __init__(self, address: str, link: str) -> None:
        self.http = httpx.Client(base_url=address, follow_redirects=True, trust_env=False)
        self.entered = self.http.get(link)

    def task(self, title: str) -> str:
        """The path of a task, by its title on the first page."""
        page = self.http.get("/").text
        match = re.search(rf'id="form-(\d+)"><bdi>{re.escape(title)}<', unescape(page))
        assert match, page
        return f"/f/{match[1]}"

    def next(self, task: str) -> httpx.Response:
        """Go to the next unit."""
        return self.http.get(f"{task}/next")

    def send(self, page: httpx.Response, button: str = "send", **values: object) -> httpx.Response:
        """Fill in the form of a page, and press a button of it."""
        return self.http.post(
            page.url.path, data={"form-token": token(page), "what-now": button, **values}
        )


def token(page: httpx.Response) -> str:
    """The form token of a page, which proves that a form comes from it."""
    match = re.search(r'name="form-token" value="([^"]+)"', page.text)
    assert match, page.text
    return match[1]


class PageAnnotators:
    """Annotators who open their links and answer the next unit, or edit an earlier answer."""

    def __init__(self, site: Site) -> None:
        self.backend = site.backend
        self._site = site
        self._pages: dict[tuple[str, str, str], str] = {}  # paths, by task, unit and person

    def answer(self, task: AnnotationTask, unit: Unit, person: str, **values: str) -> None:
        visitor = self._site.visitor(person)
        key = (task.name, unit.digest, person)
        shown = visitor.http.get(self._pages[key]) if key in self._pages else None
        page = shown or visitor.next(visitor.task(task.title))
        assert next(iter(unit.shown.values())) in unescape(page.text)
        self._pages[key] = page.url.path
        response = visitor.send(page, **values)
        assert response.status_code == 200, response.text

    def edit_by_another(
        self, task: AnnotationTask, unit: Unit, person: str, editor: str, **values: str
    ) -> None:
        """Require that another annotator cannot edit an answer."""
        page = self._site.visitor(person).http.get(self._pages[task.name, unit.digest, person])
        stolen = self._site.visitor(editor).send(page, **values)
        assert stolen.status_code in (403, 404)

    def delete(self, task: AnnotationTask, unit: Unit, person: str) -> None:
        visitor = self._site.visitor(person)
        page = visitor.http.get(self._pages[task.name, unit.digest, person])
        assert visitor.send(page, "skip").status_code == 200


def shown(site: Site, person: str = "ana", task: AnnotationTask = FORM) -> httpx.Response:
    """The page of a person's next unit."""
    visitor = site.visitor(person)
    return visitor.next(visitor.task(task.title))
