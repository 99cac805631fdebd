"""What all tasks of JourneyBench share: the files of the source, and its pictures."""

import random
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

import dagster as dg

from bench_assets.core.errors import ImageError, SourceError
from bench_assets.core.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.journeybench import mini
from bench_assets.journeybench.settings import JourneyBenchSettings
from bench_assets.journeybench.source import (
    picture_addresses,
    picture_files,
    published_files,
    source_files,
)
from resources.download import Download, Politeness, download, downloaded
from resources.images import ImageStore
from resources.previews import question_preview
from resources.progress import AskingProgress
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import table_output

SUITE = "journeybench"
SOURCE = dg.AssetKey([SUITE, "source"])
QUESTIONS = dg.DagsterType(
    name="QuestionTable",
    type_check_fn=lambda _, rows: isinstance(rows, list),
    typing_type=list[Question],
)
"""Type of a question table that an edition may not have; the asset then gives no output."""

_NO_PICTURE = (
    "none of the {n} pictures is there: put them into images/ of the source folder, or set "
    f"download = true in [suites.{SUITE}] of bench.toml"
)
_THREADS = 8  # pictures that are decoded at once


class Shared(TypedDict):
    """What the decorators of a task's assets have in common."""

    key_prefix: list[str]
    group_name: str
    code_version: str
    kinds: set[str]
    tags: dict[str, str]


def in_stage(stage: str, task: str = SUITE) -> Shared:
    """Decorate an asset of a task, such as ``journeybench/retrieval``, left of the waist."""
    return Shared(
        key_prefix=task.split("/"),
        group_name=SUITE,
        code_version="1",
        kinds={"python"},
        tags={"bench/stage": stage},
    )


def question_table(rows: list[Question], n: int, images: ImageStore) -> dg.Output[list[Question]]:
    """Give out the question table of a task whose source has ``n`` entries.

    Raises:
        SourceError: If not one became a question, since none of their pictures is there.
    """
    if not rows:
        raise SourceError(_NO_PICTURE.format(n=n))
    return table_output(rows, question_preview(rows, images))


def edition_of(sources: SourceFiles, *, whole: bool) -> str:
    """Name the route that the configured source goes.

    A published edition of which pictures are missing is another one: its numbers are not
    comparable with those of the whole.
    """
    opened = sources.open(SUITE)
    if opened.is_mini:
        return "mini"
    if not published_files(opened.folder):
        return "built"
    return "published" if whole else "published in part"


def published_file(sources: SourceFiles, table: str) -> Path | None:
    """Find the published file of a table; None if the source does not have it."""
    return published_files(sources.open(SUITE).folder).get(table)


@dg.asset(**in_stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Pin the files.

    One row: one file of the source, by its digest. Without a configured folder, the mini edition
    is drawn first.
    """
    opened = sources.open(SUITE)
    if opened.is_mini:
        mini.write(opened.folder)
    return table_output(source_files(opened.folder))


@dg.asset(deps=[SOURCE], **in_stage("source"))
def downloads(
    context: dg.AssetExecutionContext, sources: SourceFiles, settings: SettingsFile
) -> dg.Output[list[Download]]:
    """Fetch the pictures that published files name by address, if bench.toml says download = true.

    One row: what became of one address. Pictures that lie in `images/` are not fetched; those that
    were fetched before are not fetched again.
    """
    configured = settings.load()
    chosen = configured.suite(SUITE, JourneyBenchSettings)
    folder = sources.open(SUITE).folder
    addresses = picture_addresses(published_files(folder).values())
    there = picture_files(folder, addresses)
    urls = [address for address in addresses if address not in there]
    target = _downloads_folder(settings)
    if not chosen.download:
        return table_output(downloaded(urls, target))
    polite = Politeness(connections=chosen.download_connections)
    with AskingProgress("pictures", context.log.info, bar=False) as progress:
        rows = download(urls, target, polite, random.Random(SUITE), progress)
    return table_output(rows, {"failed": sum(bool(row.error) for row in rows)})


@dg.asset(ins={"downloads": dg.AssetIn([SUITE, "downloads"])}, deps=[SOURCE], **in_stage("images"))
def images(
    sources: SourceFiles, settings: SettingsFile, images: ImageStore, downloads: list[Download]
) -> dg.Output[list[StoredImage]]:
    """Store every picture that is there, several at a time.

    One row: one picture that decodes, under its address or its name in `images/`. Questions about
    any other picture are among the rejections of their task.
    """
    stored = _store(_picture_files(sources, settings, downloads), images)
    rows = [row for row in stored.values() if isinstance(row, StoredImage)]
    return table_output(rows, {"not_decoded": len(stored) - len(rows)})


@dg.asset(
    ins={"stored": dg.AssetIn([SUITE, "images"]), "downloads": dg.AssetIn([SUITE, "downloads"])},
    **in_stage("images"),
)
def broken_images(
    sources: SourceFiles,
    settings: SettingsFile,
    images: ImageStore,
    stored: list[StoredImage],
    downloads: list[Download],
) -> dg.Output[list[Rejection]]:
    """Say of every picture that is there and not stored why.

    One row: a picture that does not decode or is too large, or an address that brought none.
    """
    decoded = by_name(stored)
    files = _picture_files(sources, settings, downloads)
    attempts = _store({n: f for n, f in files.items() if n not in decoded}, images)
    rows = [
        Rejection(entry=name, reason=str(why))
        for name, why in attempts.items()
        if isinstance(why, ImageError)
    ]
    rows += [Rejection(entry=row.url, reason=row.error) for row in downloads if row.error]
    return table_output(rows)


def by_name(images: Sequence[StoredImage]) -> dict[str, StoredImage]:
    """Look pictures up by the name that the source knows them by."""
    return {image.name: image for image in images}


def _picture_files(
    sources: SourceFiles, settings: SettingsFile, downloads: Sequence[Download]
) -> dict[str, Path]:
    folder = sources.open(SUITE).folder
    files = picture_files(folder, picture_addresses(published_files(folder).values()))
    target = _downloads_folder(settings)
    return files | {row.url: target / row.file for row in downloads if not row.error}


def _downloads_folder(settings: SettingsFile) -> Path:
    return settings.load().home / "downloads" / SUITE


def _store(files: Mapping[str, Path], images: ImageStore) -> dict[str, StoredImage | ImageError]:
    def stored(name: str) -> StoredImage | ImageError:
        try:
            return images.put_file(files[name], name)
        except ImageError as why:
            return why

    with ThreadPoolExecutor(_THREADS) as threads:
        return dict(zip(files, threads.map(stored, files), strict=True))
