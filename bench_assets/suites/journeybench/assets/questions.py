"""The last step left of the waist, the same for every task: from entries to its question table."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Edition, Question, Rejection
from bench_assets.suites.journeybench.assets.source import SUITE, source_folder
from bench_assets.suites.journeybench.published_files import EntryQuestions, published_files
from resources.datasets.source_files import SourceFiles
from resources.images.previews import question_preview
from resources.images.store import ImageStore
from resources.tables.parquet import table_output

_NO_IMAGE = (
    "none of the {n} images is there: put them into images/ of the source folder, or set "
    f"download = true in [suites.{SUITE}] of bench.toml"
)
Row = TypeVar("Row")


def published_rows(
    sources: SourceFiles, table: str, read: Callable[[Path], list[Row]], built: list[Row]
) -> list[Row]:
    """Read the published file of a table, or take what was built if the source has none.

    Raises:
        SourceError: If the file has no rows, or cannot be read.
    """
    file = published_files(source_folder(sources), table).get(table)
    rows = read(file) if file else built
    if file and not rows:
        raise SourceError(f"{file}: no rows in it; fetch it again, or take it away")
    return rows


def question_outs(here: AssetFolder, rejection: str, question: str) -> dict[str, dg.AssetOut]:
    """Say what one row is of the two tables that ``asked_tables`` gives out.

    Args:
        here: The task's folder.
        rejection: What one rejection is.
        question: What one question is; an edition may have none.
    """
    return {
        "rejections": out(here.stage("select"), Rejection, rejection),
        "questions": out(here.stage("questions"), Question, question, optional=True),
    }


def asked_tables(
    asked: EntryQuestions,
    n: int,
    edition: Edition,
    image_store: ImageStore,
    marked: Callable[[list[Question]], list[Question]] = list,
) -> Iterator[dg.Output[list[Any]]]:
    """Give out what a task leaves out and, if its source has entries, what it asks.

    Args:
        asked: What became of the entries.
        n: How many there are.
        edition: Which edition the questions belong to.
        image_store: Shows some of the images.
        marked: Notes in questions what people have not decided yet.

    Raises:
        SourceError: If not one became a question, since none of their images is there.
    """
    yield table_output(asked.rejections, name="rejections")
    if n and not asked.questions:
        raise SourceError(_NO_IMAGE.format(n=n))
    if n:
        rows = marked([replace(question, edition=edition) for question in asked.questions])
        yield table_output(rows, question_preview(rows, image_store), name="questions")


def edition_of(
    sources: SourceFiles, *tables: str, whole: bool, n: int = 0, releases: Collection[int] = ()
) -> Edition:
    """Name the route that a task's tables go.

    A published edition of which something is left out, or that has as many rows as no release has,
    is ``"own"``: its numbers are not comparable with those of a release.

    Args:
        sources: The source.
        tables: The task's own, by their names in ``PUBLISHED``.
        whole: Whether every row became a question.
        n: Rows.
        releases: How many rows the known releases have; none if that is not known.
    """
    opened = sources.open(SUITE)
    if opened.is_mini:
        return "mini"
    if not published_files(opened.folder, *tables):
        return "built"
    return "published" if whole and (not releases or n in releases) else "own"
