"""HaloQuest left of the waist: from its CSV, or the questions built here, to the question table."""

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
from bench_assets.suites.journeybench.hallucination_vqa.dataset import (
    RELEASES,
    TASK_NAME,
    TriggerQuestion,
    read_trigger_questions,
    to_questions,
)
from bench_assets.suites.journeybench.hallucination_vqa.task import TASK
from resources.datasets.source_files import SourceFiles
from resources.images.store import ImageStore
from resources.tables.parquet import TableFiles, table_output

_HERE = AssetFolder(TASK_NAME)

hallucination_images = image_assets(_HERE, "hallucination_vqa")


@dg.asset(
    ins=_HERE.ins("built"),
    deps=_HERE.source,
    **_HERE.stage("select"),
)
def entries(sources: SourceFiles, built: list[TriggerQuestion]) -> dg.Output[list[TriggerQuestion]]:
    """Take the entries of the published file, or those built here.

    One row: a question about an image that invites a hallucination, with people's answers. 608
    in the published evaluation split.
    """
    return table_output(published_rows(sources, "hallucination_vqa", read_trigger_questions, built))


@dg.multi_asset(
    name="hallucination_vqa_questions",
    ins=_HERE.ins("entries", files="../images", fetched="images"),
    deps=decided_in(TASK),
    outs=question_outs(
        _HERE,
        "One row: an entry that is not asked, because its image is not there or does not decode.",
        "One row: one question about one image. 608 when all images are there, by trigger 304 "
        "(false premises), 183 (visual challenge) and 121 (insufficient context).",
    ),
)
def questions(
    sources: SourceFiles,
    tables: TableFiles,
    image_store: ImageStore,
    entries: list[TriggerQuestion],
    files: list[StoredImage],
    fetched: list[StoredImage],
) -> Iterator[dg.Output[list[Any]]]:
    """Ask about every image that is there; nothing if the source has no such entries."""
    asked, n = to_questions(entries, by_name([*files, *fetched])), len(entries)
    whole = not asked.rejections
    edition = edition_of(sources, "hallucination_vqa", whole=whole, n=n, releases=RELEASES)
    waiting = partial(with_open, task=TASK, tables=tables, settings=sources.settings.load())
    yield from asked_tables(asked, n, edition, image_store, waiting)
