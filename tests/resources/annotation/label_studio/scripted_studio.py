"""A server that behaves as Label Studio 1.23.2 does towards the requests of ours, in memory.

Its rules are those seen at the real one, against which the same cases are run (``make long``):
answers are not checked, ``completed_by`` is believed, repeated imports are repeated tasks, a page
past the last is 404, and overlap 0 shows a task to nobody.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import RLock, Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

ADMIN = "0123456789abcdef0123456789abcdef01234567"
PERSONAL = "eyJhbGciOi.eyJyZWZyZXNo.c2lnbmF0dXJl"  # a personal access token of the same account
PEOPLE = ("ana", "ben", "cem", "dora", "eli")
TOKENS = {person: f"{number:040x}" for number, person in enumerate(PEOPLE, 2)}
NAMES = {f"{person}@lab.example": person for person in PEOPLE}

Told = tuple[int, Any]


class ScriptedStudio:
    """What the server holds, and what it answers."""

    def __init__(self) -> None:
        self.projects: dict[int, dict[str, Any]] = {}
        self.tasks: dict[int, dict[str, Any]] = {}
        self.annotations: dict[int, dict[str, Any]] = {}
        self.shared: list[dict[str, Any]] = []
        self.asked: list[tuple[str, str]] = []  # every verb and path so far
        self.breaks = ""  # a path whose next answer ends in its middle
        self.instead: dict[str, Told] = {}  # what it says at a path instead; a text is no JSON
        self.locked = 0  # answers that the data base being locked makes a 500 of
        self.access = 0  # number of the access token that is valid now
        self.lock = RLock()

    def say(self, verb: str, path: str, asked: dict[str, str], said: Any, token: str) -> Told:
        """Answer one request."""
        self.asked.append((verb, path))
        if path in self.instead:
            return self.instead[path]
        if path == "/api/token/refresh":
            known = said["refresh"] == PERSONAL
            self.access += known
            return (200, {"access": self._access()}) if known else (401, {})
        accounts = {ADMIN: 1, self._access(): 1}
        accounts |= {one: number for number, one in enumerate(TOKENS.values(), 2)}
        if token not in accounts:
            return 401, {"detail": "Invalid token."}
        if self.locked:
            self.locked -= 1
            return 500, {"detail": "database is locked"}
        for pattern, method in _PATHS:
            if match := re.fullmatch(pattern, path):
                numbers = [int(one) for one in match.groups()]
                told: Told = getattr(self, f"_{method}")(
                    verb, numbers, asked, said, accounts[token]
                )
                return told
        return 404, {"detail": "Not found."}

    def _access(self) -> str:
        return f"eyJhbGciOi.eyJhY2Nlc3M.{self.access}"

    def _users(self, *_: Any) -> Told:
        emails = ["admin@bench.local", *NAMES]
        return 200, [{"id": number, "email": one} for number, one in enumerate(emails, 1)]

    def _whoami(self, *said: Any) -> Told:
        return 200, {"id": said[-1]}

    def _projects(self, verb: str, _: Any, asked: dict[str, str], said: Any, __: int) -> Told:
        if verb == "GET":
            rows = [
                {**one, "task_number": len(self._of(one["id"]))}
                for one in self.projects.values()
                if asked.get("title", "") in one["title"]
            ]
            return _page(rows, asked, "results", "count")
        if len(said["title"]) > 50:
            return 400, {"detail": "Validation error", "validation_errors": {"title": ["long"]}}
        number = len(self.projects) + 1
        self.projects[number] = {"maximum_annotations": 1, **said, "id": number}
        return 201, self.projects[number]

    def _project(self, verb: str, numbers: list[int], _: Any, said: Any, __: int) -> Told:
        project = self.projects[numbers[0]]
        before = project["maximum_annotations"]
        project.update(said)
        if (n := project["maximum_annotations"]) != before:
            tasks = self._of(project["id"])
            several = [one for one in tasks if one["overlap"] > 1] if n > 1 else tasks
            for task in several or tasks:
                task["overlap"] = n
                self._count(task)
        return 200, project

    def _storages(self, verb: str, _: Any, asked: dict[str, str], said: Any, __: int) -> Told:
        if verb == "POST":
            self.shared.append(said)
            return 201, said
        return 200, [one for one in self.shared if str(one["project"]) == asked["project"]]

    def _import(self, _: str, numbers: list[int], __: Any, said: Any, ___: int) -> Told:
        for task in said:
            number = max(self.tasks, default=0) + 1
            overlap = self.projects[numbers[0]]["maximum_annotations"]
            self.tasks[number] = {
                **task, "id": number, "project": numbers[0], "overlap": overlap,
                "is_labeled": False,
            }  # fmt: skip
        return 201, {"task_count": len(said)}

    def _tasks(self, _: str, __: Any, asked: dict[str, str], *___: Any) -> Told:
        rows = [self._told(one) for one in self._of(int(asked["project"]))]
        return _page(rows, asked, "tasks", "total")

    def _task(self, verb: str, numbers: list[int], _: Any, said: Any, __: int) -> Told:
        task = self.tasks.get(numbers[0])
        if task is None:
            return 404, {"detail": "Not found."}
        if verb == "DELETE":
            self.tasks.pop(numbers[0])
            return 204, ""
        task.update(said or {})
        return 200, self._told(task)

    def _export(self, _: str, numbers: list[int], *__: Any) -> Told:
        told = [self._told(one) for one in self._of(numbers[0])]
        return 200, [one for one in told if one["annotations"]]

    def _next(self, _: str, numbers: list[int], __: Any, ___: Any, who: int) -> Told:
        for task in self._of(numbers[0]):
            there = [one for one in self._said(task) if not one["was_cancelled"]]
            mine = [one for one in self._said(task) if one["completed_by"] == who]
            if not (task["is_labeled"] or mine or len(there) >= task["overlap"]):
                return 200, task
        return 404, {"detail": "There are no tasks."}

    def _annotate(self, _: str, numbers: list[int], __: Any, said: Any, who: int) -> Told:
        now = _now()
        number = max(self.annotations, default=0) + 1
        self.annotations[number] = {
            "completed_by": who, "was_cancelled": False, "lead_time": None, **said, "id": number,
            "task": numbers[0], "updated_by": who, "created_at": now, "updated_at": now,
        }  # fmt: skip
        self._count(self.tasks[numbers[0]])
        return 201, self.annotations[number]

    def _annotation(self, verb: str, numbers: list[int], _: Any, said: Any, who: int) -> Told:
        annotation = self.annotations[numbers[0]]
        if verb == "DELETE":
            self.annotations.pop(numbers[0])
            self._count(self.tasks[annotation["task"]])
            return 204, ""
        annotation.update({**said, "updated_by": who, "updated_at": _now()})
        return 200, annotation

    def _of(self, project: int) -> list[dict[str, Any]]:
        return [one for one in self.tasks.values() if one["project"] == project]

    def _said(self, task: dict[str, Any]) -> list[dict[str, Any]]:
        return [one for one in self.annotations.values() if one["task"] == task["id"]]

    def _told(self, task: dict[str, Any]) -> dict[str, Any]:
        said = self._said(task)
        return {**task, "annotations": said, "total_annotations": len(said)}

    def _count(self, task: dict[str, Any]) -> None:
        """Take a task for done once so many have answered; a skip is no answer."""
        people = {one["completed_by"] for one in self._said(task) if not one["was_cancelled"]}
        task["is_labeled"] = len(people) >= task["overlap"]


_PATHS = (
    (r"/api/users", "users"),
    (r"/api/current-user/whoami", "whoami"),
    (r"/api/projects", "projects"),
    (r"/api/projects/(\d+)", "project"),
    (r"/api/projects/(\d+)/import", "import"),
    (r"/api/projects/(\d+)/export", "export"),
    (r"/api/projects/(\d+)/next", "next"),
    (r"/api/storages/localfiles", "storages"),
    (r"/api/tasks", "tasks"),
    (r"/api/tasks/(\d+)/", "task"),
    (r"/api/tasks/(\d+)/annotations", "annotate"),
    (r"/api/annotations/(\d+)/", "annotation"),
)


@contextmanager
def serving(studio: ScriptedStudio) -> Iterator[str]:
    """Let it answer over HTTP on loopback; its address."""

    class Handler(_Handler):
        told = studio

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    told: ScriptedStudio
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        said = json.loads(self.rfile.read(length)) if length else None
        token = self.headers.get("Authorization", "").partition(" ")[2]
        asked = dict(parse_qsl(parts.query))
        with self.told.lock:
            status, told = self.told.say(self.command, parts.path, asked, said, token)
            breaks = bool(self.told.breaks) and parts.path == self.told.breaks
        body = told.encode() if isinstance(told, str) else json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if breaks else body)
        self.close_connection = breaks

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

    def log_message(self, *_: Any) -> None: ...


def _page(rows: list[dict[str, Any]], asked: dict[str, str], name: str, total: str) -> Told:
    size, page = int(asked.get("page_size", 100)), int(asked.get("page", 1))
    shown = rows[(page - 1) * size : page * size]
    if page > 1 and not shown:
        return 404, {"detail": "Invalid page."}
    return 200, {total: len(rows), name: shown}


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
