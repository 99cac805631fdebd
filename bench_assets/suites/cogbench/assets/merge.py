"""CogBench left of the waist: from what annotators wrote to what they agree on (section 2.2)."""

import dagster as dg

from bench_assets.annotation.answers.resolution import last_said
from bench_assets.asset_factory.annotation_inputs import answers_key, heard
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.text.escaping import as_text
from bench_assets.suites.cogbench.assets.source import COGBENCH, open_encoder, open_release
from bench_assets.suites.cogbench.construction import annotation_parsing as figure_6
from bench_assets.suites.cogbench.construction import merging
from bench_assets.suites.cogbench.construction.annotation import ANNOTATION, MERGE_REVIEW
from bench_assets.suites.cogbench.construction.annotation_parsing import AnnotatedItem
from bench_assets.suites.cogbench.construction.merging import FieldAgreement, MergedItem
from bench_assets.suites.cogbench.construction.reviews import Review, read_reviews
from bench_assets.suites.cogbench.construction.selection import plain
from bench_assets.suites.cogbench.construction.understanding import (
    ImageUnderstanding,
    compare_descriptions,
    untold,
)
from bench_assets.suites.cogbench.dataset import source as files
from bench_assets.suites.cogbench.dataset.source import RawAnnotation
from bench_assets.suites.cogbench.settings import CogbenchSettings
from resources.config.settings_resource import SettingsResource
from resources.datasets.source_files import SourceFiles
from resources.tables.parquet import TableFiles, table_output

_ANNOTATED = [*COGBENCH.source, answers_key(ANNOTATION)]
_REVIEWED = [*COGBENCH.source, answers_key(MERGE_REVIEW)]


@dg.asset(deps=_ANNOTATED, **COGBENCH.stage("select"))
def annotations(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[AnnotatedItem]]:
    """Take apart what the annotators wrote.

    One row: one entity, chain or description that one annotator gave of one image (Figure 6).
    The release has none: it is merged already.
    """
    return table_output(figure_6.read_annotations(_written(sources, tables)).items)


@dg.asset(deps=_ANNOTATED, **COGBENCH.stage("select"))
def deviations(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[Rejection]]:
    """Name what an annotation lacks. One row: one place that breaks a rule of Figure 6."""
    return table_output(figure_6.read_annotations(_written(sources, tables)).deviations)


@dg.asset(ins=COGBENCH.ins("annotations"), deps=_REVIEWED, **COGBENCH.stage("select"))
def merged_items(
    sources: SourceFiles,
    settings: SettingsResource,
    tables: TableFiles,
    annotations: list[AnnotatedItem],
) -> dg.Output[list[MergedItem]]:
    """Merge entities and chains by majority vote (section 2.2).

    One row: one entity or chain of an image, equal and near-equal ones in one. Two annotators
    accept it; what one gave is `waiting` until an entry of reviews.json decides, or people do.
    """
    if not annotations:
        return table_output([])
    reviews = _reviews(sources, tables)
    configured = settings.load()
    chosen = configured.suite("cogbench", CogbenchSettings)
    found = merging.merge_items(
        annotations, reviews, open_encoder(configured), chosen.same_item, chosen.near_item
    )
    idle = "\n".join(f"- {as_text(row.entry)}: {as_text(row.reason)}" for row in found.idle_reviews)
    return table_output(found.items, {"idle_reviews": dg.MetadataValue.md(idle or "none")})


@dg.asset(
    ins=COGBENCH.ins("annotations", "merged_items", "understanding"), **COGBENCH.stage("select")
)
def review_queue(
    annotations: list[AnnotatedItem],
    merged_items: list[MergedItem],
    understanding: list[ImageUnderstanding],
) -> dg.Output[list[MergedItem]]:
    """List what waits for a person.

    One row: an entity or chain that a single annotator gave, or a description of an image that
    was dropped, and what comes near it: copy `image`, `field` and `text` into reviews.json, with
    `accept` true or false, or with `same_as` and the text of a near one.
    """
    waiting = [item for item in merged_items if item.outcome == "waiting"]
    return table_output(waiting + untold(annotations, understanding))


@dg.asset(ins=COGBENCH.ins("annotations"), deps=COGBENCH.source, **COGBENCH.stage("select"))
def to_review(
    sources: SourceFiles, settings: SettingsResource, annotations: list[AnnotatedItem]
) -> dg.Output[list[MergedItem]]:
    """List what people are asked to review.

    One row: what would wait for a person without the answers to `cogbench/merge_review`, so that
    what is asked does not change while it is answered. Empty unless bench.toml has the form.
    """
    configured = settings.load()
    if not annotations or MERGE_REVIEW.task.name not in configured.annotation.tasks:
        return table_output([])
    chosen = configured.suite("cogbench", CogbenchSettings)
    encoder, written = open_encoder(configured), read_reviews(open_release(sources).folder)
    merged = merging.merge_items(
        annotations, written, encoder, chosen.same_item, chosen.near_item
    ).items
    understood = compare_descriptions(annotations, merged, encoder, chosen.same_story, written)
    waiting = [item for item in merged if item.outcome == "waiting"]
    return table_output(waiting + untold(annotations, understood))


@dg.asset(
    ins=COGBENCH.ins("annotations", "merged_items"), deps=_REVIEWED, **COGBENCH.stage("select")
)
def understanding(
    sources: SourceFiles,
    settings: SettingsResource,
    tables: TableFiles,
    annotations: list[AnnotatedItem],
    merged_items: list[MergedItem],
) -> dg.Output[list[ImageUnderstanding]]:
    """Compare the annotators' descriptions (section 2.2).

    One row: one annotated image, who understands it alike, and whose description is taken;
    without two who do, the image is dropped.
    """
    if not annotations:
        return table_output([])
    configured = settings.load()
    same_story = configured.suite("cogbench", CogbenchSettings).same_story
    encoder, reviews = open_encoder(configured), _reviews(sources, tables)
    return table_output(
        compare_descriptions(annotations, merged_items, encoder, same_story, reviews)
    )


@dg.asset(ins=COGBENCH.ins("annotations", "merged_items"), **COGBENCH.stage("select"))
def agreement(
    annotations: list[AnnotatedItem], merged_items: list[MergedItem]
) -> dg.Output[list[FieldAgreement]]:
    """Say how far the annotators give the same items. One row: one section of the annotations."""
    return table_output(merging.agreement(annotations, merged_items))


def _written(sources: SourceFiles, tables: TableFiles) -> list[RawAnnotation]:
    """What stands in the file, and what people were asked."""
    written = files.read_annotations(open_release(sources))
    said: list[RawAnnotation] = heard(tables, ANNOTATION)
    return last_said([*written, *said], lambda one: (one.image, one.annotator))


def _reviews(sources: SourceFiles, tables: TableFiles) -> list[Review]:
    """What stands in the file, and what people were asked: of one item the latter counts."""
    written, said = read_reviews(open_release(sources).folder), heard(tables, MERGE_REVIEW)
    asked = {(one.image, one.field, plain(one.text)) for one in said}
    return [one for one in written if (one.image, one.field, plain(one.text)) not in asked] + said
