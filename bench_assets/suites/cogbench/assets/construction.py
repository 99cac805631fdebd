"""CogBench's dataset build: source, images, merged annotations (section 2.2), stories and chains.

The authors' release is read as it is; raw annotations are merged.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import dagster as dg

from bench_assets.annotation.answers.validation import keep_latest
from bench_assets.asset_factory.annotation_inputs import answers_key, counted_rows
from bench_assets.asset_factory.asset_metadata import rejection_metadata
from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.build import FunnelStep, Table
from bench_assets.core.tables.source_folder import image_files
from bench_assets.core.text.escaping import escape_markdown
from bench_assets.evaluation.suite import HomeConfiguration
from bench_assets.suites.cogbench.construction import merging
from bench_assets.suites.cogbench.construction.annotation import ANNOTATION, MERGE_REVIEW
from bench_assets.suites.cogbench.construction.annotation_files import (
    AnnotatedItem,
    Review,
    parse_annotations,
    read_reviews,
)
from bench_assets.suites.cogbench.construction.merging import MergedItem
from bench_assets.suites.cogbench.construction.selection import select_stories
from bench_assets.suites.cogbench.construction.stories import (
    ImageUnderstanding,
    compare_descriptions,
    count_funnel,
    descriptions_to_review,
    dropped_images,
    merged_chains,
    merged_stories,
)
from bench_assets.suites.cogbench.dataset import source as files
from bench_assets.suites.cogbench.dataset.source import (
    CogBenchRelease,
    RawAnnotation,
    Story,
    StoryChain,
    find_release,
)
from bench_assets.suites.cogbench.settings import CogbenchSettings
from bench_assets.suites.cogbench.synthetic import edition as mini
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.encoders.sentence_encoder import SentenceEncoder, open_text_encoder
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, table_output

T = TypeVar("T")

COGBENCH = AssetFolder("cogbench")


@COGBENCH.step("source")
def source(sources: SourceFiles) -> list[SourceFile]:
    """Write the mini edition if no source is configured; record the digests of the files used."""
    opened = sources.open("cogbench")
    if opened.is_mini:
        mini.write(opened.folder)
    return files.source_files(find_release(opened.folder))


@COGBENCH.step("images", deps=COGBENCH.source)
def images(sources: SourceFiles, image_store: ImageStore) -> dg.Output[list[StoredImage]]:
    """Store every image of the folder that decodes."""
    stored, broken = image_store.put_files(image_files(open_release(sources).images))
    return table_output(stored, rejection_metadata(broken))


@COGBENCH.steps(
    "cogbench_selection",
    {"stories": "select", "rejections": "select"},
    reads={"stored": "images"},
    deps=COGBENCH.source,
)
def selection(
    sources: SourceFiles,
    merged_items: list[MergedItem],
    understanding: list[ImageUnderstanding],
    stored: list[StoredImage],
) -> tuple[dg.Output[list[Story]], list[Rejection]]:
    """Select the images to ask about; the others become rejections."""
    release = open_release(sources)
    if release.edition == "published":
        candidates = _read_published(release, files.read_stories)
    else:
        bad_reviews = read_reviews(release.folder).rejections
        candidates = Table(merged_stories(merged_items, understanding), bad_reviews)
    selected = select_stories(candidates.rows, {image.name: image for image in stored})
    n_entities = sum(len(story.entities) for story in selected.rows)
    rejections = [*candidates.rejections, *dropped_images(understanding), *selected.rejections]
    return table_output(selected.rows, {"entities": n_entities}), rejections


@COGBENCH.step("select", deps=COGBENCH.source)
def chains(
    sources: SourceFiles, stories: list[Story], merged_items: list[MergedItem]
) -> list[StoryChain]:
    """Select the chains of the selected images."""
    release = open_release(sources)
    if release.edition == "built":
        all_chains = merged_chains(merged_items)
    else:
        all_chains = _read_published(release, files.read_chains).rows
    selected_ids = {story.image_id for story in stories}
    return [chain for chain in all_chains if chain.image_id in selected_ids]


@COGBENCH.step("select")
def funnel(
    annotations: list[AnnotatedItem],
    merged_items: list[MergedItem],
    stories: list[Story],
    chains: list[StoryChain],
) -> list[FunnelStep]:
    """Count the items left at each step."""
    return count_funnel(annotations, merged_items, stories, chains)


@dg.asset_check(
    asset=COGBENCH.key("funnel"),
    additional_ins=COGBENCH.ins(questions="description/questions"),
    description="The published edition has the paper's images, entities and chains (Table 1).",
)
def chains_match_the_paper(
    funnel: list[FunnelStep], questions: list[Question]
) -> dg.AssetCheckResult:
    """Compare the steps that the paper gives numbers for."""
    editions = {question.edition for question in questions}
    problems = [
        f"{step.step}: {step.n}, the paper has {step.paper}"
        for step in funnel
        if editions == {"published"} and step.paper not in (None, step.n)
    ]
    holds = (
        "Every step that the paper gives a number for has that number."
        if editions == {"published"}
        else "Not compared: the paper counts the published edition."
    )
    return check_result(
        problems, n=len(funnel), noun="step", holds=holds, about={"editions": sorted(editions)}
    )


def open_release(sources: SourceFiles) -> CogBenchRelease:
    """Find the files of the configured source."""
    return find_release(sources.open("cogbench").folder)


def _read_published(
    release: CogBenchRelease, read: Callable[[CogBenchRelease], Table[T]]
) -> Table[T]:
    """Read rows from the authors' descriptions; an unreadable file has none.

    The description task's question table reports the error; the question task needs no such rows.
    """
    try:
        return read(release)
    except SourceError:
        return Table()


def open_encoder(settings: HomeConfiguration) -> SentenceEncoder:
    """Load the encoder that bench.toml names.

    Raises:
        ModelError: If there is no such encoder, or it does not load.
    """
    chosen = settings.suite("cogbench", CogbenchSettings)
    return open_text_encoder(chosen.text_encoder, settings.home)


_ANNOTATION_DEPS = [*COGBENCH.source, answers_key(ANNOTATION)]
_REVIEW_DEPS = [*COGBENCH.source, answers_key(MERGE_REVIEW)]


@COGBENCH.step("select", deps=_ANNOTATION_DEPS)
def annotations(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[AnnotatedItem]]:
    """Parse the annotations; what breaks a rule of Figure 6 is rejected."""
    bad_entries = files.read_annotations(open_release(sources)).rejections
    parsed = parse_annotations(_raw_annotations(sources, tables))
    return table_output(parsed.rows, rejection_metadata([*bad_entries, *parsed.rejections]))


@COGBENCH.step("select", deps=_REVIEW_DEPS)
def merged_items(
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    tables: TableFiles,
    annotations: list[AnnotatedItem],
) -> dg.Output[list[MergedItem]]:
    """Merge entities and chains by majority vote (section 2.2)."""
    if not annotations:
        return table_output([])
    reviews = _reviews(sources, tables)
    chosen = settings.suite("cogbench", CogbenchSettings)
    merged = merging.merge_items(
        annotations,
        reviews,
        open_encoder(settings),
        same_item=chosen.same_item,
        near_item=chosen.near_item,
    )
    ineffective = "\n".join(
        f"- {escape_markdown(row.entry)}: {escape_markdown(row.reason)}"
        for row in merged.rejections
    )
    return table_output(merged.rows, {"idle_reviews": dg.MetadataValue.md(ineffective or "none")})


@COGBENCH.step("select")
def review_queue(
    annotations: list[AnnotatedItem],
    merged_items: list[MergedItem],
    understanding: list[ImageUnderstanding],
) -> list[MergedItem]:
    """List the items that wait for a review."""
    return _waiting(annotations, merged_items, understanding)


@COGBENCH.step("select", deps=COGBENCH.source)
def to_review(
    sources: SourceFiles, settings: dg.ResourceParam[Settings], annotations: list[AnnotatedItem]
) -> list[MergedItem]:
    """List the items of the annotation task `cogbench/merge_review`; none without the task."""
    if not annotations or MERGE_REVIEW.task.name not in settings.annotation.tasks:
        return []
    chosen = settings.suite("cogbench", CogbenchSettings)
    encoder = open_encoder(settings)
    file_reviews = read_reviews(open_release(sources).folder).rows
    merged = merging.merge_items(
        annotations,
        file_reviews,
        encoder,
        same_item=chosen.same_item,
        near_item=chosen.near_item,
    ).rows
    understood = compare_descriptions(
        annotations, merged, encoder, same_story=chosen.same_story, reviews=file_reviews
    )
    return _waiting(annotations, merged, understood)


def _waiting(
    annotations: Sequence[AnnotatedItem],
    merged: Sequence[MergedItem],
    understood: Sequence[ImageUnderstanding],
) -> list[MergedItem]:
    """Items that wait for a review, and descriptions of dropped images."""
    waiting = [item for item in merged if item.outcome == "waiting"]
    return waiting + descriptions_to_review(annotations, understood)


@COGBENCH.step("select", deps=_REVIEW_DEPS)
def understanding(
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    tables: TableFiles,
    annotations: list[AnnotatedItem],
    merged_items: list[MergedItem],
) -> list[ImageUnderstanding]:
    """Compare the annotators' descriptions (section 2.2)."""
    if not annotations:
        return []
    same_story = settings.suite("cogbench", CogbenchSettings).same_story
    encoder = open_encoder(settings)
    reviews = _reviews(sources, tables)
    return compare_descriptions(
        annotations, merged_items, encoder, same_story=same_story, reviews=reviews
    )


def _raw_annotations(sources: SourceFiles, tables: TableFiles) -> list[RawAnnotation]:
    """Annotations of the file and of the annotation task; the latter replace the former."""
    file_rows = files.read_annotations(open_release(sources)).rows
    collected: list[RawAnnotation] = counted_rows(tables, ANNOTATION)
    return keep_latest([*file_rows, *collected], lambda row: (row.image, row.annotator))


def _reviews(sources: SourceFiles, tables: TableFiles) -> list[Review]:
    """Reviews of the file and of the annotation task; the latter replace the former."""
    file_reviews = read_reviews(open_release(sources).folder).rows
    collected: list[Review] = counted_rows(tables, MERGE_REVIEW)
    reviewed = {review.key for review in collected}
    return [review for review in file_reviews if review.key not in reviewed] + collected
