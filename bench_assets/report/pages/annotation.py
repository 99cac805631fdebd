"""Data of ``#/annotation``: annotation tasks, progress and quality.

Uses only tables, so that the report needs no annotation backend; annotators are pseudonyms.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from bench_assets.annotation.answers.progress import progress_of
from bench_assets.annotation.answers.quality import (
    UnitDisagreement,
    annotator_quality,
    disagreements,
)
from bench_assets.annotation.tasks import (
    AnnotationTask,
    AnnotationTerms,
    Answer,
    SuiteAnnotationTask,
    UndecidedUnits,
    Unit,
)
from bench_assets.asset_factory.annotation_inputs import undecided_in_task
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import TableError
from bench_assets.core.text.escaping import escape_to_one_line
from bench_assets.evaluation.suite import Suite
from bench_assets.report.site.folder import Site, combined_digest, slug
from bench_resources.config.bench_toml import Settings
from bench_resources.tables.parquet import TableFiles

_FORMAT = "1"  # version of the page's data format
_DISPUTED = 60  # units that are listed, those with the most disagreement
_REASONS = 20  # reasons why answers do not count that are listed, the most frequent ones
_IMAGES = 3  # images that are shown of a unit


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotationPages:
    """Writes ``annotation``, and ``annotation-<task>`` of each active task."""

    settings: Settings
    without_images: Collection[str] = ()
    """Suites whose images stay out of the report."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write every task's tables; inactive tasks by name only."""
        pages = [
            self._write_task(site, tables, suite, task)
            for suite in catalog.suites
            for task in suite.every_annotation_task
        ]
        site.put("annotation", pages)
        if any(page["data"] or page["problem"] for page in pages):
            site.tabs.append("annotation")

    def _write_task(
        self, site: Site, tables: TableFiles, suite: Suite, task: SuiteAnnotationTask
    ) -> dict[str, Any]:
        """Write the page of a task; returns the task's summary for the list of tasks."""
        name, title, about = task.task.name, task.task.title, task.task.about
        summary = {"task": name, "title": title, "about": about, "problem": "", "data": ""}
        units_key, answers_key = task.table("units").split("/"), task.table("answers").split("/")
        if not (tables.exists(units_key) and tables.exists(answers_key)):
            return summary
        try:
            units, answers = tables.read(units_key, Unit), tables.read(answers_key, Answer)
        except TableError as error:
            return {**summary, "problem": escape_to_one_line(str(error))}
        if not units and not answers:
            return summary
        page_name = f"annotation-{slug(name)}"
        omits_images = task.suite in self.without_images
        counted_answers = [answer for answer in answers if not answer.complaint]
        task_settings = self.settings.annotation.tasks.get(name)
        terms = task_settings.terms if task_settings else AnnotationTerms()
        undecided = undecided_in_task(tables, task, suite, units, counted_answers, terms)
        progress = progress_of(name, units, answers, undecided, datetime.now(UTC))
        stamps = [site.stamps.of(tables, key) for key in (units_key, answers_key)]
        inputs = combined_digest(_FORMAT, str(omits_images), *stamps, *sorted(undecided.open))
        if not site.has(page_name, inputs):
            page = _AnnotationPage(
                site,
                task.task,
                units=units,
                answers=answers,
                undecided=undecided,
                omits_images=omits_images,
            )
            site.put(page_name, page.data(), inputs, page.image_digests)
        return {**summary, "data": page_name, "progress": asdict(progress)}


class _AnnotationPage:
    """Data of one task's page, with its images."""

    def __init__(
        self,
        site: Site,
        task: AnnotationTask,
        units: Sequence[Unit],
        answers: Sequence[Answer],
        undecided: UndecidedUnits,
        *,
        omits_images: bool,
    ) -> None:
        self._site, self._task, self._omits_images = site, task, omits_images
        self._undecided = undecided
        self._units = {unit.unit_id: unit for unit in units}
        self._answers = answers
        self._counted_answers = [answer for answer in answers if not answer.complaint]
        self.image_digests: set[str] = set()

    def data(self) -> dict[str, Any]:
        """Annotators, units with the most disagreement, and reasons why answers do not count."""
        units = list(self._units.values())
        rows = disagreements(self._task, units, self._counted_answers, self._undecided.open)
        reasons = Counter(answer.complaint for answer in self._answers if answer.complaint)
        return {
            "annotators": [
                asdict(row) for row in annotator_quality(self._task, units, self._answers)
            ],
            "disputed": [self._disputed_unit(row) for row in rows[:_DISPUTED] if row.disagreement],
            "reasons": reasons.most_common(_REASONS),
        }

    def _disputed_unit(self, row: UnitDisagreement) -> dict[str, Any]:
        """A unit with its first images and, of each field with options, the counts of answers."""
        unit = self._units[row.unit_id]
        answers = [answer for answer in self._counted_answers if answer.unit_id == row.unit_id]
        return {
            **asdict(row),
            "shown": list(unit.shown.items()),
            "images": self._images([*unit.images.values()][:_IMAGES]),
            "said": [
                [
                    field.label,
                    Counter("; ".join(answer.values.get(field.name, ())) for answer in answers),
                ]
                for field in self._task.fields
                if field.kind in ("choice", "choices")
            ],
        }

    def _images(self, digests: Sequence[str]) -> list[list[Any]]:
        """Paths of images, which are added to ``image_digests``; [] if images are omitted."""
        if self._omits_images:
            return []
        stored_images = self._site.images(digests)
        self.image_digests.update(digests)
        return [list(image) for digest in digests if (image := stored_images[digest])]
