"""Builds the report of a home: all parts write their data, then the site is published at once."""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Protocol

from bench_assets.catalog import Catalog
from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.features import hooks_of
from bench_assets.report.pages.annotation import AnnotationPages
from bench_assets.report.pages.comparison import ComparisonPage
from bench_assets.report.pages.gold import GoldPage
from bench_assets.report.pages.index import IndexPage
from bench_assets.report.pages.numbers import NumberPages
from bench_assets.report.pages.tasks import TaskPages
from bench_assets.report.point_provenance import PointProvenance
from bench_assets.report.samples.writer import Samples
from bench_assets.report.site.folder import Site
from bench_resources.config.bench_toml import Settings
from bench_resources.config.stores import existing_response_store
from bench_resources.images.store import open_image_store
from bench_resources.storage.locks import LockWait, hold_locks
from bench_resources.tables.parquet import TableFiles

FOLDER = "report"


class ReportPart(Protocol):
    """A part of the report: one or several pages."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the data of the pages; unreadable tables do not stop it."""


def parts(
    standings: Sequence[LeaderboardRow],
    catalog: Catalog,
    settings: Settings,
    without_images: Collection[str] = (),
    missing: Sequence[str] = (),
) -> list[ReportPart]:
    """All parts of the report.

    Images of the suites ``without_images`` are left out. ``missing`` are lines about checkpoints
    without a number.
    """
    published, _ = catalog.published()
    store = existing_response_store(settings)
    return [
        IndexPage(standings, published, settings=settings, missing=missing),
        TaskPages(standings, published, models=settings.models),
        Samples(
            without_images=without_images, find_prompts=store.prompts_of if store else lambda _: {}
        ),
        NumberPages(settings=settings),
        ComparisonPage(),
        GoldPage(),
        PointProvenance(),
        *(make_pages(without_images) for make_pages in hooks_of("report part")),
        AnnotationPages(settings=settings, without_images=without_images),
    ]


def make_report(
    settings: Settings,
    tables: TableFiles,
    catalog: Catalog,
    report_parts: Sequence[ReportPart],
    report_wait: Callable[[LockWait], object],
) -> Path:
    """Build the report of a home, or update its stale parts; return its ``index.html``.

    ``report_wait`` is called if another process builds the report.

    Raises:
        HomeError: If it cannot be written.
    """
    home = settings.home
    images = open_image_store(settings)
    with hold_locks(home / "locks", [FOLDER], report_wait):
        site = Site(home / FOLDER, images)
        write_report(site, tables, catalog, report_parts)
    return site.folder / "index.html"


def write_report(
    site: Site, tables: TableFiles, catalog: Catalog, report_parts: Sequence[ReportPart]
) -> None:
    """Write the data of every part into the site, then publish it."""
    for part in report_parts:
        part.write(site, tables, catalog)
    site.finish()
