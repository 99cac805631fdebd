"""Routes of the annotation pages."""

from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bench_assets.annotation.tasks import MARK_KINDS, Values
from bench_assets.core.schema.errors import ImageError
from bench_resources.annotation.web.assignments import Assignments, OpenTask, Reservation
from bench_resources.annotation.web.forms import (
    SubmittedForm,
    complaints,
    fields_of,
    has_upload_field,
    is_wide,
    read_form,
    text_groups,
    values_of,
)
from bench_resources.annotation.web.rendering import (
    FOLDER,
    MOST_BYTES,
    RefusedError,
    Uploads,
    render_page,
)
from bench_resources.annotation.web.sessions import Visitor, VisitorSessions
from bench_resources.images.browser_images import browser_image

_LARGEST_ID = 2**63 - 1  # of SQLite
_FOR_GOOD = {"Cache-Control": "private, max-age=604800, immutable"}  # addressed by digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Handlers of the pages; access to files and images runs in threads."""

    desk: Assignments
    sessions: VisitorSessions
    uploads: Uploads

    def routes(self) -> list[BaseRoute]:
        """All routes."""
        unit = "/f/{task:int}/i/{unit:int}"
        return [
            Route("/", self.home),
            Route("/health", lambda _: PlainTextResponse("ok")),
            Route("/in/{token}", self.enter),
            Route("/leave", self.leave, methods=["POST"]),
            Route("/f/{task:int}/next", self.next_unit),
            Route("/f/{task:int}/mine", self.mine),
            Route(unit, self.unit, methods=["GET"]),
            Route(unit, self.answer, methods=["POST"]),
            Route(f"{unit}/stay", self.extend_reservation, methods=["POST"]),
            Route(f"{unit}/image/{{sha256}}", self.image),
            Route("/upload/{sha256}", self.uploaded),
            Mount("/static", StaticFiles(directory=FOLDER / "static")),
        ]

    def enter(self, request: Request) -> Response:
        """Log in with a link."""
        self.sessions.enter(request, request.path_params["token"])
        return RedirectResponse("/", 303)

    async def leave(self, request: Request) -> Response:
        """Log out."""
        visitor = await run_in_threadpool(self.sessions.visitor, request)
        visitor.check_form(await read_form(request))
        request.session.clear()
        return render_page(
            "message.html", heading="You have logged out", onward="",
            sentence="To come back, open the link that was sent to you.",
        )  # fmt: skip

    def home(self, request: Request) -> Response:
        """Page of a person's tasks."""
        visitor = self.sessions.visitor(request)
        tasks = self.desk.tasks(visitor.person, visitor.link.tasks)
        return render_page("home.html", tasks=tasks, **self._template_variables(visitor))

    def next_unit(self, request: Request) -> Response:
        """Redirect to the next unit, or to the closing page."""
        visitor = self.sessions.visitor(request)
        page_task = self._task(visitor, request)
        unit = self.desk.next_unit(page_task, visitor.person)
        if unit is None:
            return render_page(
                "thanks.html", one=page_task, **self._template_variables(visitor, page_task)
            )
        return RedirectResponse(f"/f/{page_task.number}/i/{unit}", 303)

    def mine(self, request: Request) -> Response:
        """Page of a person's answers."""
        visitor = self.sessions.visitor(request)
        page_task = self._task(visitor, request)
        words = self.desk.words(page_task, visitor.person)
        return render_page(
            "mine.html", one=page_task, words=words, **self._template_variables(visitor, page_task)
        )

    def unit(self, request: Request) -> Response:
        """Show a unit."""
        visitor = self.sessions.visitor(request)
        reservation = self._given(visitor, self.desk.keep(_number(request, "unit"), visitor.person))
        if reservation.refusal and reservation.answer is None:
            raise RefusedError(409, reservation.refusal)
        return self._render_unit(visitor, reservation, reservation.answer or {}, {})

    async def answer(self, request: Request) -> Response:
        """Store an answer, and continue."""
        visitor = await run_in_threadpool(self.sessions.visitor, request, "answer")
        image = await run_in_threadpool(
            self.desk.reservation, _number(request, "unit"), visitor.person
        )
        reservation = self._given(visitor, image)
        sent = await read_form(request)
        visitor.check_form(sent)
        return await run_in_threadpool(self._answer, visitor, reservation, sent)

    def extend_reservation(self, request: Request) -> Response:
        """Extend a reservation while a person writes."""
        visitor = self.sessions.visitor(request)
        self._given(visitor, self.desk.keep(_number(request, "unit"), visitor.person))
        return Response(status_code=204)

    def image(self, request: Request) -> Response:
        """Send an image of a unit that is assigned to the person."""
        visitor = self.sessions.visitor(request)
        reservation = self._given(
            visitor, self.desk.reservation(_number(request, "unit"), visitor.person)
        )
        sha256 = request.path_params["sha256"]
        return self._image(sha256, may_see=sha256 in reservation.unit.images.values())

    def uploaded(self, request: Request) -> Response:
        """Send an uploaded image to its uploader."""
        visitor = self.sessions.visitor(request)
        sha256 = request.path_params["sha256"]
        return self._image(sha256, may_see=self.desk.brought(visitor.person, sha256))

    def _answer(self, visitor: Visitor, reservation: Reservation, sent: SubmittedForm) -> Response:
        values: Values = {}
        if not (skips := sent.first("what-now") == "skip"):
            values, wrong = self._parse_form(visitor, reservation, sent)
            if wrong:
                return self._render_unit(visitor, reservation, values, wrong)
        if complaint := self.desk.say(reservation, values, skipped=skips):
            raise RefusedError(409, complaint)
        onward = "next" if reservation.answer is None else "mine"
        return RedirectResponse(f"/f/{reservation.unit.task}/{onward}", 303)

    def _parse_form(
        self, visitor: Visitor, reservation: Reservation, sent: SubmittedForm
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        """Values and errors of a form; stores uploaded images."""
        values, wrong = dict(values_of(reservation.task, reservation.unit, sent)), dict[str, str]()
        for image_field in (field for field in reservation.task.fields if field.kind == "image"):
            if image_field.name in sent.files:
                self.sessions.count("upload", visitor.person)
                try:
                    values[image_field.name] = (self.uploads.keep(sent.files[image_field.name]),)
                except ImageError as error:
                    wrong[image_field.name] = f"This file is not a usable image: {error}."
                    values.pop(image_field.name, None)
                else:
                    self.desk.record_upload(visitor.person, values[image_field.name][0])
            elif image_field.name in values and not self.desk.brought(
                visitor.person, values[image_field.name][0]
            ):
                del values[image_field.name]  # another person's upload
        return values, complaints(reservation.task, reservation.unit, values) | wrong

    def _render_unit(
        self, visitor: Visitor, reservation: Reservation, values: Values, wrong: dict[str, str]
    ) -> Response:
        page_task = self.desk.task(reservation.unit.task, visitor.person)
        return render_page(
            "unit.html",
            422 if wrong else 200,
            one=page_task,
            unit=reservation.unit,
            fields=fields_of(reservation.task, reservation.unit, values, wrong),
            groups=text_groups(reservation.unit.shown),
            is_wide=is_wide(reservation.unit),
            complaints=wrong,
            has_answer=reservation.answer is not None,
            was_skipped=reservation.skipped,
            refusal="" if reservation.in_time else reservation.refusal,
            brings_images=has_upload_field(reservation.task.fields),
            has_marks=any(field.kind in MARK_KINDS for field in reservation.task.fields),
            most_upload=MOST_BYTES // 2**20,
            **self._template_variables(visitor, page_task),
        )

    def _image(self, sha256: str, *, may_see: bool) -> Response:
        try:
            if not may_see:
                raise RefusedError(404, "There is no such image.")
            data, kind = browser_image(self.uploads.place, sha256)
        except ImageError as error:
            raise RefusedError(404, "This image cannot be shown.") from error
        return Response(data, media_type=kind, headers=_FOR_GOOD)

    def _task(self, visitor: Visitor, request: Request) -> OpenTask:
        page_task = self.desk.task(_number(request, "task"), visitor.person)
        if page_task is None or not visitor.can_answer(page_task.task.name):
            raise RefusedError(404, "There is no such task, or your link does not allow it.")
        return page_task

    def _given(self, visitor: Visitor, reservation: Reservation | None) -> Reservation:
        if reservation is None or not visitor.can_answer(reservation.task.name):
            raise RefusedError(404, "This is not assigned to you.")
        return reservation

    def _template_variables(self, visitor: Visitor, one: OpenTask | None = None) -> dict[str, Any]:
        """Template variables that all pages need."""
        frame: dict[str, Any] = {"person": visitor.person, "form_token": visitor.form_token}
        return frame | ({"task_number": one.number} if one else {})


def _number(request: Request, name: str) -> int:
    number = int(request.path_params[name])
    if number > _LARGEST_ID:
        raise RefusedError(404, "There is nothing at this address.")
    return number
