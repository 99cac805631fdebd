"""CogBench left of the waist, first part: from a source folder to what is known of each picture.

Both routes lead here: the authors' release is read as it is, raw annotations are merged.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

import dagster as dg

from bench_assets.cogbench import annotations as figure_6
from bench_assets.cogbench import merge, mini
from bench_assets.cogbench import source as files
from bench_assets.cogbench.annotations import AnnotatedItem
from bench_assets.cogbench.merge import FieldAgreement, MergedItem
from bench_assets.cogbench.select import select_stories
from bench_assets.cogbench.settings import CogbenchSettings
from bench_assets.cogbench.source import Release, Story, StoryChain, find_release
from bench_assets.cogbench.stories import (
    FunnelStep,
    count_funnel,
    dropped_pictures,
    merged_chains,
    merged_stories,
)
from bench_assets.cogbench.understanding import Understanding, compare_descriptions
from bench_assets.core.errors import ImageError
from bench_assets.core.rows import Rejection, SourceFile, StoredImage
from resources.embedders import SentenceEncoder, open_text_encoder
from resources.images import ImageStore
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import table_output


class _Shared(TypedDict):
    key_prefix: list[str]
    group_name: str
    code_version: str
    kinds: set[str]
    tags: dict[str, str]


_THREADS = 8  # pictures that are decoded at once; each may take as much memory as it has pixels
_SOURCE = [dg.AssetKey(["cogbench", "source"])]


def _stage(stage: str) -> _Shared:
    return _Shared(
        key_prefix=["cogbench"],
        group_name="cogbench",
        code_version="1",
        kinds={"python"},
        tags={"bench/stage": stage},
    )


def _ins(*tables: str, **renamed: str) -> dict[str, dg.AssetIn]:
    named = {table: table for table in tables} | renamed
    return {name: dg.AssetIn(["cogbench", table]) for name, table in named.items()}


@dg.asset(**_stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Pin the files.

    One row: one file of the source, by its digest. The release has two JSON files and 251
    pictures. Without a configured folder, the mini edition is drawn first.
    """
    opened = sources.open("cogbench")
    if opened.is_mini:
        mini.write(opened.folder)
    return table_output(files.source_files(find_release(opened.folder)))


@dg.asset(deps=_SOURCE, **_stage("images"))
def images(sources: SourceFiles, images: ImageStore) -> dg.Output[list[StoredImage]]:
    """Store every picture of the folder, several at a time.

    One row: one picture that decodes, now in the image store; the release has 251. Of those that
    do not decode, the metadata say why.
    """
    release = _release(sources)
    found = files.image_files(release)
    with ThreadPoolExecutor(_THREADS) as threads:
        results = list(threads.map(lambda file: _stored(file, release, images), found))
    faults = "\n".join(f"- {result}" for result in results if isinstance(result, ImageError))
    stored = [result for result in results if isinstance(result, StoredImage)]
    return table_output(stored, {"not_decoded": dg.MetadataValue.md(faults or "none")})


@dg.asset(deps=_SOURCE, **_stage("select"))
def annotations(sources: SourceFiles) -> dg.Output[list[AnnotatedItem]]:
    """Take apart what the annotators wrote.

    One row: one entity, chain or description that one annotator gave of one picture (Figure 6).
    The release has none: it is merged already.
    """
    raw = files.read_annotations(_release(sources))
    return table_output(figure_6.read_annotations(raw).items)


@dg.asset(deps=_SOURCE, **_stage("select"))
def deviations(sources: SourceFiles) -> dg.Output[list[Rejection]]:
    """Name what an annotation lacks. One row: one place that breaks a rule of Figure 6."""
    raw = files.read_annotations(_release(sources))
    return table_output(figure_6.read_annotations(raw).deviations)


@dg.asset(ins=_ins("annotations"), deps=_SOURCE, **_stage("select"))
def merged_items(
    sources: SourceFiles, settings: SettingsFile, annotations: list[AnnotatedItem]
) -> dg.Output[list[MergedItem]]:
    """Merge entities and chains by majority vote (section 2.2).

    One row: one entity or chain of a picture, equal and near-equal ones in one. Two annotators
    accept it; what one gave is `waiting` until an entry of reviews.json decides.
    """
    if not annotations:
        return table_output([])
    reviews = merge.read_reviews(_release(sources).folder)
    same_item = settings.load().suite("cogbench", CogbenchSettings).same_item
    found = merge.merge_items(annotations, reviews, _encoder(settings), same_item)
    idle = "\n".join(f"- {row.entry}: {row.reason}" for row in found.idle_reviews)
    return table_output(found.items, {"idle_reviews": dg.MetadataValue.md(idle or "none")})


@dg.asset(ins=_ins("merged_items"), **_stage("select"))
def review_queue(merged_items: list[MergedItem]) -> dg.Output[list[MergedItem]]:
    """List what waits for a person.

    One row: an entity or chain that a single annotator gave and nobody has decided about: copy
    `image`, `field` and `text` into reviews.json, with `accept` true or false.
    """
    return table_output([item for item in merged_items if item.outcome == "waiting"])


@dg.asset(ins=_ins("annotations", "merged_items"), **_stage("select"))
def understanding(
    settings: SettingsFile, annotations: list[AnnotatedItem], merged_items: list[MergedItem]
) -> dg.Output[list[Understanding]]:
    """Compare the annotators' descriptions (section 2.2).

    One row: one annotated picture, who understands it alike, and whose description is taken;
    without two who do, the picture is dropped.
    """
    if not annotations:
        return table_output([])
    same_story = settings.load().suite("cogbench", CogbenchSettings).same_story
    encoder = _encoder(settings)
    return table_output(compare_descriptions(annotations, merged_items, encoder, same_story))


@dg.asset(ins=_ins("annotations", "merged_items"), **_stage("select"))
def agreement(
    annotations: list[AnnotatedItem], merged_items: list[MergedItem]
) -> dg.Output[list[FieldAgreement]]:
    """Say how far the annotators give the same items. One row: one section of the annotations."""
    return table_output(merge.agreement(annotations, merged_items))


@dg.asset(
    ins=_ins("merged_items", "understanding", stored="images"), deps=_SOURCE, **_stage("select")
)
def stories(
    sources: SourceFiles,
    merged_items: list[MergedItem],
    understanding: list[Understanding],
    stored: list[StoredImage],
) -> dg.Output[list[Story]]:
    """Take the pictures that are asked about.

    One row: one picture with its entities and its description. The paper has 251, with 2,670
    entities (section 2.4).
    """
    found = _all_stories(_release(sources), merged_items, understanding)
    kept = select_stories(found, {image.name: image for image in stored}).kept
    return table_output(kept, {"entities": sum(len(story.entities) for story in kept)})


@dg.asset(
    ins=_ins("merged_items", "understanding", stored="images"), deps=_SOURCE, **_stage("select")
)
def rejections(
    sources: SourceFiles,
    merged_items: list[MergedItem],
    understanding: list[Understanding],
    stored: list[StoredImage],
) -> dg.Output[list[Rejection]]:
    """Say why a picture is left out. One row: one reason for one picture."""
    found = _all_stories(_release(sources), merged_items, understanding)
    faulty = select_stories(found, {image.name: image for image in stored}).rejections
    return table_output([*dropped_pictures(understanding), *faulty])


@dg.asset(ins=_ins("stories", "merged_items"), deps=_SOURCE, **_stage("select"))
def chains(
    sources: SourceFiles, stories: list[Story], merged_items: list[MergedItem]
) -> dg.Output[list[StoryChain]]:
    """Take the chains of the pictures that are asked about.

    One row: one chain of reasoning. The paper has 2,245: 47, 179, 106, 263, 701, 425, 107 and
    417 of the eight kinds (Table 1).
    """
    release = _release(sources)
    raw = release.edition == "built"
    found = merged_chains(merged_items) if raw else files.read_chains(release)
    kept = {story.image_id for story in stories}
    return table_output([chain for chain in found if chain.image_id in kept])


@dg.asset(ins=_ins("annotations", "merged_items", "stories", "chains"), **_stage("select"))
def funnel(
    annotations: list[AnnotatedItem],
    merged_items: list[MergedItem],
    stories: list[Story],
    chains: list[StoryChain],
) -> dg.Output[list[FunnelStep]]:
    """Count what is left at each step.

    One row: one step from annotations to key points, and how many were left, beside the paper's
    numbers (section 2.4, Table 1).
    """
    return table_output(count_funnel(annotations, merged_items, stories, chains))


def _release(sources: SourceFiles) -> Release:
    return find_release(sources.open("cogbench").folder)


def _stored(file: Path, release: Release, images: ImageStore) -> StoredImage | ImageError:
    try:
        return images.put_file(file, file.relative_to(release.images).as_posix())
    except ImageError as why:
        return why


def _all_stories(
    release: Release, items: Sequence[MergedItem], understood: Sequence[Understanding]
) -> list[Story]:
    raw = release.edition == "built"
    return merged_stories(items, understood) if raw else files.read_stories(release)


def _encoder(settings: SettingsFile) -> SentenceEncoder:
    configured = settings.load()
    chosen = configured.suite("cogbench", CogbenchSettings)
    return open_text_encoder(chosen.text_encoder, configured.home)
