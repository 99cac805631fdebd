"""CogBench left of the waist, first part: from a source folder to what is known of each image.

Both routes lead here: the authors' release is read as it is, raw annotations are merged.

Which edition the questions belong to.

The encoder that annotations, entities and nouns are compared by.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import dagster as dg

from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Edition, Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import image_files
from bench_assets.core.text.escaping import as_text
from bench_assets.evaluation.suite import HomeConfiguration
from bench_assets.suites.cogbench.construction.annotation_parsing import AnnotatedItem
from bench_assets.suites.cogbench.construction.merging import MergedItem
from bench_assets.suites.cogbench.construction.selection import select_stories
from bench_assets.suites.cogbench.construction.stories import (
    StoryFunnelStep,
    count_funnel,
    dropped_images,
    merged_chains,
    merged_stories,
)
from bench_assets.suites.cogbench.construction.understanding import ImageUnderstanding
from bench_assets.suites.cogbench.dataset import source as files
from bench_assets.suites.cogbench.dataset.source import (
    CogBenchRelease,
    Story,
    StoryChain,
    find_release,
)
from bench_assets.suites.cogbench.settings import CogbenchSettings
from bench_assets.suites.cogbench.synthetic import edition as mini
from resources.datasets.source_files import SourceFiles, SuiteSource
from resources.encoders.sentence_encoder import SentenceEncoder, open_text_encoder
from resources.images.store import ImageStore
from resources.tables.parquet import table_output

T = TypeVar("T")

COGBENCH = AssetFolder("cogbench")


@dg.asset(**COGBENCH.stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Pin the files.

    One row: one file of the source, by its digest. The release has two JSON files and 251
    images. Without a configured folder, the mini edition is drawn first.
    """
    opened = sources.open("cogbench")
    if opened.is_mini:
        mini.write(opened.folder)
    return table_output(files.source_files(find_release(opened.folder)))


@dg.asset(deps=COGBENCH.source, **COGBENCH.stage("images"))
def images(sources: SourceFiles, image_store: ImageStore) -> dg.Output[list[StoredImage]]:
    """Store every image of the folder, several at a time.

    One row: one image that decodes, now in the image store; the release has 251. Of those that
    do not decode, the metadata say why.
    """
    stored, broken = image_store.put_files(image_files(open_release(sources).images))
    faults = "\n".join(f"- {as_text(row.entry)}: {as_text(row.reason)}" for row in broken)
    return table_output(stored, {"not_decoded": dg.MetadataValue.md(faults or "none")})


@dg.multi_asset(
    name="cogbench_selection",
    ins=COGBENCH.ins("merged_items", "understanding", stored="images"),
    deps=COGBENCH.source,
    outs={
        "stories": out(
            COGBENCH.stage("select"),
            Story,
            "One row: one image that is asked about, with its entities and its description. The "
            "paper has 251, with 2,670 entities (section 2.4).",
        ),
        "rejections": out(
            COGBENCH.stage("select"), Rejection, "One row: one reason why one image is left out."
        ),
    },
)
def selection(
    sources: SourceFiles,
    merged_items: list[MergedItem],
    understanding: list[ImageUnderstanding],
    stored: list[StoredImage],
) -> tuple[dg.Output[list[Story]], dg.Output[list[Rejection]]]:
    """Take the images that are asked about, and say why the others are not."""
    found = _all_stories(open_release(sources), merged_items, understanding)
    kept, faulty = select_stories(found, {image.name: image for image in stored})
    n_entities = sum(len(story.entities) for story in kept)
    rejections = [*dropped_images(understanding), *faulty]
    return table_output(kept, {"entities": n_entities}), table_output(rejections)


@dg.asset(
    ins=COGBENCH.ins("stories", "merged_items"), deps=COGBENCH.source, **COGBENCH.stage("select")
)
def chains(
    sources: SourceFiles, stories: list[Story], merged_items: list[MergedItem]
) -> dg.Output[list[StoryChain]]:
    """Take the chains of the images that are asked about.

    One row: one chain of reasoning. The paper has 2,245: 47, 179, 106, 263, 701, 425, 107 and
    417 of the eight kinds (Table 1).
    """
    release = open_release(sources)
    raw = release.edition == "built"
    found = merged_chains(merged_items) if raw else _published(release, files.read_chains)
    kept = {story.image_id for story in stories}
    return table_output([chain for chain in found if chain.image_id in kept])


@dg.asset(
    ins=COGBENCH.ins("annotations", "merged_items", "stories", "chains"), **COGBENCH.stage("select")
)
def funnel(
    annotations: list[AnnotatedItem],
    merged_items: list[MergedItem],
    stories: list[Story],
    chains: list[StoryChain],
) -> dg.Output[list[StoryFunnelStep]]:
    """Count what is left at each step.

    One row: one step from annotations to key points, and how many were left, beside the paper's
    numbers (section 2.4, Table 1).
    """
    return table_output(count_funnel(annotations, merged_items, stories, chains))


@dg.asset_check(
    asset=COGBENCH.key("funnel"),
    additional_ins=COGBENCH.ins(questions="description/questions"),
    description="The published edition has the paper's images, entities and chains (Table 1).",
)
def chains_match_the_paper(
    funnel: list[StoryFunnelStep], questions: list[Question]
) -> dg.AssetCheckResult:
    """Compare the steps that the paper gives numbers for."""
    editions = {question.edition for question in questions}
    problems = [
        f"{step.step}: {step.n}, the paper has {step.paper}"
        for step in funnel
        if editions == {"published"} and step.paper not in (None, step.n)
    ]
    holds = (
        "Every step that the paper gives a number for has it."
        if editions == {"published"}
        else "Not compared: the paper counts the published edition."
    )
    return check_result(
        problems, n=len(funnel), of="step", holds=holds, about={"editions": sorted(editions)}
    )


def open_release(sources: SourceFiles) -> CogBenchRelease:
    """Find the files of the configured source."""
    return find_release(sources.open("cogbench").folder)


def _all_stories(
    release: CogBenchRelease, items: Sequence[MergedItem], understood: Sequence[ImageUnderstanding]
) -> list[Story]:
    raw = release.edition == "built"
    return merged_stories(items, understood) if raw else _published(release, files.read_stories)


def _published(release: CogBenchRelease, read: Callable[[CogBenchRelease], list[T]]) -> list[T]:
    """Read the authors' descriptions; nothing where they cannot be read.

    The table of description questions then says why; questions about images need none of them.
    """
    try:
        return read(release)
    except SourceError:
        return []


_SAMPLES = 5  # images that the authors show in their repository; the full set is 251


def edition_of(opened: SuiteSource, n_images: int) -> Edition:
    """Name the edition; that of the authors' samples is ``"own"``.

    Numbers of different editions are not comparable, and only the published one is held against
    the paper's counts.
    """
    if opened.is_mini:
        return "mini"
    edition = find_release(opened.folder).edition
    return "own" if edition == "published" and n_images == _SAMPLES else edition


def open_encoder(settings: HomeConfiguration) -> SentenceEncoder:
    """Load the encoder that bench.toml names.

    Raises:
        ModelError: If there is no such encoder, or it does not load.
    """
    chosen = settings.suite("cogbench", CogbenchSettings)
    return open_text_encoder(chosen.text_encoder, settings.home)
