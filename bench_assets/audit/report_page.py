"""Data of ``#/audit``: audit findings to review.

Weights of suspects are comparable only within one check. Across checks, questions are ordered by
the number of failed checks that name them, then by their best position in one.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.audit.framework.findings import AuditRow, Suspect
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Question
from bench_assets.core.text.escaping import escape_to_one_line
from bench_assets.evaluation.task import Task
from bench_assets.report.site.folder import Site, combined_digest, slug
from bench_resources.tables.parquet import TableFiles

_FORM = "1"  # version of the data, increased when the page's format changes
_LISTED = 200  # suspects per check
_FIRST = 24  # questions to review first
_IMAGES = 3  # images per suspect
_DIGEST = re.compile(r"[0-9a-f]{64}")


def audit_pages(without_images: Collection[str]) -> "AuditPages":
    """The audit's part of the report, without the images of the given suites."""
    return AuditPages(without_images=without_images)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPages:
    """Writes ``audit``, and ``audit-<task>`` of each audited task."""

    without_images: Collection[str] = ()
    """Suites whose images stay out of the report."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the findings of every task that evaluates models; unaudited tasks by name only."""
        model_tasks = [task for task in catalog.tasks if task.asked_of == "model"]
        task_pages = [self._task(site, tables, task) for task in model_tasks]
        site.put("audit", task_pages)
        site.tabs += ["audit"] * any(
            task_page["data"] or task_page["problem"] for task_page in task_pages
        )

    def _task(self, site: Site, tables: TableFiles, task: Task) -> dict[str, Any]:
        key = [*task.name.split("/"), "audit"]
        entry: dict[str, Any] = {"task": task.name, "problem": "", "data": "", "checks": []}
        if not tables.exists(key):
            return entry
        try:
            rows = tables.read(key, AuditRow)
        except TableError as error:
            return {**entry, "problem": escape_to_one_line(str(error))}
        name = f"audit-{slug(task.name)}"
        withheld = task.suite in self.without_images
        read = (site.stamps.of(tables, table) for table in (key, questions_key(task, "main")))
        inputs = combined_digest(_FORM, str(withheld), *read)
        if not site.has(name, inputs):
            page = _Page(site, _questions_by_id(tables, task), withheld=withheld)
            site.put(name, page.of(rows), inputs, page.brought)
        return {**entry, "data": name, "checks": [_state(row) for row in rows]}


def most_named(rows: Sequence[AuditRow]) -> dict[str, int]:
    """Number of failed checks by suspect; most first, then by best position in a check."""
    first: dict[str, int] = {}
    times: dict[str, int] = {}
    for row in rows:
        for rank, suspect in enumerate(() if row.passed else dict.fromkeys(row.about)):
            times[suspect] = times.get(suspect, 0) + 1
            first[suspect] = min(rank, first.get(suspect, rank))
    return {name: times[name] for name in sorted(times, key=lambda n: (-times[n], first[n], n))}


class _Page:
    """Data of one task's page, with its images."""

    def __init__(self, site: Site, shown_by: Mapping[str, Question], *, withheld: bool) -> None:
        self._site, self._shown_by, self._withheld = site, shown_by, withheld
        self._of_image: dict[str, str] = {}
        for name, question in shown_by.items():
            for digest in question.images:
                self._of_image.setdefault(digest, name)
        self.brought: set[str] = set()

    def of(self, rows: Sequence[AuditRow]) -> dict[str, Any]:
        """Findings, failed checks first; and the questions to review first."""
        ordered = sorted(rows, key=lambda row: (row.passed, bool(row.skipped)))
        rows_by_subject = most_named(ordered)
        questions = [name for name in rows_by_subject if name in self._shown_by][:_FIRST]
        return {
            "first": [
                {
                    **self._seen(name),
                    "said": _evidence_against(name, ordered),
                    "times": rows_by_subject[name],
                }
                for name in questions
            ],
            "checks": [
                {
                    **_state(row),
                    "sentence": row.sentence,
                    "n": row.n,
                    "suspects": [self._suspect(suspect) for suspect in row.suspects[:_LISTED]],
                    "more": max(0, len(row.about) - _LISTED),
                }
                for row in ordered
            ],
        }

    def _suspect(self, suspect: Suspect) -> dict[str, Any]:
        return {**self._seen(suspect.about), "evidence": suspect.evidence}

    def _seen(self, suspect: str) -> dict[str, Any]:
        """Data of a suspect: a question, or an image with the first question that shows it."""
        question = suspect if suspect in self._shown_by else self._of_image.get(suspect, "")
        text, images = "", [suspect] if _DIGEST.fullmatch(suspect) and question else []
        if question == suspect:
            text, images = (
                self._shown_by[suspect].text,
                list(self._shown_by[suspect].images[:_IMAGES]),
            )
        return {
            "about": suspect,
            "question": question,
            "text": text,
            "images": self._images(images),
        }

    def _images(self, digests: Sequence[str]) -> list[list[Any]]:
        if self._withheld:
            return []
        stored_images = self._site.images(digests)
        self.brought.update(digests)
        return [list(image) for digest in digests if (image := stored_images[digest])]


def _state(row: AuditRow) -> dict[str, Any]:
    columns = ("check", "question", "passed", "skipped")
    return {**{name: asdict(row)[name] for name in columns}, "found": len(row.about)}


def _evidence_against(name: str, rows: Sequence[AuditRow]) -> list[str]:
    """Evidence of every failed check that names an item."""
    return [
        suspect.evidence
        for row in rows
        if not row.passed
        for suspect in row.suspects
        if suspect.about == name
    ]


def _questions_by_id(tables: TableFiles, task: Task) -> dict[str, Question]:
    """Questions by id; empty if they cannot be read (the leaderboard has the reason)."""
    try:
        rows = tables.read(questions_key(task, "main"), Question)
    except TableError:
        return {}
    return {row.question_id: row for row in rows}
