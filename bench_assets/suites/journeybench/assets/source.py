"""Source files, and images: those in ``images/``, and those that a task names by address."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder, out
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


@_FOLDER.steps(
    "journeybench_images", {"images": "images", "broken_images": "images"}, deps=_FOLDER.source
)
def images(
    sources: SourceFiles, image_store: ImageStore
) -> tuple[dg.Output[list[StoredImage]], list[Rejection]]:
    """Store every image of `images/`, and reject unreadable ones."""
    stored, broken = image_store.put_files(image_files(source_folder(sources) / "images"))
    return table_output(stored, {"not_decoded": len(broken)}), broken


def images_by_name(images: Sequence[StoredImage]) -> dict[str, StoredImage]:
    """Images by the source's name."""
    return {image.name: image for image in images}


def image_assets(here: AssetFolder, *tables: str) -> list[dg.AssetsDefinition]:
    """Build the assets of a task's images."""
    return [_downloads(here, tables), _images(here, tables)]


def _downloads(here: AssetFolder, tables: Sequence[str]) -> dg.AssetsDefinition:
    @dg.asset(deps=here.source, **here.stage("source"))
    def downloads(
        context: dg.AssetExecutionContext,
        sources: SourceFiles,
        settings: dg.ResourceParam[Settings],
    ) -> dg.Output[list[ImageDownload]]:
        """Download the task's images from their addresses, with download = true.

        One row: the outcome for one address, or the file of `images/` that is its image. Images
        that are in `images/` or were fetched before are not fetched again.
        """
        chosen = settings.suite(SUITE, JourneyBenchSettings)
        matched, addresses = _match_files(sources, tables)
        existing = [
            ImageDownload(url=address, file=name) for address, name in matched.file_of.items()
        ]
        urls = [address for address in addresses if address not in matched.file_of]
        target = _folder(settings)
        if not chosen.download:
            return table_output(existing + recorded_downloads(urls, target))
        polite = ImageDownloadLimits()
        with RequestProgress("images", context.log.info, "in the log") as progress:
            rows = download_images(urls, target, polite, random.Random(SUITE), progress)
        return table_output(existing + rows, {"failed": sum(bool(row.error) for row in rows)})

    return downloads


def _images(here: AssetFolder, tables: Sequence[str]) -> dg.AssetsDefinition:
    @dg.multi_asset(
        name=f"{here.folder.replace('/', '_')}_images",
        ins=here.ins("downloads", files="../images"),
        deps=here.source,
        outs=_outs(here),
    )
    def images(
        sources: SourceFiles,
        settings: dg.ResourceParam[Settings],
        image_store: ImageStore,
        files: list[StoredImage],
        downloads: list[ImageDownload],
    ) -> tuple[dg.Output[list[StoredImage]], dg.Output[list[Rejection]]]:
        """Store the images of the task's addresses, and reject addresses without one."""
        by_name, target = images_by_name(files), _folder(settings)
        renamed = [
            replace(by_name[row.file], name=row.url)
            for row in downloads
            if not (row.sha256 or row.error) and row.file in by_name
        ]
        fetched = {row.url: target / row.file for row in downloads if row.sha256}
        stored, broken = image_store.put_files(fetched, entry="")
        broken += [Rejection(entry=row.url, reason=row.error) for row in downloads if row.error]
        matched, _ = _match_files(sources, tables)
        broken += [_reject_ambiguous_file(*refusal) for refusal in matched.refused.items()]
        return table_output(renamed + stored), table_output(broken)

    return images


def _outs(here: AssetFolder) -> dict[str, dg.AssetOut]:
    return {
        "images": out(
            here.stage("images"),
            StoredImage,
            "One row: one image that decodes, under its address. Questions about any other "
            "image are among the task's rejections.",
        ),
        "broken_images": out(
            here.stage("images"),
            Rejection,
            "One row: an address without an image, an image that was fetched and does not "
            "decode, or a file of `images/` that matches several addresses, and why.",
        ),
    }


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


def _folder(settings: Settings) -> Path:
    return settings.home / "downloads" / SUITE
