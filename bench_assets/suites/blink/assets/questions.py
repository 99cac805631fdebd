"""Dataset build of BLINK: from the files of its source to the question tables."""

from pathlib import Path
from tempfile import TemporaryDirectory

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.extras import require_extra
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import image_files
from bench_assets.suites.blink.annotation import ANSWER_CHECK, apply_checks
from bench_assets.suites.blink.construction.build import TaskBuildResult, build_all
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
    Statistic,
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
from bench_assets.suites.blink.dataset import source_files as pin_files
from bench_assets.suites.blink.dataset import statistics as count_statistics
from bench_assets.suites.blink.settings import BlinkSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, table_output

BLINK = AssetFolder("blink")


@BLINK.step("source")
def source(sources: SourceFiles, settings: dg.ResourceParam[Settings]) -> list[SourceFile]:
    """Record the digest of every source file."""
    opened = sources.open("blink")
    if opened.is_mini:
        require_extra("BLINK's mini edition", "cv2")
        from bench_assets.suites.blink.synthetic import edition as mini

        mini.write(opened.folder, settings.suite("blink", BlinkSettings).seed)
    return pin_files(opened.folder)


@BLINK.step("images", deps=BLINK.source)
def images_to_mark(sources: SourceFiles, image_store: ImageStore) -> dg.Output[list[StoredImage]]:
    """Store the images that annotators will mark."""
    folder = sources.open("blink").folder / TO_MARK
    stored, broken = image_store.put_files(image_files(folder) if folder.is_dir() else {})
    return table_output(stored, {"not_decoded": len(broken)})


@BLINK.steps(
    "blink_items",
    {"rejections": "select", "items": "images", "builders": "select"},
    reads={"to_mark": "images_to_mark"},
    deps=[*BLINK.source, *(answers_key(form) for form in (*MARKING_TASKS, IQ_IMAGES))],
)
def items(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    tables: TableFiles,
    to_mark: list[StoredImage],
) -> tuple[list[Rejection], dg.Output[list[Question]], list[TaskBuildResult]]:
    """Read the release or the answer key, or build questions from the raw data sets."""
    opened = sources.open("blink")
    tasks: list[TaskBuildResult] = []
    match find_route(opened.folder):
        case "release":
            absent = _reject_absent_tasks(opened.folder)
            read = read_items(
                opened.folder, lambda item: to_question(item, _store_images(item, image_store))
            )
            rows, rejections = name_edition(read.rows), absent + read.rejections
            faults = [rejection.reason for rejection in (*absent[:1], *read.rejections)]
        case "key":
            key = read_key(opened.folder / KEY)
            rows, rejections = name_edition(questions_from_key(dict(key.rows))), key.rejections
            faults = [rejection.reason for rejection in rejections]
        case "raw":
            chosen = settings.suite("blink", BlinkSettings)
            with TemporaryDirectory() as marked:
                write_annotated_data(Path(marked), to_mark, tables, image_store)
                built = build_all(
                    opened.folder,
                    image_store.put,
                    edition="mini" if opened.is_mini else "built",
                    seed=chosen.seed,
                    parameters=chosen.builders,
                    added=Path(marked),
                )
            rows, rejections, tasks = built.questions, built.rejections, built.tasks
            faults = [task.fault for task in tasks if task.fault]
    for fault in faults:
        context.log.warning(fault)
    return rejections, table_output(rows, question_preview(rows, image_store)), tasks


@BLINK.step("questions", deps=[answers_key(ANSWER_CHECK)])
def questions(
    image_store: ImageStore, tables: TableFiles, items: list[Question]
) -> dg.Output[list[Question]]:
    """Select questions with a known answer that annotators did not reject."""
    rows = apply_checks(scorable(items), counted_rows(tables, ANSWER_CHECK)).rows
    return table_output(rows, question_preview(rows, image_store))


@BLINK.step("select", deps=[answers_key(ANSWER_CHECK)])
def answer_rejections(tables: TableFiles, items: list[Question]) -> list[Rejection]:
    """List questions that annotators rejected. One row: one question with its verdicts."""
    return apply_checks(scorable(items), counted_rows(tables, ANSWER_CHECK)).rejections


@BLINK.step("questions")
def statistics(items: list[Question]) -> list[Statistic]:
    """Count questions and images."""
    return count_statistics(items)


@BLINK.step("questions", name="questions", below="test")
def hidden_questions(items: list[Question]) -> list[Question]:
    """Select the questions of the test split, without their answers."""
    return hidden_split(items)


def write_annotated_data(
    folder: Path, to_mark: list[StoredImage], tables: TableFiles, image_store: ImageStore
) -> None:
    """Write the answers of the annotation tasks as raw data sets."""
    marked = [row for form in MARKING_TASKS for row in counted_rows(tables, form)]
    images = {image.name: image for image in to_mark}
    write_marked_data(folder, marked, counted_rows(tables, IQ_IMAGES), images, image_store.read)


def _reject_absent_tasks(folder: Path) -> list[Rejection]:
    """Make a rejection for each task that the release lacks; the reason names all of them."""
    absent = absent_tasks(folder)
    found = f"{len(absent)} of {len(PERCEPTION_TASKS)} tasks are absent: {', '.join(absent)}"
    reason = f"{folder}: {found}; the edition is 'own', not 'published'"
    return [Rejection(entry=f"{name}/", reason=reason) for name in absent]


def _store_images(item: BlinkItem, image_store: ImageStore) -> list[str]:
    stored = []
    for number, data in enumerate(item.images, 1):
        try:
            stored.append(image_store.put(data, f"{item.idx}_{number}").sha256)
        except ImageError as error:
            raise ImageError(f"{item.where}, image_{number}: {error}") from error
    return stored
