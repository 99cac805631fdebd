"""Source files, and images: those in ``images/``, under the addresses that tasks name."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import dagster as dg

from bench_assets.asset_factory.asset_metadata import rejection_metadata
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import files_below, image_files, pin
from bench_assets.suites.journeybench.published_files import (
    image_addresses,
    match_addresses,
    published_files,
)
from bench_assets.suites.journeybench.synthetic import edition as mini
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import table_output

SUITE = "journeybench"
_FOLDER = AssetFolder(SUITE)
_NO_IMAGE = "no image in images/: fetch it under its address, as wget -x does"


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
    """Map images by their names in the source."""
    return {image.name: image for image in images}


class NamedImages(NamedTuple):
    """The images that a task may show."""

    by_name: dict[str, StoredImage]  # by path in ``images/``, and by the task's addresses
    rejections: list[Rejection]  # addresses without an image, and ambiguous files


def name_images(sources: SourceFiles, files: Sequence[StoredImage], *tables: str) -> NamedImages:
    """Map the images of ``images/`` by path, and by the addresses in a task's published files."""
    by_path, folder = images_by_name(files), source_folder(sources)
    addresses = image_addresses(published_files(folder, *tables).values())
    matches = match_addresses(image_files(folder / "images"), addresses)
    by_address = {
        address: by_path[path] for address, path in matches.file_of.items() if path in by_path
    }
    missing = [
        Rejection(entry=address, reason=_NO_IMAGE)
        for address in addresses
        if address not in matches.file_of
    ]
    ambiguous = [
        _reject_ambiguous_file(path, matched) for path, matched in matches.ambiguous.items()
    ]
    return NamedImages(by_path | by_address, missing + ambiguous)


def _reject_ambiguous_file(name: str, addresses: Sequence[str]) -> Rejection:
    first, second = addresses[:2]
    reason = (
        f"matches {len(addresses)} addresses, such as {first} and {second}; "
        "move it to a path that is the end of only one of them, "
        f"such as images/{first.partition('://')[2]}"
    )
    return Rejection(entry=f"images/{name}", reason=reason)
