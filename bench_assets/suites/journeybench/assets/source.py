"""What all tasks of JourneyBench share: the files of the source, and its images."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import dagster as dg

from bench_assets.asset_factory import suite_assets
from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.rows import Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import files_below, image_files, pin
from bench_assets.suites.journeybench.synthetic import edition as mini
from resources.datasets.source_files import SourceFiles
from resources.images.store import ImageStore
from resources.models.registry.opening import Models
from resources.tables.parquet import table_output

SUITE = "journeybench"
_HERE = AssetFolder(SUITE)


def source_folder(sources: SourceFiles) -> Path:
    """The folder that the suite is read from."""
    return sources.open(SUITE).folder


def open_writer(
    context: dg.AssetExecutionContext, models: Models, name: str, sources: SourceFiles
) -> AbstractContextManager[ChatModel]:
    """Open a model that writes; "" takes the responses that came with the source."""
    return suite_assets.open_writer(
        context, models, name, source_folder(sources) / "responses.jsonl"
    )


@dg.asset(**_HERE.stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Pin the files.

    One row: one file of the source, by its digest. Without a configured folder, the mini edition
    is drawn first.
    """
    opened = sources.open(SUITE)
    if opened.is_mini:
        mini.write(opened.folder)
    return table_output(pin(files_below(opened.folder), opened.folder))


@dg.multi_asset(
    name="journeybench_images",
    deps=_HERE.source,
    outs={
        "images": out(
            _HERE.stage("images"),
            StoredImage,
            "One row: one image that decodes, under its path in `images/`. Which addresses it is "
            "the image of, each task's own `images` say.",
        ),
        "broken_images": out(
            _HERE.stage("images"),
            Rejection,
            "One row: an image of `images/` that does not decode or is too large, and why.",
        ),
    },
)
def images(
    sources: SourceFiles, image_store: ImageStore
) -> tuple[dg.Output[list[StoredImage]], dg.Output[list[Rejection]]]:
    """Store every image of `images/`, several at a time, and say which are none."""
    stored, broken = image_store.put_files(image_files(source_folder(sources) / "images"))
    return table_output(stored, {"not_decoded": len(broken)}), table_output(broken)


def by_name(images: Sequence[StoredImage]) -> dict[str, StoredImage]:
    """Look images up by the name that the source knows them by."""
    return {image.name: image for image in images}


def digests(stored: Sequence[StoredImage]) -> dict[str, str]:
    """Look up the SHA-256 of images by the name that the source knows them by."""
    return {image.name: image.sha256 for image in stored}
