"""What all tasks of JourneyBench share: the files of the source, and its pictures."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import dagster as dg

from bench_assets import staging
from bench_assets.core.chat import ChatModel
from bench_assets.core.rows import Rejection, SourceFile, StoredImage
from bench_assets.core.source_folder import files_below, picture_files, pin
from bench_assets.staging import Staging, out
from bench_assets.suites.journeybench.mini import edition as mini
from resources.home.tables import table_output
from resources.models.opening import Models
from resources.pictures.images import ImageStore
from resources.sources.source_files import SourceFiles

SUITE = "journeybench"
_HERE = Staging(SUITE)


def source_folder(sources: SourceFiles) -> Path:
    """The folder that the suite is read from."""
    return sources.open(SUITE).folder


def open_writer(
    context: dg.AssetExecutionContext, models: Models, name: str, sources: SourceFiles
) -> AbstractContextManager[ChatModel]:
    """Open a model that writes; "" takes the replies that came with the source."""
    return staging.open_writer(context, models, name, source_folder(sources) / "replies.jsonl")


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
    name="journeybench_pictures",
    deps=_HERE.source,
    outs={
        "images": out(
            _HERE.stage("images"),
            StoredImage,
            "One row: one picture that decodes, under its path in `images/`. Which addresses it is "
            "the picture of, each task's own `images` say.",
        ),
        "broken_images": out(
            _HERE.stage("images"),
            Rejection,
            "One row: a picture of `images/` that does not decode or is too large, and why.",
        ),
    },
)
def pictures(
    sources: SourceFiles, image_store: ImageStore
) -> tuple[dg.Output[list[StoredImage]], dg.Output[list[Rejection]]]:
    """Store every picture of `images/`, several at a time, and say which are none."""
    stored, broken = image_store.put_files(picture_files(source_folder(sources) / "images"))
    return table_output(stored, {"not_decoded": len(broken)}), table_output(broken)


def by_name(images: Sequence[StoredImage]) -> dict[str, StoredImage]:
    """Look pictures up by the name that the source knows them by."""
    return {image.name: image for image in images}


def digests(stored: Sequence[StoredImage]) -> dict[str, str]:
    """Look up the SHA-256 of pictures by the name that the source knows them by."""
    return {image.name: image.sha256 for image in stored}
