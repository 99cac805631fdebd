"""Multi-image VQA left of the waist: from problems, causes and experts to questions (3.5)."""

from collections.abc import Iterator
from typing import Any

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.suites.journeybench.assets.images import image_assets
from bench_assets.suites.journeybench.assets.questions import (
    asked_tables,
    edition_of,
    published_rows,
    question_outs,
)
from bench_assets.suites.journeybench.assets.source import (
    SUITE,
    by_name,
    open_writer,
    source_folder,
)
from bench_assets.suites.journeybench.mcot.problems import Problem
from bench_assets.suites.journeybench.mcot.quantities import Quantity
from bench_assets.suites.journeybench.multi_image_vqa.dataset import (
    RELEASES,
    MultiImageItem,
    read_multi_image,
    to_questions,
)
from bench_assets.suites.journeybench.multi_image_vqa.image_pairs import (
    CauseAndEffect,
    PlannedPair,
    plan_arithmetic,
    plan_causes,
    prompts,
    read_copa,
    read_knowledge,
    to_item,
)
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.suites.journeybench.text_generation import GeneratedText, write
from resources.config.settings_resource import SettingsResource
from resources.config.stores import open_home_blobs
from resources.datasets.source_files import SourceFiles
from resources.images.painters import ImageRequest, open_painter, paint_images
from resources.images.store import ImageStore
from resources.models.registry.opening import Models
from resources.tables.parquet import table_output

_HERE = AssetFolder("journeybench/multi_image_vqa")
_PROBLEMS = {"problems": "../mcot/problems", "quantities": "../mcot/quantities"}


multi_image_vqa_images = image_assets(_HERE, "multi_image_vqa")


@dg.asset(deps=_HERE.source, **_HERE.stage("source"))
def causes(sources: SourceFiles) -> dg.Output[list[CauseAndEffect]]:
    """Read causes and their effects.

    One row: two events of `copa.jsonl`, in the layout of COPA; none for a published source.
    """
    file = source_folder(sources) / "copa.jsonl"
    return table_output(read_copa(file) if file.exists() else [])


@dg.asset(ins=_HERE.ins("causes"), deps=_HERE.source, **_HERE.stage("select", asks="judge"))
def cause_responses(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsResource,
    models: Models,
    causes: list[CauseAndEffect],
) -> dg.Output[list[GeneratedText]]:
    """Have a model say how the two events could be seen.

    One row: one response about one cause and its effect, with the prompt.
    """
    writer = settings.load().suite(SUITE, JourneyBenchSettings).writer
    with open_writer(context, models, writer, sources) as model:
        return table_output(write(model, prompts(causes)))


@dg.multi_asset(
    name="multi_image_vqa_pairs",
    ins=_HERE.ins("causes", "cause_responses", **_PROBLEMS),
    outs={
        "planned_pairs": out(
            _HERE.stage("images"),
            PlannedPair,
            "One row: one question about two images to be made, with their prompts and seeds: a "
            "problem with two numbers taken out, or a cause and its effect.",
        ),
        "built_rejections": out(
            _HERE.stage("select"),
            Rejection,
            "One row: one problem or pair of events that did not become a row, and why.",
        ),
    },
)
def pairs(
    problems: list[Problem],
    quantities: list[Quantity],
    causes: list[CauseAndEffect],
    cause_responses: list[GeneratedText],
) -> tuple[dg.Output[list[PlannedPair]], dg.Output[list[Rejection]]]:
    """Plan pairs of images, and say of everything that is left out why."""
    by_rule = plan_arithmetic({problem.problem_id: problem for problem in problems}, quantities)
    by_cause = plan_causes(causes, cause_responses)
    return (
        table_output(by_rule.pairs + by_cause.pairs),
        table_output(by_rule.rejections + by_cause.rejections),
    )


@dg.asset(ins=_HERE.ins("planned_pairs"), **_HERE.stage("images", asks="gpu"))
def painted_images(
    context: dg.AssetExecutionContext,
    settings: SettingsResource,
    image_store: ImageStore,
    planned_pairs: list[PlannedPair],
) -> dg.Output[list[StoredImage]]:
    """Make the images.

    One row: one image, now in the image store. Of one that cannot be made the log says why; its
    questions are among the rejections.
    """
    configured = settings.load()
    painter = open_painter(configured.suite(SUITE, JourneyBenchSettings).painter)
    requests = [
        ImageRequest(name=name, prompt=prompt, seed=seed)
        for pair in planned_pairs
        for name, prompt, seed in zip(pair.images, pair.prompts, pair.seeds, strict=True)
    ]
    painted = paint_images(requests, painter, image_store, open_home_blobs(configured, "painted"))
    for one in painted.rejections:
        context.log.warning(f"{one.entry}: {one.reason}")
    return table_output(
        painted.images, {"painter": painter.identity, "failed": len(painted.rejections)}
    )


@dg.asset(ins=_HERE.ins("planned_pairs"), deps=_HERE.source, **_HERE.stage("select"))
def built(
    sources: SourceFiles, planned_pairs: list[PlannedPair]
) -> dg.Output[list[MultiImageItem]]:
    """Gather what is asked about two images.

    One row: one question about two images: planned here, or asked by an expert about images of
    `images/` (`knowledge.jsonl`).
    """
    file = source_folder(sources) / "knowledge.jsonl"
    by_experts = read_knowledge(file) if file.exists() else []
    return table_output([to_item(pair) for pair in planned_pairs] + by_experts)


@dg.asset(ins=_HERE.ins("built"), deps=_HERE.source, **_HERE.stage("select"))
def entries(sources: SourceFiles, built: list[MultiImageItem]) -> dg.Output[list[MultiImageItem]]:
    """Take the rows of the published file, or those built here.

    One row: one question about two images; 179 in the history of the site, 313 on the hub.
    """
    return table_output(published_rows(sources, "multi_image_vqa", read_multi_image, built))


@dg.multi_asset(
    name="multi_image_vqa_questions",
    ins=_HERE.ins("entries", "painted_images", files="../images", fetched="images"),
    outs=question_outs(
        _HERE,
        "One row: one entry that did not become a question.",
        "One row: one question about two images: arithmetic, external knowledge, or cause and "
        "effect.",
    ),
)
def questions(
    sources: SourceFiles,
    image_store: ImageStore,
    entries: list[MultiImageItem],
    painted_images: list[StoredImage],
    files: list[StoredImage],
    fetched: list[StoredImage],
) -> Iterator[dg.Output[list[Any]]]:
    """Ask every entry whose images are there; nothing if the source has none."""
    asked, n = to_questions(entries, by_name([*files, *fetched, *painted_images])), len(entries)
    whole = not asked.rejections
    edition = edition_of(sources, "multi_image_vqa", whole=whole, n=n, releases=RELEASES)
    yield from asked_tables(asked, n, edition, image_store)
