"""Captioning left of the waist: people's captions, published or built here, to questions."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import decided_in, with_open
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.assets.images import image_assets
from bench_assets.suites.journeybench.assets.questions import (
    asked_tables,
    edition_of,
    published_rows,
    question_outs,
)
from bench_assets.suites.journeybench.assets.source import by_name
from bench_assets.suites.journeybench.captioning.dataset import (
    RELEASES,
    TASK_NAME,
    CaptionedImage,
    read_captioned_images,
    to_questions,
)
from bench_assets.suites.journeybench.captioning.task import TASK
from resources.datasets.source_files import SourceFiles
from resources.images.store import ImageStore
from resources.tables.parquet import TableFiles, table_output

_HERE = AssetFolder(TASK_NAME)

captioning_images = image_assets(_HERE, "captioning")


@dg.asset(ins=_HERE.ins("built"), deps=_HERE.source, **_HERE.stage("select"))
def entries(sources: SourceFiles, built: list[CaptionedImage]) -> dg.Output[list[CaptionedImage]]:
    """Take the captions of the published file, or those built here.

    One row: an image with what people wrote about it, five captions mostly; 1,042 published.
    """
    rows = published_rows(sources, "captioning", read_captioned_images, built)
    unknown = sorted({name for row in rows for name in row.unknown_categories})
    return table_output(rows, {"unknown_categories": ", ".join(unknown) or "none"})


@dg.multi_asset(
    name="captioning_questions",
    ins=_HERE.ins("entries", files="../images", fetched="images"),
    deps=decided_in(TASK),
    outs=question_outs(
        _HERE,
        "One row: an image that no caption is asked for, because it is not there.",
        "One row: one image, with people's captions of it; 1,042 published (section 3.2).",
    ),
)
def questions(
    sources: SourceFiles,
    tables: TableFiles,
    image_store: ImageStore,
    entries: list[CaptionedImage],
    files: list[StoredImage],
    fetched: list[StoredImage],
) -> Iterator[dg.Output[list[Any]]]:
    """Ask for a caption of every image that is there; nothing if the source has no captions."""
    asked, n = to_questions(entries, by_name([*files, *fetched])), len(entries)
    whole = not asked.rejections
    edition = edition_of(sources, "captioning", whole=whole, n=n, releases=RELEASES)
    waiting = partial(with_open, task=TASK, tables=tables, settings=sources.settings.load())
    yield from asked_tables(asked, n, edition, image_store, waiting)
