"""The endpoints of a Label Studio that are used, and what it says where it cannot be."""

import time
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

import httpx

from bench_assets.people.port import PeopleError
from resources.people.label_studio.tokens import authorization, is_loopback

_PAGE = 1000  # rows of a page
_LOT = 1000  # tasks of one import
_TIMEOUT = httpx.Timeout(900.0, connect=10.0)  # s; 20,000 answers take 20, or 200 where it is busy
_TRIES, _WAIT = 4, 0.25  # of what may be said twice; s before the second, then twice as long
_PASSING = {423, 429, 500, 502, 503, 504}  # the data base is locked, a proxy waits
_ADVICE = {
    401: "the token is not, or no longer, known there: token_env should name a variable with one"
    " (Account & Settings; a legacy token needs LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN=true)",
    403: "the account behind the token may not do this",
    404: "url should be where the Label Studio itself is",
}


class Task(NamedTuple):
    """One task, without what it shows."""

    number: int
    data: Mapping[str, Any]
    overlap: int  # people that it is shown to; 0: to nobody any more
    is_labeled: bool  # whether it is taken for done
    answers: int


class LabelStudio:
    """One server, asked with one token."""

    def __init__(self, url: str, token: str) -> None:
        """Ask nothing yet; ``url`` was checked."""
        self.url = url
        self._http = httpx.Client(
            base_url=url,
            auth=authorization(url, token),
            timeout=_TIMEOUT,
            trust_env=not is_loopback(httpx.URL(url).host),  # no proxy between us and ourselves
            verify=url.startswith("https"),  # reading certificates takes 0.3 s
        )

    def accounts(self) -> dict[int, str]:
        """The address of each account by its number."""
        told = self._get("/api/users")
        return {one["id"]: str(one.get("email", "")) for one in self._rows(told, "id")}

    def projects(self, title: str) -> list[dict[str, Any]]:
        """Find the projects whose title has these characters anywhere."""
        wanted = "id,title,label_config,maximum_annotations,task_number,show_collab_predictions"
        asked = {"title": title, "include": wanted, "ordering": "id"}
        return list(self._pages("/api/projects", asked, "results", "count"))

    def create(self, settings: Mapping[str, Any]) -> int:
        """Make a project; its number."""
        return int(self._object(self._say("POST", "/api/projects", settings), "id")["id"])

    def change(self, project: int, settings: Mapping[str, Any]) -> None:
        """Change settings of a project."""
        self._say("PATCH", f"/api/projects/{project}", settings)

    def share(self, project: int, folder: str) -> None:
        """Let a project show the pictures of a folder, once."""
        there = self._get("/api/storages/localfiles", {"project": project})
        if folder in [one["path"] for one in self._rows(there, "path")]:
            return
        self._say(
            "POST",
            "/api/storages/localfiles",
            {"project": project, "title": "pictures", "path": folder, "use_blob_urls": True,
             "regex_filter": "^$"},
        )  # fmt: skip

    def add(self, project: int, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Import tasks, as many at once as it bears; twice makes them twice."""
        for start in range(0, len(tasks), _LOT):
            lot = tasks[start : start + _LOT]
            self._say("POST", f"/api/projects/{project}/import", lot)

    def tasks(self, project: int) -> Iterator[Task]:
        """List the tasks of a project."""
        fields = "id,data,overlap,is_labeled,total_annotations"
        asked = {"project": project, "fields": "task_only", "include": fields}
        for one in self._pages("/api/tasks", asked, "tasks", "total"):
            yield Task(
                one["id"], one.get("data") or {}, int(one.get("overlap") or 0),
                bool(one.get("is_labeled")), int(one.get("total_annotations") or 0),
            )  # fmt: skip

    def show(self, task: int, overlap: int, *, again: bool) -> None:
        """Show a task to so many people, 0 for nobody; again if it was taken for done."""
        self._say("PATCH", f"/api/tasks/{task}/", {"overlap": overlap})
        if not overlap:
            self._say("PATCH", f"/api/tasks/{task}/", {"is_labeled": True})
        elif again:  # in a second call: together, the first counts what is there
            self._say("PATCH", f"/api/tasks/{task}/", {"is_labeled": False})

    def export(self, project: int) -> list[dict[str, Any]]:
        """Every task with an answer, with all of them."""
        return self._rows(self._get(f"/api/projects/{project}/export", {"exportType": "JSON"}))

    def _pages(
        self, path: str, asked: Mapping[str, Any], rows: str, total: str
    ) -> Iterator[dict[str, Any]]:
        """Read all pages of a list; past the last one is 404, and none may be missing."""
        seen: set[int] = set()
        page = 1
        while True:
            answer = self._get(path, {**asked, "page": page, "page_size": _PAGE})
            told = self._object(answer, rows, total)
            new = [one for one in self._rows(told[rows], "id") if one["id"] not in seen]
            yield from new
            seen |= {one["id"] for one in new}
            if len(seen) >= told[total]:
                return
            if not new:
                raise PeopleError(f"{self.url}{path}: the list changed while it was read; again")
            page += 1

    def _get(self, path: str, asked: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
        return self._say("GET", path, params=asked)

    def _say(
        self,
        verb: str,
        path: str,
        said: object = None,
        *,
        params: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  (JSON)
        where = f"{self.url}{path}"
        tries = 1 if verb == "POST" else _TRIES  # what is made twice is there twice
        for again in reversed(range(tries)):
            try:
                response = self._http.request(verb, path, json=said, params=params)
            except httpx.HTTPError as why:
                told = f"{where}: {type(why).__name__}: {why}"
                raise PeopleError(f"{told}; is the Label Studio running?") from why
            if not again or response.status_code not in _PASSING:
                break
            time.sleep(_WAIT * 2 ** (tries - 1 - again))
        return self._read(where, response)

    @staticmethod
    def _read(where: str, response: httpx.Response) -> Any:  # noqa: ANN401  (JSON)
        if not response.is_success:
            phrase = HTTPStatus(response.status_code).phrase if response.status_code < 600 else ""
            advice = _ADVICE.get(response.status_code) or _detail(response)
            raise PeopleError(f"{where}: {response.status_code} {phrase}: {advice}")
        try:
            return response.json()
        except ValueError as why:
            raise PeopleError(
                f"{where}: what came is no JSON: {response.text[:60]!r}; is it a Label Studio?"
            ) from why

    def _object(self, told: object, *names: str) -> dict[str, Any]:
        if isinstance(told, dict) and all(name in told for name in names):
            return told
        raise PeopleError(f"{self.url}: expected {', '.join(names)}, found {told!r:.80}")

    def _rows(self, told: object, *names: str) -> list[dict[str, Any]]:
        if isinstance(told, list):
            return [self._object(one, *names) for one in told]
        raise PeopleError(f"{self.url}: expected a list, found {told!r:.80}")


def _detail(response: httpx.Response) -> str:
    """What it says of its refusal, in a line."""
    try:
        told = response.json()
    except ValueError:
        return response.text[:200]
    if not isinstance(told, dict):
        return str(told)[:200]
    faults = told.get("validation_errors")
    return f"{told.get('detail', '')} {faults if faults else ''}".strip()[:300]
