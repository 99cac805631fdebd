"""Asset factory of the tasks' question tables, from published or built rows."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import decision_keys, label_undecided
from bench_assets.asset_factory.asset_metadata import rejection_metadata
from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Edition, Question, Rejection, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.evaluation.task import Task
from bench_assets.suites.journeybench.assets.source import (
    SUITE,
    images_by_name,
    name_images,
    source_folder,
)
from bench_assets.suites.journeybench.published_files import published_files
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, table_output

Row = TypeVar("Row")


def question_assets(
    *,
    task: Task,
    row: type[Any],
    read: Callable[[Path], Table[Any]],
    to_questions: Callable[[Sequence[Any], Mapping[str, StoredImage]], Table[Question]],
    releases: Collection[int],
    has_painted_images: bool = False,
) -> dg.AssetsDefinition:
    """Build the assets ``rejections`` and ``questions`` of a task.

    Args:
        task: The task; its table in ``PUBLISHED`` has the same name.
        row: Row type of its entries.
        read: Reads the published file.
        to_questions: Builds questions from entries, and images by name.
        releases: Numbers of entries of the known releases.
        has_painted_images: Whether the task also has generated images.
    """
    folder, table_name = AssetFolder(task.name), task.name.removeprefix(f"{SUITE}/")
    image_tables = {"files": ("../images", StoredImage)}
    if has_painted_images:
        image_tables["painted_images"] = ("painted_images", StoredImage)

    @dg.multi_asset(
        name=f"{table_name}_questions",
        ins=folder.ins_of(built=("built", row), **image_tables),
        deps=[*folder.source, *decision_keys(task)],
        outs=question_outs(folder),
    )
    def questions(
        sources: SourceFiles,
        tables: TableFiles,
        image_store: ImageStore,
        built: list[Any],
        files: list[StoredImage],
        **painted: list[StoredImage],
    ) -> Iterator[dg.Output[list[Any]]]:
        """Build a question for every entry with an image; no table without entries."""
        images = name_images(sources, files, table_name)
        by_name = images.by_name | images_by_name(list(chain(*painted.values())))
        entries = published_or_built_rows(sources, table_name, read, built)
        n_entries = len(entries.rows)
        table = to_questions(entries.rows, by_name)
        table = replace(table, rejections=entries.rejections + table.rejections)
        is_whole = not table.rejections and n_entries in releases
        opened = sources.open(SUITE)
        is_published = table_name in published_files(opened.folder, table_name)
        edition = opened.edition(published=is_published, whole=is_whole)
        label = partial(label_undecided, task=task, tables=tables, settings=sources.settings)
        yield from yield_question_tables(
            table, images.rejections, n_entries, edition, image_store, label
        )

    return questions


def published_or_built_rows(
    sources: SourceFiles, table: str, read: Callable[[Path], Table[Row]], built: list[Row]
) -> Table[Row]:
    """Read the published file of a table; without one, return the built rows.

    Raises:
        SourceError: If the file has no rows, or cannot be read.
    """
    file = published_files(source_folder(sources), table).get(table)
    if file is None:
        return Table(built)
    published = read(file)
    if not published.rows:
        first = published.rejections[:1]
        example = "".join(f" ({rejection.entry}: {rejection.reason})" for rejection in first)
        raise SourceError(f"{file}: no rows{example}. Download it again, or remove it")
    return published


def image_questions(
    to_question: Callable[[Any, str], Question],
    entries: Sequence[Any],
    images: Mapping[str, StoredImage],
) -> Table[Question]:
    """Build a question of each entry and the SHA-256 of its image; reject those without one."""
    table = Table[Question]()
    for entry in entries:
        if entry.image in images:
            table.rows.append(to_question(entry, images[entry.image].sha256))
        else:
            table.reject(entry.entry_id, f"no image: {entry.image}")
    return table


def question_outs(folder: AssetFolder) -> dict[str, dg.AssetOut]:
    """Outputs that ``yield_question_tables`` yields; an edition may have no questions."""
    return {
        "rejections": out(folder.stage("select"), Rejection),
        "questions": out(folder.stage("questions"), Question, optional=True),
    }


def yield_question_tables(
    table: Table[Question],
    image_rejections: Sequence[Rejection],
    n_entries: int,
    edition: Edition,
    image_store: ImageStore,
    label: Callable[[list[Question]], list[Question]],
) -> Iterator[dg.Output[list[Any]]]:
    """Yield the outputs of a task: rejections and, if its source has entries, questions.

    Images that the task does not show, ``image_rejections``, are metadata of the rejections.
    ``label`` labels questions with the number of undecided annotation units.

    Raises:
        SourceError: If there are entries, but none became a question.
    """
    yield table_output(table.rejections, rejection_metadata(image_rejections), name="rejections")
    if not n_entries:
        return
    if not table.rows:
        first = table.rejections[0]
        raise SourceError(
            f"none of the {n_entries} rows became a question; {first.entry}: {first.reason}. "
            "Put missing images into images/ of the source folder"
        )
    rows = label([replace(question, edition=edition) for question in table.rows])
    yield table_output(rows, question_preview(rows, image_store), name="questions")
