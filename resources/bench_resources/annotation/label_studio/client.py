"""HTTP client of Label Studio, with both kinds of tokens; only over HTTPS or loopback."""

import html
import logging
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx

from bench_assets.annotation.tasks import AnnotationError, AnnotationTask
from bench_assets.core.schema.errors import SettingsError
from bench_resources.annotation.label_studio.units import PROPOSALS
from bench_resources.config.addresses import fill_keys, is_loopback
from bench_resources.http.pages import connection_problem

_JWT = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+", re.ASCII)


def validate_address(url: str) -> str:
    """Validate the server's address; returned without a trailing slash.

    Raises:
        SettingsError: If it is not a URL, or neither loopback nor HTTPS.

    >>> validate_address("http://127.0.0.1:8081/")
    'http://127.0.0.1:8081'
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    if not host or parts.username or parts.query or parts.fragment:
        raise SettingsError(
            "url should be the address of a Label Studio server, such as http://127.0.0.1:8081,"
            " without a user, query or fragment: the token belongs in the variable token_env"
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise SettingsError(
            f"url: {parts.scheme}://{host} would send the token and all answers unencrypted. Use"
            " https, or an address of this machine such as 127.0.0.1"
        )
    return url.rstrip("/")


def authorization(url: str, token: str) -> httpx.Auth:
    """Build the authorization for a token; its format tells the kind."""
    return _RefreshToken(url, token) if _JWT.fullmatch(token) else _LegacyToken(token)


class _LegacyToken(httpx.Auth):
    """Legacy token: forty characters, sent unchanged, without expiry."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["Authorization"] = f"Token {self._token}"
        yield request


class _RefreshToken(httpx.Auth):
    """Personal access token: a refresh token for access tokens that expire after five minutes."""

    requires_response_body = True

    def __init__(self, url: str, token: str) -> None:
        self._url = f"{url}/api/token/refresh"
        self._token = token
        self._access = ""

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._access:
            response = yield self._shown(request)
            if response.status_code != 401:
                return
        refreshed = yield httpx.Request("POST", self._url, json={"refresh": self._token})
        self._access = _parse_access_token(refreshed)
        yield self._shown(request)  # without an access token, the server refuses it

    def _shown(self, request: httpx.Request) -> httpx.Request:
        request.headers["Authorization"] = f"Bearer {self._access or None}"
        return request


def _parse_access_token(refreshed: httpx.Response) -> str:
    """Access token from the server's response; "" if refused."""
    try:
        payload = refreshed.json() if refreshed.status_code == 200 else {}
    except ValueError:
        return ""
    access = payload.get("access") if isinstance(payload, dict) else None
    return access if isinstance(access, str) and _JWT.fullmatch(access) else ""


_PAGE = 1000  # rows of a page
_LOT = 1000  # tasks of one import
_TIMEOUT = httpx.Timeout(900.0, connect=10.0)  # s; 20,000 answers take 20, or 200 if it is busy
_TRIES, _WAIT = 4, 0.25  # attempts of idempotent requests; s before the second, doubled each time
_TRANSIENT_STATUSES = {423, 429, 500, 502, 503, 504}  # the database is locked, or a proxy timed out
_ADVICE = {
    401: "the token is unknown or expired. Set the variable of token_env to a valid token"
    " (Account & Settings; a legacy token needs LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN=true)",
    403: "the token's account lacks permission",
    404: "url should be the address of Label Studio itself",
}


class LabelStudioTask(NamedTuple):
    """A task as the server lists it."""

    number: int
    data: Mapping[str, Any]
    overlap: int  # number of annotators; 0: hidden
    is_labeled: bool  # whether the server counts it as done
    answers: int


class LabelStudio:
    """Client of one server with one token."""

    def __init__(self, url: str, token: str) -> None:
        """Store the template of the validated address; sends no request."""
        self.url = url
        self._http = httpx.Client(
            base_url=fill_keys(url),
            auth=authorization(fill_keys(url), token),
            timeout=_TIMEOUT,
            trust_env=not is_loopback(httpx.URL(url).host),  # no proxy for loopback
            verify=url.startswith("https"),  # reading certificates takes 0.3 s
        )

    def accounts(self) -> dict[int, str]:
        """E-mail addresses of accounts by id."""
        payload = self._get("/api/users")
        return {one["id"]: str(one.get("email", "")) for one in self._rows(payload, "id")}

    def projects(self, title: str) -> list[dict[str, Any]]:
        """Find the projects whose title contains a text."""
        wanted = "id,title,label_config,maximum_annotations,task_number,show_collab_predictions"
        parameters = {"title": title, "include": wanted, "ordering": "id"}
        return list(self._pages("/api/projects", parameters, "results", "count"))

    def create(self, settings: Mapping[str, Any]) -> int:
        """Create a project; returns its id."""
        return int(self._object(self._say("POST", "/api/projects", settings), "id")["id"])

    def change(self, project: int, settings: Mapping[str, Any]) -> None:
        """Change settings of a project."""
        self._say("PATCH", f"/api/projects/{project}", settings)

    def share(self, project: int, folder: str) -> None:
        """Connect a project to the image folder, unless it is connected."""
        storages = self._get("/api/storages/localfiles", {"project": project})
        if folder in [one["path"] for one in self._rows(storages, "path")]:
            return
        self._say(
            "POST",
            "/api/storages/localfiles",
            {"project": project, "title": "images", "path": folder, "use_blob_urls": True,
             "regex_filter": "^$"},
        )  # fmt: skip

    def add(self, project: int, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Import tasks in batches; not idempotent."""
        for start in range(0, len(tasks), _LOT):
            lot = tasks[start : start + _LOT]
            self._say("POST", f"/api/projects/{project}/import", lot)

    def tasks(self, project: int) -> Iterator[LabelStudioTask]:
        """List the tasks of a project."""
        fields = "id,data,overlap,is_labeled,total_annotations"
        parameters = {"project": project, "fields": "task_only", "include": fields}
        for one in self._pages("/api/tasks", parameters, "tasks", "total"):
            yield LabelStudioTask(
                one["id"], one.get("data") or {}, int(one.get("overlap") or 0),
                bool(one.get("is_labeled")), int(one.get("total_annotations") or 0),
            )  # fmt: skip

    def show(self, task: int, overlap: int, *, again: bool) -> None:
        """Set a task's number of annotators (0 hides it), and reopen it if it was done."""
        self._say("PATCH", f"/api/tasks/{task}/", {"overlap": overlap})
        if not overlap:
            self._say("PATCH", f"/api/tasks/{task}/", {"is_labeled": True})
        elif again:  # in a second request: a change of overlap recomputes is_labeled
            self._say("PATCH", f"/api/tasks/{task}/", {"is_labeled": False})

    def export(self, project: int) -> list[dict[str, Any]]:
        """Export all tasks that have answers, with the answers."""
        return self._rows(self._get(f"/api/projects/{project}/export", {"exportType": "JSON"}))

    def _pages(
        self, path: str, parameters: Mapping[str, Any], rows: str, total: str
    ) -> Iterator[dict[str, Any]]:
        """Read all pages of a list; the page after the last one is a 404."""
        seen: set[int] = set()
        page = 1
        while True:
            answer = self._get(path, {**parameters, "page": page, "page_size": _PAGE})
            payload = self._object(answer, rows, total)
            new = [one for one in self._rows(payload[rows], "id") if one["id"] not in seen]
            yield from new
            seen |= {one["id"] for one in new}
            if len(seen) >= payload[total]:
                return
            if not new:
                raise AnnotationError(
                    f"{self.url}{path}: the list changed while it was read. Run the command again"
                )
            page += 1

    def _get(self, path: str, parameters: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
        return self._say("GET", path, params=parameters)

    def _say(
        self,
        verb: str,
        path: str,
        body: object = None,
        *,
        params: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  (JSON)
        where = f"{self.url}{path}"
        tries = 1 if verb == "POST" else _TRIES  # a repeated POST would create a duplicate
        for tries_left in reversed(range(tries)):
            try:
                response = self._http.request(verb, path, json=body, params=params)
            except httpx.HTTPError as error:
                raise AnnotationError(
                    f"{where}: {connection_problem(error)}. Start Label Studio (bench annotate"
                    " server), or correct url of [annotation]"
                ) from error
            if not tries_left or response.status_code not in _TRANSIENT_STATUSES:
                break
            time.sleep(_WAIT * 2 ** (tries - 1 - tries_left))
        return self._read(where, response)

    @staticmethod
    def _read(where: str, response: httpx.Response) -> Any:  # noqa: ANN401  (JSON)
        if not response.is_success:
            phrase = httpx.codes.get_reason_phrase(response.status_code)  # "" of a proxy's own
            advice = _ADVICE.get(response.status_code) or _detail(response)
            raise AnnotationError(f"{where}: {response.status_code} {phrase}: {advice}")
        try:
            return response.json()
        except ValueError as error:
            raise AnnotationError(
                f"{where}: the response is not JSON: {response.text[:60]!r}. Is this Label Studio?"
            ) from error

    def _object(self, told: object, *names: str) -> dict[str, Any]:
        if isinstance(told, dict) and all(name in told for name in names):
            return told
        raise AnnotationError(f"{self.url}: expected {', '.join(names)}, got {told!r:.80}")

    def _rows(self, told: object, *names: str) -> list[dict[str, Any]]:
        if isinstance(told, list):
            return [self._object(one, *names) for one in told]
        raise AnnotationError(f"{self.url}: expected a list, got {told!r:.80}")


def _detail(response: httpx.Response) -> str:
    """The server's error message in one line."""
    try:
        payload = response.json()
    except ValueError:
        return response.text[:200]
    if not isinstance(payload, dict):
        return str(payload)[:200]
    faults = payload.get("validation_errors")
    return f"{payload.get('detail', '')} {faults if faults else ''}".strip()[:300]


_NAME, _VERSION = 35, 12  # characters; a title has 50 at most

_log = logging.getLogger("bench_assets.annotation.answers")


@dataclass(frozen=True, slots=True)
class Project:
    """A project on the server."""

    number: int
    title: str
    settings: Mapping[str, Any]
    n_tasks: int

    @property
    def is_open(self) -> bool:
        """Whether any of its tasks is shown to annotators."""
        return bool(self.settings["maximum_annotations"])


def title_of(annotation_task: AnnotationTask) -> str:
    """Title of a task's project: its name and the digest of everything it shows."""
    return f"{_prefix(annotation_task)}{annotation_task.version[:_VERSION]}"


def projects_of(server: LabelStudio, annotation_task: AnnotationTask) -> list[Project]:
    """Find the projects of all versions of a task, by their titles."""
    found = []
    for one in server.projects(_prefix(annotation_task)):
        title = str(one["title"])
        if title.startswith(_prefix(annotation_task)) and len(title) == len(
            title_of(annotation_task)
        ):
            settings = {
                name: one.get(name)
                for name in ("label_config", "maximum_annotations", "show_collab_predictions")
            }
            found.append(Project(one["id"], title, settings, int(one.get("task_number") or 0)))
    return found


def current(annotation_task: AnnotationTask, projects: Sequence[Project]) -> Project | None:
    """Project of the present version: the one with most tasks, then the newest.

    A title may occur twice, because the server repeats a request when its database is locked.
    """
    matching = [one for one in projects if one.title == title_of(annotation_task)]
    if not matching:
        return None
    chosen = max(matching, key=lambda one: (one.n_tasks, one.number))
    if others := [str(one.number) for one in matching if one is not chosen]:
        _log.warning(
            "Label Studio has several projects of the title %s: %d is used; delete %s if they have"
            " no answers",
            chosen.title, chosen.number, ", ".join(others),
        )  # fmt: skip
    return chosen


def settings_of(
    annotation_task: AnnotationTask, config: str, overlap: int, *, proposals: bool
) -> dict[str, Any]:
    """All settings of a task's project."""
    instructions = html.escape(annotation_task.instructions).replace("\n", "<br>")
    return {
        "title": title_of(annotation_task),
        "description": html.escape(f"{annotation_task.title} {annotation_task.about}".strip()),
        "label_config": config,
        "maximum_annotations": overlap,
        "show_collab_predictions": proposals,
        "model_version": PROPOSALS if proposals else "",
        "sampling": "Uniform sampling",
        "skip_queue": "REQUEUE_FOR_OTHERS",
        "enable_empty_annotation": not any(field.required for field in annotation_task.fields),
        "expert_instruction": instructions,
        "show_instruction": bool(instructions),
    }


def settings_differ(wanted: Mapping[str, Any], project: Project) -> bool:
    """Whether a project's settings differ from ours: any account may change them."""
    return any(wanted[name] != value for name, value in project.settings.items())


def _prefix(annotation_task: AnnotationTask) -> str:
    name = annotation_task.name
    if len(name) > _NAME:
        name = f"{name[: _NAME - 9]}~{sha256(name.encode()).hexdigest()[:8]}"
    return f"{name} @"
