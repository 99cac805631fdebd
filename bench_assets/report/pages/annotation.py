"""Data of ``#/people``: annotation forms, progress and quality.

Only what tables hold, so that the report needs no annotation tool; people are pseudonyms there.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from bench_assets.annotation.answers.quality import (
    ItemDisagreement,
    disagreements,
    people_quality,
    progress_of,
)
from bench_assets.annotation.answers.resolution import open_items
from bench_assets.annotation.tasks.forms import Answer, Form, SuiteForm, Unit
from bench_assets.catalog import Catalog
from bench_assets.core.schema.errors import TableError
from bench_assets.core.text.escaping import one_line
from bench_assets.report.site.folder import Site, made_of
from bench_assets.report.site.scripts import slug
from resources.tables.parquet import TableFiles

_FORM = "1"  # of the data: raised when what the page reads changes
_DISPUTED = 60  # items that people differ on most
_REASONS = 20  # why answers do not count
_IMAGES = 3  # of an item


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePages:
    """One part of the report: ``people``, and ``people-<form>`` of each that was asked."""

    without_images: Collection[str] = ()
    """Suites whose images stay out of the report."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write what every form's tables hold; forms that nobody was asked are named alone."""
        forms = [form for suite in catalog.suites for form in suite.every_form]
        site.put("people", [self._form(site, tables, form) for form in forms])

    def _form(self, site: Site, tables: TableFiles, form: SuiteForm) -> dict[str, Any]:
        about = {"form": form.form.name, "title": form.form.title, "about": form.form.about}
        keys = [form.table(which).split("/") for which in ("items", "answers")]
        if not all(map(tables.exists, keys)):
            return {**about, "problem": "", "data": ""}
        try:
            items, answers = tables.read(keys[0], Unit), tables.read(keys[1], Answer)
        except TableError as why:
            return {**about, "problem": one_line(str(why)), "data": ""}
        if not items and not answers:
            return {**about, "problem": "", "data": ""}
        name = f"people-{slug(form.form.name)}"
        withheld = form.suite in self.without_images
        progress = progress_of(form.form.name, items, answers, datetime.now(UTC))
        inputs = made_of(_FORM, str(withheld), *(site.stamps.of(tables, key) for key in keys))
        if not site.has(name, inputs):
            page = _AnnotationPage(site, form.form, items, answers, withheld=withheld)
            site.put(name, page.data(), inputs, page.brought)
        return {**about, "problem": "", "data": name, "progress": asdict(progress)}


class _AnnotationPage:
    """The data of one form's page, while its images are brought."""

    def __init__(
        self,
        site: Site,
        form: Form,
        items: Sequence[Unit],
        answers: Sequence[Answer],
        *,
        withheld: bool,
    ) -> None:
        self._site, self._form, self._withheld = site, form, withheld
        self._items = {item.item_id: item for item in items}
        self._answers = answers
        self._counted = [one for one in answers if not one.complaint]
        self.brought: set[str] = set()

    def data(self) -> dict[str, Any]:
        """People, what they differ on most, and why answers do not count."""
        items = list(self._items.values())
        lacking = open_items(items, self._counted)
        rows = disagreements(self._form, items, self._counted, lacking)
        reasons = Counter(one.complaint for one in self._answers if one.complaint)
        return {
            "people": [asdict(row) for row in people_quality(self._form, items, self._answers)],
            "disputed": [self._disputed(row) for row in rows[:_DISPUTED] if row.disagreement],
            "reasons": reasons.most_common(_REASONS),
        }

    def _disputed(self, row: ItemDisagreement) -> dict[str, Any]:
        item = self._items[row.item_id]
        said = [one for one in self._counted if one.item_id == row.item_id]
        return {
            **asdict(row),
            "shown": list(item.shown.items()),
            "images": self._images([*item.images.values()][:_IMAGES]),
            "said": [
                [field.label, Counter("; ".join(one.values.get(field.name, ())) for one in said)]
                for field in self._form.fields
                if field.kind in ("choice", "choices")
            ],
        }

    def _images(self, digests: Sequence[str]) -> list[list[Any]]:
        if self._withheld:
            return []
        found = self._site.images(digests)
        self.brought.update(digests)
        return [list(image) for digest in digests if (image := found[digest])]
