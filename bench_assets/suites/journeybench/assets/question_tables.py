"""Asset factory of the tasks' question tables, from published or built rows."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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

_NO_QUESTION = (
    "none of the {n} rows became a question; {first.entry}: {first.reason}. Put missing images into"
    " images/ of the source folder"
)
Row = TypeVar("Row")
ToQuestions = Callable[[Sequence[Any], Mapping[str, StoredImage]], Table[Question]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTable:
    """A task's rows, and how they become its question table."""

    task: Task
    row: type[Any]
    read: Callable[[Path], Table[Any]]  # reads the published file
    to_questions: ToQuestions
    releases: Collection[int] = ()  # row counts of the known releases; () if unknown
    painted: bool = False  # whether the task also has generated images

    @property
    def table(self) -> str:
        """Key in ``PUBLISHED``."""
        return self.task.name.removeprefix(f"{SUITE}/")

    @property
    def folder(self) -> AssetFolder:
        """Key prefix of its assets."""
        return AssetFolder(self.task.name)


def question_assets(of: TaskTable) -> dg.AssetsDefinition:
    """Build ``rejections`` and ``questions`` of a task."""
    folder = of.folder
    images = {"files": ("../images", StoredImage)}
    if of.painted:
        images["painted_images"] = ("painted_images", StoredImage)

    @dg.multi_asset(
        name=f"{of.table}_questions",
        ins=folder.ins_of(built=("built", of.row), **images),
        deps=[*folder.source, *decision_keys(of.task)],
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
        images = name_images(sources, files, of.table)
        by_name = images.by_name | images_by_name(list(chain(*painted.values())))
        entries = published_rows(sources, of.table, of.read, built)
        table, n = of.to_questions(entries.rows, by_name), len(entries.rows)
        table = Table(table.rows, [*entries.rejections, *table.rejections])
        complete = not table.rejections
        edition = edition_of(sources, of.table, whole=complete, n=n, releases=of.releases)
        loaded = sources.settings
        waiting = partial(label_undecided, task=of.task, tables=tables, settings=loaded)
        unnamed = images.rejections
        yield from yield_question_tables(table, unnamed, n, edition, image_store, waiting)

    return questions


def published_rows(
    sources: SourceFiles,
    table: str,
    read: Callable[[Path], Table[Row]],
    built: list[Row],
) -> Table[Row]:
    """Read the published file of a table; without one, return the built rows.

    Raises:
        SourceError: If the file has no rows, or cannot be read.
    """
    file = published_files(source_folder(sources), table).get(table)
    published = read(file) if file else Table(built)
    if file and not published.rows:
        example = "".join(
            f" ({rejection.entry}: {rejection.reason})" for rejection in published.rejections[:1]
        )
        raise SourceError(f"{file}: no rows{example}. Download it again, or remove it")
    return published


def question_outs(here: AssetFolder) -> dict[str, dg.AssetOut]:
    """Outputs that ``yield_question_tables`` yields; an edition may have no questions."""
    return {
        "rejections": out(here.stage("select"), Rejection),
        "questions": out(here.stage("questions"), Question, optional=True),
    }


def yield_question_tables(
    built: Table[Question],
    unnamed: Sequence[Rejection],
    n: int,
    edition: Edition,
    image_store: ImageStore,
    marked: Callable[[list[Question]], list[Question]],
) -> Iterator[dg.Output[list[Any]]]:
    """Yield the outputs of a task: rejections and, if its source has entries, questions.

    Args:
        built: Questions and rejections of the entries.
        unnamed: Images that the task does not show: metadata of the rejections.
        n: Number of entries.
        edition: Edition of the questions.
        image_store: Images for the preview.
        marked: Labels questions with the number of undecided annotation units.

    Raises:
        SourceError: If there are entries, but none became a question.
    """
    yield table_output(built.rejections, rejection_metadata(unnamed), name="rejections")
    if n and not built.rows:
        raise SourceError(_NO_QUESTION.format(n=n, first=built.rejections[0]))
    if n:
        rows = marked([replace(question, edition=edition) for question in built.rows])
        yield table_output(rows, question_preview(rows, image_store), name="questions")


def edition_of(
    sources: SourceFiles, *tables: str, whole: bool, n: int = 0, releases: Collection[int] = ()
) -> Edition:
    """Determine the edition of a task's tables.

    Published files with rejected rows, or with a number of rows that no release has, are
    ``"own"``: the scores are not comparable with those of a release.

    Args:
        sources: The source.
        tables: Tables of the task, as keys of ``PUBLISHED``.
        whole: Whether every row became a question.
        n: Number of rows.
        releases: Row counts of the known releases; empty if unknown.
    """
    opened = sources.open(SUITE)
    if opened.is_mini:
        return "mini"
    if not published_files(opened.folder, *tables):
        return "built"
    return "published" if whole and (not releases or n in releases) else "own"
