"""CogBench left of the waist: from what annotators wrote to what they agree on (section 2.2)."""

import dagster as dg

from bench_assets.core.markdown import as_text
from bench_assets.core.rows import Rejection
from bench_assets.suites.cogbench import annotations as figure_6
from bench_assets.suites.cogbench import merge
from bench_assets.suites.cogbench import source as files
from bench_assets.suites.cogbench.annotations import AnnotatedItem
from bench_assets.suites.cogbench.assets.encoder import open_encoder
from bench_assets.suites.cogbench.assets.source import COGBENCH, open_release
from bench_assets.suites.cogbench.merge import FieldAgreement, MergedItem
from bench_assets.suites.cogbench.reviews import read_reviews
from bench_assets.suites.cogbench.settings import CogbenchSettings
from bench_assets.suites.cogbench.understanding import Understanding, compare_descriptions, untold
from resources.home.tables import table_output
from resources.settings.settings_file import SettingsFile
from resources.sources.source_files import SourceFiles


@dg.asset(deps=COGBENCH.source, **COGBENCH.stage("select"))
def annotations(sources: SourceFiles) -> dg.Output[list[AnnotatedItem]]:
    """Take apart what the annotators wrote.

    One row: one entity, chain or description that one annotator gave of one picture (Figure 6).
    The release has none: it is merged already.
    """
    raw = files.read_annotations(open_release(sources))
    return table_output(figure_6.read_annotations(raw).items)


@dg.asset(deps=COGBENCH.source, **COGBENCH.stage("select"))
def deviations(sources: SourceFiles) -> dg.Output[list[Rejection]]:
    """Name what an annotation lacks. One row: one place that breaks a rule of Figure 6."""
    raw = files.read_annotations(open_release(sources))
    return table_output(figure_6.read_annotations(raw).deviations)


@dg.asset(ins=COGBENCH.ins("annotations"), deps=COGBENCH.source, **COGBENCH.stage("select"))
def merged_items(
    sources: SourceFiles, settings: SettingsFile, annotations: list[AnnotatedItem]
) -> dg.Output[list[MergedItem]]:
    """Merge entities and chains by majority vote (section 2.2).

    One row: one entity or chain of a picture, equal and near-equal ones in one. Two annotators
    accept it; what one gave is `waiting` until an entry of reviews.json decides.
    """
    if not annotations:
        return table_output([])
    reviews = read_reviews(open_release(sources).folder)
    configured = settings.load()
    chosen = configured.suite("cogbench", CogbenchSettings)
    found = merge.merge_items(
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
    understanding: list[Understanding],
) -> dg.Output[list[MergedItem]]:
    """List what waits for a person.

    One row: an entity or chain that a single annotator gave, or a description of a picture that
    was dropped, and what comes near it: copy `image`, `field` and `text` into reviews.json, with
    `accept` true or false, or with `same_as` and the text of a near one.
    """
    waiting = [item for item in merged_items if item.outcome == "waiting"]
    return table_output(waiting + untold(annotations, understanding))


@dg.asset(
    ins=COGBENCH.ins("annotations", "merged_items"),
    deps=COGBENCH.source,
    **COGBENCH.stage("select"),
)
def understanding(
    sources: SourceFiles,
    settings: SettingsFile,
    annotations: list[AnnotatedItem],
    merged_items: list[MergedItem],
) -> dg.Output[list[Understanding]]:
    """Compare the annotators' descriptions (section 2.2).

    One row: one annotated picture, who understands it alike, and whose description is taken;
    without two who do, the picture is dropped.
    """
    if not annotations:
        return table_output([])
    configured = settings.load()
    same_story = configured.suite("cogbench", CogbenchSettings).same_story
    encoder = open_encoder(configured)
    reviews = read_reviews(open_release(sources).folder)
    return table_output(
        compare_descriptions(annotations, merged_items, encoder, same_story, reviews)
    )


@dg.asset(ins=COGBENCH.ins("annotations", "merged_items"), **COGBENCH.stage("select"))
def agreement(
    annotations: list[AnnotatedItem], merged_items: list[MergedItem]
) -> dg.Output[list[FieldAgreement]]:
    """Say how far the annotators give the same items. One row: one section of the annotations."""
    return table_output(merge.agreement(annotations, merged_items))
