"""MULTI's dataset build: source, items, images and the question table."""

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.asset_metadata import rejection_metadata
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import image_files
from bench_assets.suites.multi.construction import decisions
from bench_assets.suites.multi.construction.annotation import DUPLICATE_CONFLICTS
from bench_assets.suites.multi.construction.decisions import apply_decisions
from bench_assets.suites.multi.construction.item_checks import Duplicate
from bench_assets.suites.multi.construction.markup import convert_item, draw_table
from bench_assets.suites.multi.dataset.questions import is_release, to_questions
from bench_assets.suites.multi.dataset.source import (
    MultiItem,
    MultiRelease,
    find_release,
    read_items,
    source_files,
)
from bench_assets.suites.multi.settings import MultiSettings
from bench_assets.suites.multi.synthetic import edition as mini
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, table_output

MULTI = AssetFolder("multi", "2")


def open_release(sources: SourceFiles) -> MultiRelease:
    """Find the files of the suite's source."""
    return find_release(sources.open("multi").folder)


@MULTI.step("source")
def source(sources: SourceFiles) -> list[SourceFile]:
    """Write the mini edition if no source is configured, and record the digest of every file."""
    opened = sources.open("multi")
    if opened.is_mini:
        mini.write(opened.folder)
    return source_files(find_release(opened.folder))


@MULTI.step("source", deps=MULTI.source)
def raw_items(sources: SourceFiles) -> list[MultiItem]:
    """Read the questions."""
    return read_items(open_release(sources)).rows


@MULTI.step("select")
def items(raw_items: list[MultiItem]) -> list[MultiItem]:
    """Convert the questions to Markdown (section 3.2, data pre-process)."""
    return [convert_item(item).item for item in raw_items]


@MULTI.step("images", deps=MULTI.source)
def images(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    raw_items: list[MultiItem],
) -> dg.Output[list[StoredImage]]:
    """Store the images of the folder, and the tables that are drawn; log those that cannot be."""
    stored, broken = image_store.put_files(image_files(open_release(sources).images))
    chosen = settings.suite("multi", MultiSettings)
    font = settings.resolve(chosen.font) if chosen.font else None
    tables: dict[str, str] = {}
    for item in raw_items:
        tables |= convert_item(item).tables
    drawn = []
    for name, html in tables.items():
        try:
            drawn.append(image_store.put(draw_table(html, font), name))
        except ImageError as error:
            context.log.warning(f"{name} cannot be drawn: {error}")
    counts = {"tables_drawn": len(drawn), "tables_not_drawn": len(tables) - len(drawn)}
    return table_output(stored + drawn, {**counts, **rejection_metadata(broken)})


@MULTI.steps(
    "multi_selection",
    {"rejections": "select", "questions": "questions"},
    reads={"stored": "images"},
    deps=[*MULTI.source, answers_key(DUPLICATE_CONFLICTS)],
)
def questions(  # noqa: PLR0913, PLR0917  (a resource or table each)
    sources: SourceFiles,
    image_store: ImageStore,
    tables: TableFiles,
    dropped_items: list[Rejection],
    transformed_items: list[MultiItem],
    duplicates: list[Duplicate],
    stored: list[StoredImage],
) -> tuple[list[Rejection], dg.Output[list[Question]]]:
    """Build the question table, and a rejection for every other picked item."""
    release = open_release(sources)
    edition = sources.open("multi").edition(
        published=release.annotations is None, whole=is_release(transformed_items)
    )
    pairs = apply_decisions(duplicates, counted_rows(tables, DUPLICATE_CONFLICTS))
    questions = to_questions(
        decisions.drop_duplicates(transformed_items, pairs),
        {image.name: image for image in stored},
        edition,
    )
    rejections = [
        *read_items(release).rejections,
        *dropped_items,
        *decisions.duplicate_rejections(pairs),
        *questions.rejections,
    ]
    preview = question_preview(questions.rows, image_store)
    return rejections, table_output(questions.rows, preview)
