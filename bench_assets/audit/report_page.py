"""Data of ``#/audit``: audit findings to review.

Weights of suspects are comparable only within one check. Across checks, questions are ordered by
the number of failed checks that name them, then by their best position in one.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.audit.framework.findings import AuditRow
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Question
from bench_assets.core.text.escaping import escape_to_one_line
from bench_assets.evaluation.task import Task
from bench_assets.report.site.folder import Site, combined_digest, slug
from bench_resources.tables.parquet import TableFiles

_FORMAT_VERSION = "1"  # increased when the format of the page's data changes
_MAX_SUSPECTS = 200  # suspects per check that are shown
_MAX_FIRST = 24  # questions to review first
_MAX_IMAGES = 3  # images per suspect


@dataclass(frozen=True, slots=True)
class AuditPages:
    """Writes ``audit``, and ``audit-<task>`` of each audited task."""

    without_images: Collection[str] = ()  # suites whose images stay out of the report

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the findings of every task that evaluates models; unaudited tasks by name only."""
        model_tasks = [task for task in catalog.tasks if task.asked_of == "model"]
        entries = [self._write_task(site, tables, task) for task in model_tasks]
        site.put("audit", entries)
        if any(entry["data"] or entry["problem"] for entry in entries):
            site.tabs.append("audit")

    def _write_task(self, site: Site, tables: TableFiles, task: Task) -> dict[str, Any]:
        """Write the data of a task's page, and return its entry of ``audit``."""
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
        stamps = (site.stamps.of(tables, table) for table in (key, questions_key(task, "main")))
        inputs = combined_digest(_FORMAT_VERSION, str(withheld), *stamps)
        if not site.has(name, inputs):
            page = _TaskPage(site, _questions_by_id(tables, task), withheld=withheld)
            site.put(name, page.data(rows), inputs, page.image_digests)
        return {**entry, "data": name, "checks": [_check_summary(row) for row in rows]}


def count_failed_checks(rows: Sequence[AuditRow]) -> dict[str, int]:
    """Count the failed checks by suspect: most first, then by best position in one, and by name."""
    best_rank: dict[str, int] = {}
    n_checks: Counter[str] = Counter()
    for row in rows:
        if row.passed:
            continue
        for rank, suspect in enumerate(dict.fromkeys(row.about)):
            n_checks[suspect] += 1
            best_rank[suspect] = min(rank, best_rank.get(suspect, rank))
    ordered = sorted(
        n_checks, key=lambda suspect: (-n_checks[suspect], best_rank[suspect], suspect)
    )
    return {suspect: n_checks[suspect] for suspect in ordered}


class _TaskPage:
    """Data of one task's page; collects the digests of its images."""

    def __init__(self, site: Site, questions: Mapping[str, Question], *, withheld: bool) -> None:
        """Store the questions, by id; ``withheld`` leaves their images out."""
        self._site, self._questions, self._withheld = site, questions, withheld
        self._question_by_image: dict[str, str] = {}
        for question_id, question in questions.items():
            for digest in question.images:
                self._question_by_image.setdefault(digest, question_id)
        self.image_digests: set[str] = set()

    def data(self, rows: Sequence[AuditRow]) -> dict[str, Any]:
        """Findings, failed checks first; and the questions to review first."""
        ordered = sorted(rows, key=lambda row: (row.passed, bool(row.skipped)))
        n_checks = count_failed_checks(ordered)
        questions = [name for name in n_checks if name in self._questions][:_MAX_FIRST]
        return {
            "first": [
                {
                    **self._subject(question_id),
                    "said": _evidence_against(question_id, ordered),
                    "times": n_checks[question_id],
                }
                for question_id in questions
            ],
            "checks": [
                {
                    **_check_summary(row),
                    "sentence": row.sentence,
                    "n": row.n,
                    "suspects": [
                        {**self._subject(suspect.about), "evidence": suspect.evidence}
                        for suspect in row.suspects[:_MAX_SUSPECTS]
                    ],
                    "more": max(0, len(row.about) - _MAX_SUSPECTS),
                }
                for row in ordered
            ],
        }

    def _subject(self, name: str) -> dict[str, Any]:
        """Data of a suspect; an image has the first question that shows it."""
        if name in self._questions:
            question_id, text = name, self._questions[name].text
            digests = self._questions[name].images[:_MAX_IMAGES]
        else:
            question_id, text = self._question_by_image.get(name, ""), ""
            digests = (name,) if question_id else ()
        images = self._images(digests)
        return {"about": name, "question": question_id, "text": text, "images": images}

    def _images(self, digests: Sequence[str]) -> list[list[Any]]:
        """Data of the images that the site can show; none if they are withheld."""
        if self._withheld:
            return []
        self.image_digests.update(digests)
        stored_images = self._site.images(digests)
        return [list(image) for digest in digests if (image := stored_images[digest])]


def _check_summary(row: AuditRow) -> dict[str, Any]:
    return {
        "check": row.check,
        "question": row.question,
        "passed": row.passed,
        "skipped": row.skipped,
        "found": len(row.about),
    }


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
