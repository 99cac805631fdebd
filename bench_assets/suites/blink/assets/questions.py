"""Dataset build of BLINK: from the files of its source to the question tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.asset_metadata import rejection_metadata
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Edition, Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.read_rows import take_rows
from bench_assets.core.tables.source_folder import files_below, image_files, pin
from bench_assets.suites.blink.annotation import ANSWER_CHECK, apply_checks
from bench_assets.suites.blink.construction.build import (
    QuestionProposal,
    TaskBuildResult,
    choose,
    draw_questions,
    no_questions_error,
    propose,
)
from bench_assets.suites.blink.construction.marked_points import (
    IQ_IMAGES,
    MARKING_TASKS,
    TO_MARK,
    write_marked_data,
)
from bench_assets.suites.blink.dataset import (
    KEY,
    PERCEPTION_TASKS,
    BlinkItem,
    absent_tasks,
    find_route,
    hidden_split,
    name_edition,
    questions_from_key,
    read_items,
    read_key,
    scorable,
    to_question,
)
from bench_assets.suites.blink.settings import RAW_DATA, BlinkSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, table_output

BLINK = AssetFolder("blink")
_ANNOTATIONS = [answers_key(form) for form in (*MARKING_TASKS, IQ_IMAGES)]


@BLINK.step("source")
def source(sources: SourceFiles, settings: dg.ResourceParam[Settings]) -> list[SourceFile]:
    """Record the digest of every source file."""
    opened = sources.open("blink")
    if opened.is_mini:
        require_extra("BLINK's mini edition", "cv2")
        from bench_assets.suites.blink.synthetic import edition as mini

        mini.write(opened.folder, settings.suite("blink", BlinkSettings).seed)
    return pin(files_below(opened.folder), opened.folder)


@BLINK.step("images", deps=BLINK.source)
def images_to_mark(sources: SourceFiles, image_store: ImageStore) -> dg.Output[list[StoredImage]]:
    """Store the images that annotators will mark."""
    folder = sources.open("blink").folder / TO_MARK
    files = image_files(folder) if folder.is_dir() else {}
    stored_images, undecodable = image_store.put_files(files)
    return table_output(stored_images, {"not_decoded": len(undecodable)})


class _RawSource(NamedTuple):
    folders: list[Path]  # the source, and the annotated raw data
    edition: Edition
    settings: BlinkSettings


@contextmanager
def open_raw_source(
    sources: SourceFiles,
    settings: Settings,
    image_store: ImageStore,
    tables: TableFiles,
    to_mark: list[StoredImage],
) -> Iterator[_RawSource | None]:
    """Open the raw data sets of the source and those made from annotations.

    Yields None if the source is not of raw data sets.
    """
    opened = sources.open("blink")
    if not RAW_DATA.is_in(opened.folder):
        yield None
        return
    with TemporaryDirectory() as annotated:
        marked = [row for form in MARKING_TASKS for row in counted_rows(tables, form)]
        puzzles = counted_rows(tables, IQ_IMAGES)
        images = {image.name: image for image in to_mark}
        write_marked_data(Path(annotated), marked, puzzles, images, image_store.read)
        yield _RawSource(
            folders=[opened.folder, Path(annotated)],
            edition=opened.edition(published=False, whole=False),
            settings=settings.suite("blink", BlinkSettings),
        )


@BLINK.part_step("select", RAW_DATA, "task", deps=_ANNOTATIONS)
def proposals(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    tables: TableFiles,
    images_to_mark: list[StoredImage],
) -> list[QuestionProposal]:
    """Propose questions from one raw data set: points, boxes and places of the right option."""
    with open_raw_source(sources, settings, image_store, tables, images_to_mark) as raw:
        if raw is None:
            return []
        return [
            proposal
            for task in context.partition_keys
            for proposal in propose(raw.folders, task, raw.settings.seed, raw.settings.builders)
        ]


@BLINK.part_step("select", RAW_DATA, "task", whole_tables=["proposals"])
def builders(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    proposals: list[QuestionProposal],
) -> list[TaskBuildResult]:
    """Choose the proposals that become questions; each image is used once."""
    if not RAW_DATA.is_in(sources.open("blink").folder):
        return []
    choices = choose(proposals, settings.suite("blink", BlinkSettings).builders)
    return [choices[task].result for task in context.partition_keys]


@BLINK.part_step("images", RAW_DATA, "category", deps=_ANNOTATIONS)
def drawn_questions(
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    tables: TableFiles,
    images_to_mark: list[StoredImage],
    builders: list[TaskBuildResult],
) -> list[Question]:
    """Draw the chosen questions: visual prompts and options, with balanced letters and splits."""
    with open_raw_source(sources, settings, image_store, tables, images_to_mark) as raw:
        if raw is None:
            return []
        questions = [
            question
            for result in builders
            for question in draw_questions(
                raw.folders,
                result,
                image_store.put,
                edition=raw.edition,
                seed=raw.settings.seed,
                height=raw.settings.builders.height,
            )
        ]
    take_rows()  # not reported again: the proposals were already compared with earlier builds
    return questions


@BLINK.steps("blink_items", {"rejections": "select", "items": "images"}, deps=BLINK.source)
def items(  # noqa: PLR0913, PLR0917  (three tables, and four resources)
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    proposals: list[QuestionProposal],
    builders: list[TaskBuildResult],
    drawn_questions: list[Question],
) -> tuple[list[Rejection], dg.Output[list[Question]]]:
    """Read the release or the answer key, or collect the questions built from raw data sets."""
    folder = sources.open("blink").folder
    match find_route(folder):
        case "release":
            release = read_items(
                folder, lambda item: to_question(item, _store_images(item, image_store))
            )
            rows = name_edition(release.rows)
            absent = _reject_absent_tasks(folder)
            rejections = absent + release.rejections
            # All absent tasks have the same reason, which is logged once.
            warnings = [rejection.reason for rejection in (*absent[:1], *release.rejections)]
        case "key":
            key = read_key(folder / KEY)
            rows = name_edition(questions_from_key(dict(key.rows)))
            rejections = key.rejections
            warnings = [rejection.reason for rejection in rejections]
        case "raw":
            if not drawn_questions:
                raise no_questions_error(folder, builders)
            rows = drawn_questions
            choices = choose(proposals, settings.suite("blink", BlinkSettings).builders)
            rejections = [row for choice in choices.values() for row in choice.rejections]
            warnings = [result.fault for result in builders if result.fault]
    for warning in warnings:
        context.log.warning(warning)
    return rejections, table_output(rows, question_preview(rows, image_store))


@BLINK.step("questions", deps=[answers_key(ANSWER_CHECK)])
def questions(
    image_store: ImageStore, tables: TableFiles, items: list[Question]
) -> dg.Output[list[Question]]:
    """Select questions with a known answer that annotators did not reject."""
    checked = apply_checks(scorable(items), counted_rows(tables, ANSWER_CHECK))
    preview = question_preview(checked.rows, image_store)
    return table_output(checked.rows, {**preview, **rejection_metadata(checked.rejections)})


@BLINK.step("questions", name="questions", below="test")
def hidden_questions(items: list[Question]) -> list[Question]:
    """Select the questions of the test split, without their answers."""
    return hidden_split(items)


def _reject_absent_tasks(folder: Path) -> list[Rejection]:
    """Make a rejection for each task that the release lacks; the reason names all of them."""
    absent = absent_tasks(folder)
    problem = f"{len(absent)} of {len(PERCEPTION_TASKS)} tasks are absent: {', '.join(absent)}"
    reason = f"{folder}: {problem}; the edition is 'own', not 'published'"
    return [Rejection(entry=f"{name}/", reason=reason) for name in absent]


def _store_images(item: BlinkItem, image_store: ImageStore) -> list[str]:
    """Store the images of an item and return their SHA-256 digests."""
    digests = []
    for number, data in enumerate(item.images, 1):
        try:
            digests.append(image_store.put(data, f"{item.idx}_{number}").sha256)
        except ImageError as error:
            raise ImageError(f"{item.where}, image_{number}: {error}") from error
    return digests
