"""MULTI left of the waist: from the files of its source to the question table."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dagster as dg

from bench_assets.core.errors import ImageError
from bench_assets.core.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.multi import build, mini
from bench_assets.multi.build_assets import annotated
from bench_assets.multi.duplicates import Duplicate
from bench_assets.multi.extend import usable
from bench_assets.multi.markup import prepare
from bench_assets.multi.questions import QuestionTable, edition_of, to_questions
from bench_assets.multi.release import find_release, image_files, source_files
from bench_assets.multi.select import Decision
from bench_assets.multi.settings import MultiSettings
from bench_assets.multi.source import Item, read_items, read_knowledge
from bench_assets.multi.staging import SOURCE, ins, release_of, stage
from bench_assets.multi.table_picture import draw_table
from resources.images import ImageStore
from resources.previews import question_preview
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import table_output

_THREADS = 8  # pictures that are decoded at once


@dg.asset(**stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Pin the files.

    One row: one file of the source, by its digest. The release has a problem file, a knowledge
    file and 7,658 pictures. Without a configured folder, the mini edition is written first.
    """
    opened = sources.open("multi")
    if opened.is_mini:
        mini.write(opened.folder)
    return table_output(source_files(find_release(opened.folder)))


@dg.asset(deps=SOURCE, **stage("source"))
def raw_items(sources: SourceFiles) -> dg.Output[list[Item]]:
    """Read the questions.

    One row: one sub-question as the source has it; the release has 18,430 in 17,251 problems
    (Table 9).
    """
    return table_output(read_items(release_of(sources)))


@dg.asset(ins=ins("raw_items"), **stage("select"))
def items(raw_items: list[Item]) -> dg.Output[list[Item]]:
    """Bring the questions into markdown (section 3.2, data pre-process).

    One row: one sub-question in markdown and LaTeX. The release is markdown already.
    """
    return table_output([prepare(item).item for item in raw_items])


@dg.asset(ins=ins("raw_items"), deps=SOURCE, **stage("images"))
def images(
    sources: SourceFiles, settings: SettingsFile, images: ImageStore, raw_items: list[Item]
) -> dg.Output[list[StoredImage]]:
    """Store every picture of the folder, and every table that markdown cannot say.

    One row: one picture that decodes, now in the image store; the release has 7,658. Those that
    do not decode are among the rejections.
    """
    files = image_files(release_of(sources))
    with ThreadPoolExecutor(_THREADS) as threads:
        results = threads.map(lambda name: _stored(name, files[name], images), files)
        stored = [result for result in results if isinstance(result, StoredImage)]
    font = settings.load().suite("multi", MultiSettings).font
    drawn = [
        images.put(draw_table(html, font), name)
        for item in raw_items
        for name, html in prepare(item).tables.items()
    ]
    about = {"not_decoded": len(files) - len(stored), "tables_drawn": len(drawn)}
    return table_output(stored + drawn, about)


@dg.asset(ins=ins(stored="images"), deps=SOURCE, **stage("images"))
def unusable_files(
    sources: SourceFiles, images: ImageStore, stored: list[StoredImage]
) -> dg.Output[list[Rejection]]:
    """Say which pictures and knowledge pieces cannot be shown, and why.

    One row: one picture that does not decode, or one piece without a text or with such a picture.
    The release should have none.
    """
    by_name = {image.name: image for image in stored}
    release = release_of(sources)
    broken = {name: file for name, file in image_files(release).items() if name not in by_name}
    pictures = [
        Rejection(entry=f"images/{name}", reason=str(why).removeprefix(f"{file}: "))
        for name, file in broken.items()
        if isinstance(why := _stored(name, file, images), ImageError)  # tried again, to hear why
    ]
    return table_output(pictures + usable(read_knowledge(release), by_name).rejections)


@dg.asset(
    ins=ins("items", "selection", "transformed_items", "duplicates", stored="images"),
    deps=SOURCE,
    **stage("select"),
)
def rejections(
    sources: SourceFiles,
    items: list[Item],
    selection: list[Decision],
    transformed_items: list[Item],
    duplicates: list[Duplicate],
    stored: list[StoredImage],
) -> dg.Output[list[Rejection]]:
    """Say of every picked item that is left out why; chances and draws are in the selection.

    One row: an item that did not make it into the question table, and why: dropped by an
    annotator, faulted by a check, nearly the same as another. The release should have none.
    """
    by_name = {image.name: image for image in stored}
    return table_output(
        annotated(sources, items, selection).rejections
        + build.duplicate_rejections(duplicates)
        + _questions(sources, transformed_items, duplicates, by_name).rejections
    )


@dg.asset(
    ins=ins("transformed_items", "duplicates", stored="images"),
    deps=SOURCE,
    **stage("questions"),
)
def questions(
    sources: SourceFiles,
    images: ImageStore,
    transformed_items: list[Item],
    duplicates: list[Duplicate],
    stored: list[StoredImage],
) -> dg.Output[list[Question]]:
    """Make the question table.

    One row: one question; 18,430 in the paper: 13,963 SA, 2,137 MA, 1,432 FB, 798 OP and 100
    Other, 7,489 of them with pictures (Table 9).
    """
    by_name = {image.name: image for image in stored}
    rows = _questions(sources, transformed_items, duplicates, by_name).questions
    return table_output(rows, question_preview(rows, images))


def _questions(
    sources: SourceFiles,
    items: list[Item],
    pairs: list[Duplicate],
    images: Mapping[str, StoredImage],
) -> QuestionTable:
    opened = sources.open("multi")
    built = "mini" if opened.is_mini else "built"
    edition = built if release_of(sources).annotations else edition_of(items)
    return to_questions(build.without_duplicates(items, pairs), images, edition)


def _stored(name: str, file: Path, images: ImageStore) -> StoredImage | ImageError:
    try:
        return images.put_file(file, name)
    except ImageError as why:
        return why
