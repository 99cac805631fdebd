"""Routes of the annotation pages."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bench_assets.annotation.tasks import MARK_KINDS, Values
from bench_assets.core.schema.errors import ImageError
from bench_resources.annotation.web.assignments import Assignments, PersonTask, Reservation
from bench_resources.annotation.web.forms import (
    SubmittedForm,
    error_messages,
    is_wide,
    read_form,
    shown_fields,
    submitted_values,
    text_groups,
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

_LARGEST_ID = 2**63 - 1  # largest id of SQLite
_CACHE_FOREVER = {"Cache-Control": "private, max-age=604800, immutable"}  # addressed by digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Handlers of the pages; access to files and images runs in threads."""

    assignments: Assignments
    sessions: VisitorSessions
    uploads: Uploads

    def routes(self) -> list[BaseRoute]:
        """All routes."""
        unit_path = "/f/{task:int}/i/{unit:int}"
        return [
            Route("/", self.home),
            Route("/health", lambda _: PlainTextResponse("ok")),
            Route("/in/{token}", self.enter),
            Route("/leave", self.leave, methods=["POST"]),
            Route("/f/{task:int}/next", self.next_unit),
            Route("/f/{task:int}/mine", self.own_answers),
            Route(unit_path, self.unit, methods=["GET"]),
            Route(unit_path, self.answer, methods=["POST"]),
            Route(f"{unit_path}/stay", self.extend_reservation, methods=["POST"]),
            Route(f"{unit_path}/image/{{sha256}}", self.image),
            Route("/upload/{sha256}", self.uploaded_image),
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
        tasks = self.assignments.tasks(visitor.person, visitor.link.tasks)
        return render_page("home.html", visitor=visitor, tasks=tasks)

    def next_unit(self, request: Request) -> Response:
        """Redirect to the next unit, or to the closing page."""
        visitor = self.sessions.visitor(request)
        page_task = self._task(visitor, request)
        unit_row = self.assignments.next_unit(page_task, visitor.person)
        if unit_row is None:
            return render_page("thanks.html", visitor=visitor, page_task=page_task)
        return RedirectResponse(f"/f/{page_task.number}/i/{unit_row}", 303)

    def own_answers(self, request: Request) -> Response:
        """Page of a person's answers."""
        visitor = self.sessions.visitor(request)
        page_task = self._task(visitor, request)
        answers = self.assignments.last_answers(page_task, visitor.person)
        return render_page("mine.html", visitor=visitor, page_task=page_task, answers=answers)

    def unit(self, request: Request) -> Response:
        """Show a unit."""
        visitor = self.sessions.visitor(request)
        reservation = self._assigned(visitor, request, self.assignments.extend_reservation)
        if reservation.refusal and reservation.answer is None:
            raise RefusedError(409, reservation.refusal)
        return self._render_unit(visitor, reservation, reservation.answer or {}, {})

    async def answer(self, request: Request) -> Response:
        """Store an answer, and continue."""
        visitor = await run_in_threadpool(self.sessions.visitor, request, "answer")
        reservation = await run_in_threadpool(
            self._assigned, visitor, request, self.assignments.reservation
        )
        form = await read_form(request)
        visitor.check_form(form)
        return await run_in_threadpool(self._submit, visitor, reservation, form)

    def extend_reservation(self, request: Request) -> Response:
        """Extend a reservation while a person writes."""
        visitor = self.sessions.visitor(request)
        self._assigned(visitor, request, self.assignments.extend_reservation)
        return Response(status_code=204)

    def image(self, request: Request) -> Response:
        """Send an image of a unit that is assigned to the person."""
        visitor = self.sessions.visitor(request)
        reservation = self._assigned(visitor, request, self.assignments.reservation)
        sha256 = request.path_params["sha256"]
        return self._image(sha256, may_see=sha256 in reservation.unit.images.values())

    def uploaded_image(self, request: Request) -> Response:
        """Send an uploaded image to its uploader."""
        visitor = self.sessions.visitor(request)
        sha256 = request.path_params["sha256"]
        return self._image(sha256, may_see=self.assignments.has_uploaded(visitor.person, sha256))

    def _submit(self, visitor: Visitor, reservation: Reservation, form: SubmittedForm) -> Response:
        """Store the answer in a form, or show the form again with its errors."""
        values: Values = {}
        is_skip = form.first("what-now") == "skip"
        if not is_skip:
            values, errors = self._parse_form(visitor, reservation, form)
            if errors:
                return self._render_unit(visitor, reservation, values, errors)
        if refusal := self.assignments.store_answer(reservation, values, skipped=is_skip):
            raise RefusedError(409, refusal)
        onward = "next" if reservation.answer is None else "mine"
        return RedirectResponse(f"/f/{reservation.unit.task}/{onward}", 303)

    def _parse_form(
        self, visitor: Visitor, reservation: Reservation, form: SubmittedForm
    ) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
        """Values and errors of a form; stores uploaded images."""
        values = dict(submitted_values(reservation.task, reservation.unit, form))
        upload_errors: dict[str, str] = {}
        for name in (field.name for field in reservation.task.fields if field.kind == "image"):
            if name in form.files:
                self.sessions.count_request("upload", visitor.person)
                try:
                    sha256 = self.uploads.keep(form.files[name])
                except ImageError as error:
                    upload_errors[name] = f"This file is not a usable image: {error}."
                    values.pop(name, None)
                else:
                    self.assignments.record_upload(visitor.person, sha256)
                    values[name] = (sha256,)
            elif name in values and not self.assignments.has_uploaded(
                visitor.person, values[name][0]
            ):
                del values[name]  # another person's upload
        errors = error_messages(reservation.task, reservation.unit, values) | upload_errors
        return values, errors

    def _render_unit(
        self, visitor: Visitor, reservation: Reservation, values: Values, errors: dict[str, str]
    ) -> Response:
        """Page of a unit with values in its form, and with their errors if there are any."""
        return render_page(
            "unit.html",
            422 if errors else 200,
            visitor=visitor,
            page_task=self.assignments.task(reservation.unit.task, visitor.person),
            unit=reservation.unit,
            fields=shown_fields(reservation.task, reservation.unit, values, errors),
            groups=text_groups(reservation.unit.shown),
            is_wide=is_wide(reservation.unit),
            complaints=errors,
            has_answer=reservation.answer is not None,
            was_skipped=reservation.skipped,
            refusal="" if reservation.is_active else reservation.refusal,
            brings_images=any(field.kind == "image" for field in reservation.task.fields),
            has_marks=any(field.kind in MARK_KINDS for field in reservation.task.fields),
            most_upload=MOST_BYTES // 2**20,
        )

    def _image(self, sha256: str, *, may_see: bool) -> Response:
        if not may_see:
            raise RefusedError(404, "There is no such image.")
        try:
            data, media_type = browser_image(self.uploads.place, sha256)
        except ImageError as error:
            raise RefusedError(404, "This image cannot be shown.") from error
        return Response(data, media_type=media_type, headers=_CACHE_FOREVER)

    def _task(self, visitor: Visitor, request: Request) -> PersonTask:
        page_task = self.assignments.task(_row_id(request, "task"), visitor.person)
        if page_task is None or not visitor.can_answer(page_task.task.name):
            raise RefusedError(404, "There is no such task, or your link does not allow it.")
        return page_task

    def _assigned(
        self, visitor: Visitor, request: Request, find: Callable[[int, str], Reservation | None]
    ) -> Reservation:
        """The visitor's reservation of the unit in the path of a request."""
        reservation = find(_row_id(request, "unit"), visitor.person)
        if reservation is None or not visitor.can_answer(reservation.task.name):
            raise RefusedError(404, "This is not assigned to you.")
        return reservation


def _row_id(request: Request, name: str) -> int:
    """A row id in the path of a request; one that SQLite cannot have is refused."""
    number = int(request.path_params[name])
    if number > _LARGEST_ID:
        raise RefusedError(404, "There is nothing at this address.")
    return number
