"""The assets of edited pairs: source -> edits -> images -> questions."""

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import pin
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import table_output
from edited_pairs_bench import NAME
from edited_pairs_bench.questions import to_questions
from edited_pairs_bench.scenes import (
    FILE,
    Edit,
    choose_edits,
    draw_shape,
    image_name,
    read_scenes,
    write_mini,
)

_HERE = AssetFolder(NAME)
_SEED = 0


@dg.asset(**_HERE.stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Record the digest of the scenes' file; the mini edition is written first.

    One row: one file of the source.
    """
    opened = sources.open(NAME)
    if opened.is_mini:
        write_mini(opened.folder)
    return table_output(pin([opened.folder / FILE], opened.folder))


@dg.multi_asset(
    name=f"{NAME}_edited",
    deps=_HERE.source,
    outs={
        "edits": out(_HERE.stage("select"), Edit, "One row: the edit of a scene."),
        "rejections": out(
            _HERE.stage("select"), Rejection, "One row: a scene that cannot be drawn, and why."
        ),
    },
)
def edited(sources: SourceFiles) -> tuple[dg.Output[list[Edit]], dg.Output[list[Rejection]]]:
    """Choose the edit of each scene."""
    edits, rejections = choose_edits(read_scenes(sources.open(NAME).folder), _SEED)
    return table_output(edits), table_output(rejections)


@dg.asset(ins=_HERE.ins("edits"), **_HERE.stage("images"))
def images(image_store: ImageStore, edits: list[Edit]) -> dg.Output[list[StoredImage]]:
    """Draw both images of each pair.

    One row: one image, before or after the edit.
    """
    return table_output(
        [
            image_store.put(draw_shape(edit.shape, colour), image_name(edit, part))
            for edit in edits
            for part, colour in (("before", edit.before), ("after", edit.after))
        ]
    )


@dg.asset(ins=_HERE.ins("edits", stored="images"), **_HERE.stage("questions"))
def questions(
    sources: SourceFiles, image_store: ImageStore, edits: list[Edit], stored: list[StoredImage]
) -> dg.Output[list[Question]]:
    """Make the questions.

    One row: one yes/no question about one image of a pair.
    """
    images_by_name = {image.name: image for image in stored}
    rows = to_questions(edits, images_by_name, "mini" if sources.open(NAME).is_mini else "built")
    return table_output(rows, question_preview(rows, image_store))
