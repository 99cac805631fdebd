"""The question table of the description task."""

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.suites.cogbench.assets.source import edition_of
from bench_assets.suites.cogbench.dataset.source import (
    Story,
    StoryChain,
    find_release,
    read_chains,
    read_stories,
)
from bench_assets.suites.cogbench.description.questions import key_points, to_questions
from resources.datasets.source_files import SourceFiles
from resources.images.previews import question_preview
from resources.images.store import ImageStore
from resources.tables.parquet import table_output

_HERE = AssetFolder("cogbench/description")


@dg.asset(
    ins=_HERE.ins(stories="../stories", chains="../chains", stored="../images"),
    **_HERE.stage("questions"),
)
def questions(
    sources: SourceFiles,
    image_store: ImageStore,
    stories: list[Story],
    chains: list[StoryChain],
    stored: list[StoredImage],
) -> dg.Output[list[Question]]:
    """Ask for one description an image.

    One row: one image to be described, with the entities and chains that its description is
    scored by. The paper has 251.
    """
    opened = sources.open("cogbench")
    release = find_release(opened.folder)
    if release.edition == "published":
        read_stories(release)  # what is wrong with the file stops this task, and only this one
        read_chains(release)
    by_name = {image.name: image for image in stored}
    edition = edition_of(opened, len(stored))
    rows = to_questions(stories, chains, by_name, edition)
    n_points = sum(len(key_points(row)) for row in rows)
    return table_output(rows, {"key_points": n_points, **question_preview(rows, image_store)})
