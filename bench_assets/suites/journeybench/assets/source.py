"""Source files, and images: those in ``images/``, and those that a task names by address."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import dagster as dg

from bench_assets.asset_factory.asset_metadata import rejection_metadata
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import files_below, image_files, pin
from bench_assets.suites.journeybench.published_files import (
    AddressMatches,
    image_addresses,
    match_addresses,
    published_files,
)
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.suites.journeybench.synthetic import edition as mini
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.download import (
    ImageDownload,
    ImageDownloadLimits,
    download_images,
    recorded_downloads,
)
from bench_resources.images.store import ImageStore
from bench_resources.response_cache.throughput import RequestProgress
from bench_resources.tables.parquet import table_output

SUITE = "journeybench"
_FOLDER = AssetFolder(SUITE)


def source_folder(sources: SourceFiles) -> Path:
    """Source folder of the suite."""
    return sources.open(SUITE).folder


@_FOLDER.step("source")
def source(sources: SourceFiles) -> list[SourceFile]:
    """Record path and digest of the source files."""
    opened = sources.open(SUITE)
    if opened.is_mini:
        mini.write(opened.folder)
    return pin(files_below(opened.folder), opened.folder)


@_FOLDER.step("images", deps=_FOLDER.source)
def images(sources: SourceFiles, image_store: ImageStore) -> dg.Output[list[StoredImage]]:
    """Store every image of `images/`, and reject unreadable ones."""
    stored, broken = image_store.put_files(image_files(source_folder(sources) / "images"))
    return table_output(stored, rejection_metadata(broken))


def images_by_name(images: Sequence[StoredImage]) -> dict[str, StoredImage]:
    """Images by the source's name."""
    return {image.name: image for image in images}


def image_asset(here: AssetFolder, *tables: str) -> dg.AssetsDefinition:
    """Build the asset of a task's images."""

    @here.step("images", reads={"files": "../images"}, deps=here.source)
    def images(
        context: dg.AssetExecutionContext,
        sources: SourceFiles,
        settings: dg.ResourceParam[Settings],
        image_store: ImageStore,
        files: list[StoredImage],
    ) -> dg.Output[list[StoredImage]]:
        """Store the images of the task's addresses; with download = true, missing ones are fetched.

        One row: one image that decodes, under its address. Questions about any other image are
        among the task's rejections. Images that are in `images/` or were fetched before are not
        fetched again.
        """
        matched, addresses = _match_files(sources, tables)
        by_name, target = images_by_name(files), settings.home / "downloads" / SUITE
        renamed = [
            replace(by_name[name], name=address)
            for address, name in matched.file_of.items()
            if name in by_name
        ]
        downloads = _download(
            context, settings, [url for url in addresses if url not in matched.file_of], target
        )
        fetched = {row.url: target / row.file for row in downloads if row.sha256}
        stored, broken = image_store.put_files(fetched, entry="")
        broken += [Rejection(entry=row.url, reason=row.error) for row in downloads if row.error]
        broken += [_reject_ambiguous_file(*refusal) for refusal in matched.refused.items()]
        return table_output(renamed + stored, rejection_metadata(broken))

    return images


def _download(
    context: dg.AssetExecutionContext, settings: Settings, urls: Sequence[str], target: Path
) -> list[ImageDownload]:
    """Download images with download = true; else list those that were downloaded before."""
    if not settings.suite(SUITE, JourneyBenchSettings).download:
        return recorded_downloads(urls, target)
    polite = ImageDownloadLimits()
    with RequestProgress("images", context.log.info, "in the log") as progress:
        return download_images(urls, target, polite, random.Random(SUITE), progress)


def _match_files(sources: SourceFiles, tables: Sequence[str]) -> tuple[AddressMatches, list[str]]:
    """Match the files of ``images/`` with the task's addresses; also returns the addresses."""
    folder = source_folder(sources)
    addresses = image_addresses(published_files(folder, *tables).values())
    return match_addresses(image_files(folder / "images"), addresses), addresses


def _reject_ambiguous_file(name: str, addresses: Sequence[str]) -> Rejection:
    first, second = addresses[:2]
    reason = (
        f"matches {len(addresses)} addresses, such as {first} and {second}; "
        "move it to a path that is the end of only one of them, "
        f"such as images/{first.partition('://')[2]}"
    )
    return Rejection(entry=f"images/{name}", reason=reason)
