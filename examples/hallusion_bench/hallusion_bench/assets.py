"""HallusionBench left of the waist: from the files of its source to the question table."""

import dagster as dg

from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import Edition, Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import pin
from hallusion_bench.mini import edition as mini
from hallusion_bench.questions import to_questions
from hallusion_bench.select import edition_of, select
from hallusion_bench.source import Asked, find_release, image_files, read_asked
from resources.datasets.source_files import SourceFiles
from resources.images.previews import question_preview
from resources.images.store import ImageStore
from resources.tables.parquet import table_output

_SUITE = "hallusion_bench"
_HERE = AssetFolder(_SUITE)


@dg.asset(**_HERE.stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Pin the files; without a folder in bench.toml, draw the mini edition first.

    One row: a file of the source with its digest; the release has its entries and 346 figures.
    """
    where = sources.open(_SUITE)
    if where.is_mini:
        mini.write(where.folder)
    release = find_release(where.folder)
    images = image_files(release, read_asked(release)).values()
    return table_output(pin([release.entries, *images], release.folder))


@dg.asset(deps=_HERE.source, **_HERE.stage("select"))
def entries(sources: SourceFiles) -> dg.Output[list[Asked]]:
    """Read the entries.

    One row: one question about one figure, or about none; the release has 1,129 (section 3.3).
    """
    return table_output(read_asked(find_release(sources.open(_SUITE).folder)))


@dg.asset(ins=_HERE.ins("entries"), deps=_HERE.source, **_HERE.stage("images"))
def images(
    sources: SourceFiles, image_store: ImageStore, entries: list[Asked]
) -> dg.Output[list[StoredImage]]:
    """Store every figure that an entry names, several at a time.

    One row: one figure that decodes, now in the image store; the release has 346.
    """
    files = image_files(find_release(sources.open(_SUITE).folder), entries)
    stored = image_store.put_files(files)
    return table_output(stored.images, {"not_decoded": len(stored.rejections)})


@dg.asset(ins=_HERE.ins("entries", stored="images"), **_HERE.stage("select"))
def rejections(entries: list[Asked], stored: list[StoredImage]) -> dg.Output[list[Rejection]]:
    """Say of everything that is left out why.

    One row: an entry that did not make it into the question table, and one reason for it. With all
    346 figures the release has none.
    """
    return table_output(select(entries, {image.name for image in stored}).rejections)


@dg.asset_check(
    asset=_HERE.key("rejections"),
    blocking=True,
    additional_ins=_HERE.ins("entries"),
    description="Published data lose no entry: a rejection there means that a figure is missing.",
)
def published_data_are_whole(
    entries: list[Asked], rejections: list[Rejection]
) -> dg.AssetCheckResult:
    """Let entries of one's own be rejected, but none of the authors'."""
    published = edition_of(entries) == "published"
    problems = [f"{row.entry}: {row.reason}" for row in rejections if published]
    holds = (
        "Every entry of the authors is used."
        if published
        else "Not asked for: these are entries of one's own, of which some may be rejected."
    )
    return check_result(problems, n=len(entries), of="entry", holds=holds)


@dg.asset(
    ins=_HERE.ins("entries", stored="images"),
    deps=[_HERE.key("rejections")],  # damaged data stop here, before any question
    **_HERE.stage("questions"),
)
def questions(
    sources: SourceFiles, image_store: ImageStore, entries: list[Asked], stored: list[StoredImage]
) -> dg.Output[list[Question]]:
    """Ask each selected entry.

    One row: one question of yes or no about one figure, or about none; 1,129 in 455 control pairs,
    591 of them visual dependent (VD) and 538 visual supplement (VS; section 3.3).
    """
    by_name = {image.name: image for image in stored}
    mini = sources.open(_SUITE).is_mini
    edition: Edition = "mini" if mini else edition_of(entries)
    rows = to_questions(select(entries, by_name).asked, by_name, edition)
    return table_output(rows, question_preview(rows, image_store))
