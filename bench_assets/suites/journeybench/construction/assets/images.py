"""Images of a gallery, votes on them, and their captions: the built route's first steps (3.1, 3.2).

Every table is empty for a published source. Votes come from the source's files and from annotation
tasks; the last vote of a person on a unit counts.
"""

from typing import Any

import dagster as dg

from bench_assets.annotation.tasks import SuiteAnnotationTask
from bench_assets.asset_factory.annotation_inputs import (
    answers_key,
    counted_rows,
    needed_answers,
    required_votes,
)
from bench_assets.asset_factory.suite_assets import AssetFolder, list_of
from bench_assets.core.images.near_duplicates import image_hash
from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.stats.rater_agreement import CriterionAgreement
from bench_assets.suites.journeybench.assets.source import SUITE, images_by_name, source_folder
from bench_assets.suites.journeybench.captioning.dataset import CaptionedImage, known_categories
from bench_assets.suites.journeybench.construction import annotation
from bench_assets.suites.journeybench.construction.filtering import (
    Query,
    agreement,
    combine_queries,
    decide_images,
    kept_captions,
    verify_captions,
)
from bench_assets.suites.journeybench.raw_material import (
    CaptionDecision,
    CaptionVote,
    FilterDecision,
    FilterVote,
    GalleryImage,
    ImageCategories,
    WrittenCaption,
    last_entries,
    read_raw_rows,
)
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, table_output

_FOLDER = AssetFolder(SUITE)


@_FOLDER.step("source", deps=_FOLDER.source)
def queries(settings: dg.ResourceParam[Settings]) -> list[Query]:
    """Combine topic words with attribute words."""
    suite_settings = settings.suite(SUITE, JourneyBenchSettings)
    return combine_queries(suite_settings.topics, suite_settings.attributes)


@_FOLDER.step("source", deps=_FOLDER.source)
def gallery(sources: SourceFiles, queries: list[Query]) -> dg.Output[list[GalleryImage]]:
    """Read the images that were found in the gallery."""
    rows = read_raw_rows(source_folder(sources), GalleryImage).rows
    query_texts = {query.query for query in queries}
    n_other = sum(row.query not in query_texts for row in rows)
    return table_output(rows, {"found_otherwise": n_other})


@_FOLDER.step("select", reads={"stored": "images"})
def decisions(
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    gallery: list[GalleryImage],
    filter_votes: list[FilterVote],
    stored: list[StoredImage],
) -> dg.Output[list[FilterDecision]]:
    """Keep unusual, fictional and comprehensible images."""
    by_name = images_by_name(stored)
    hashes = {}
    for name in (row.image for row in gallery if row.image in by_name):
        image = image_store.open_if_whole(by_name[name].sha256)
        if image is not None:
            hashes[name] = image_hash(image)
    least_votes = needed_answers(settings, annotation.FILTER) or annotation.N_FILTERING
    rows = decide_images(gallery, filter_votes, hashes, least_votes)
    return table_output(rows, {"kept": sum(row.kept for row in rows)})


@_FOLDER.step("select")
def filter_agreement(filter_votes: list[FilterVote]) -> list[CriterionAgreement]:
    """Measure inter-annotator agreement."""
    return agreement(filter_votes)


@_FOLDER.step("select")
def caption_decisions(
    settings: dg.ResourceParam[Settings],
    decisions: list[FilterDecision],
    written_captions: list[WrittenCaption],
    caption_votes: list[CaptionVote],
) -> dg.Output[list[CaptionDecision]]:
    """Keep at most five captions of each image."""
    kept = {decision.image for decision in decisions if decision.kept}
    least_votes = required_votes(settings, annotation.VERIFY, annotation.N_VERIFIERS)
    rows = verify_captions(written_captions, caption_votes, kept, least_votes)
    return table_output(rows, {"kept": sum(row.kept for row in rows)})


@AssetFolder(f"{SUITE}/captioning").step(
    "select",
    name="built",
    reads={"caption_decisions": "../caption_decisions"},
    deps=_FOLDER.source,
)
def captioned_images(
    sources: SourceFiles, caption_decisions: list[CaptionDecision]
) -> list[CaptionedImage]:
    """Join captions and categories of each image."""
    categories = {
        row.image: known_categories([row.category1, row.category2])
        for row in read_raw_rows(source_folder(sources), ImageCategories).rows
    }
    return [
        CaptionedImage(
            entry_id=image,
            image=image,
            captions=tuple(captions),
            categories=categories.get(image, ()),
        )
        for image, captions in kept_captions(caption_decisions).items()
    ]


_TABLES = {
    "filter_votes": annotation.FILTER,
    "written_captions": annotation.WRITE,
    "caption_votes": annotation.VERIFY,
    "statement_votes": annotation.CONFLICTS,
    "look_alike_votes": annotation.ALIKE,
    "trigger_votes": annotation.TRIGGER,
}


def _votes_asset(name: str, task: SuiteAnnotationTask) -> dg.AssetsDefinition:
    @dg.asset(
        name=name,
        deps=[*_FOLDER.source, answers_key(task)],
        dagster_type=list_of(task.row),
        **_FOLDER.stage("annotation"),
    )
    def votes(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[Any]]:
        source_rows = read_raw_rows(source_folder(sources), task.row).rows
        return table_output(last_entries([*source_rows, *counted_rows(tables, task)]))

    return votes


vote_assets = [_votes_asset(name, task) for name, task in _TABLES.items()]
