"""MCOT left of the waist: from text-only problems and images made for them to questions (3.4)."""

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
from bench_assets.suites.journeybench.mcot.dataset import (
    RELEASES,
    McotItem,
    flag_of,
    read_mcot,
    to_questions,
)
from bench_assets.suites.journeybench.mcot.image_references import LabelSpelling
from bench_assets.suites.journeybench.mcot.image_references import spellings as count_spellings
from bench_assets.suites.journeybench.mcot.planned_images import (
    PlannedImage,
    plan_images,
    read_counts,
    to_items,
)
from bench_assets.suites.journeybench.mcot.problems import Problem, read_problems
from bench_assets.suites.journeybench.mcot.quantities import Quantity, find_quantities, prompts
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.suites.journeybench.text_generation import GeneratedText, write
from resources.config.settings_resource import SettingsResource
from resources.config.stores import open_home_blobs
from resources.datasets.source_files import SourceFiles
from resources.images.painters import ImageRequest, open_painter, paint_images
from resources.images.store import ImageStore
from resources.models.registry.opening import Models
from resources.tables.parquet import table_output

_HERE = AssetFolder("journeybench/mcot")

mcot_images = image_assets(_HERE, "mcot")


@dg.asset(deps=_HERE.source, **_HERE.stage("source"))
def problems(sources: SourceFiles) -> dg.Output[list[Problem]]:
    """Read the text-only problems.

    One row: one problem of `gsm8k.jsonl`, in the layout of GSM8K; none for a published source.
    """
    file = source_folder(sources) / "gsm8k.jsonl"
    return table_output(read_problems(file) if file.exists() else [])


@dg.asset(ins=_HERE.ins("problems"), deps=_HERE.source, **_HERE.stage("select", asks="judge"))
def quantity_responses(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsResource,
    models: Models,
    problems: list[Problem],
) -> dg.Output[list[GeneratedText]]:
    """Have a model find the numbers that an image could show.

    One row: one response about one problem, with the prompt.
    """
    writer = settings.load().suite(SUITE, JourneyBenchSettings).writer
    with open_writer(context, models, writer, sources) as model:
        return table_output(write(model, prompts(problems)))


@dg.asset(ins=_HERE.ins("problems", "quantity_responses"), **_HERE.stage("select"))
def quantities(
    problems: list[Problem], quantity_responses: list[GeneratedText]
) -> dg.Output[list[Quantity]]:
    """Keep the numbers that can be taken out of their problem.

    One row: one number of a problem, the words that give it, and a prompt for an image of it.
    """
    return table_output(find_quantities(problems, quantity_responses).quantities)


@dg.asset(ins=_HERE.ins("problems", "quantities"), **_HERE.stage("images"))
def planned_images(
    problems: list[Problem], quantities: list[Quantity]
) -> dg.Output[list[PlannedImage]]:
    """Plan three images for each problem.

    One row: one image to be made: with the problem's own number of things, with another number
    among other things, or with none, and the prompt and seed it is made with.
    """
    by_id = {problem.problem_id: problem for problem in problems}
    return table_output(plan_images(by_id, quantities))


@dg.asset(ins=_HERE.ins("planned_images"), **_HERE.stage("images", asks="gpu"))
def painted_images(
    context: dg.AssetExecutionContext,
    settings: SettingsResource,
    image_store: ImageStore,
    planned_images: list[PlannedImage],
) -> dg.Output[list[StoredImage]]:
    """Make the images.

    One row: one image, now in the image store. An image is made once for a prompt and seed. Of
    one that cannot be made the log says why; its questions are among the rejections.
    """
    configured = settings.load()
    painter = open_painter(configured.suite(SUITE, JourneyBenchSettings).painter)
    requests = [
        ImageRequest(name=image.name, prompt=image.prompt, seed=image.seed)
        for image in planned_images
    ]
    painted = paint_images(requests, painter, image_store, open_home_blobs(configured, "painted"))
    for one in painted.rejections:
        context.log.warning(f"{one.entry}: {one.reason}")
    return table_output(
        painted.images, {"painter": painter.identity, "failed": len(painted.rejections)}
    )


@dg.multi_asset(
    name="mcot_built",
    ins=_HERE.ins("problems", "quantity_responses", "quantities", "planned_images"),
    deps=_HERE.source,
    outs={
        "built": out(
            _HERE.stage("select"),
            McotItem,
            "One row: one question about one image, its answer, and how it refers to the image.",
        ),
        "built_rejections": out(
            _HERE.stage("select"),
            Rejection,
            "One row: one response, proposal or image that did not become a row, and why.",
        ),
    },
)
def built(
    sources: SourceFiles,
    problems: list[Problem],
    quantity_responses: list[GeneratedText],
    quantities: list[Quantity],
    planned_images: list[PlannedImage],
) -> tuple[dg.Output[list[McotItem]], dg.Output[list[Rejection]]]:
    """Put references to images in the place of numbers, and solve the problems again."""
    file = source_folder(sources) / "image_counts.jsonl"
    found = to_items(
        {problem.problem_id: problem for problem in problems},
        {quantity.quantity_id: quantity for quantity in quantities},
        planned_images,
        read_counts(file) if file.exists() else {},
    )
    unread = find_quantities(problems, quantity_responses).rejections
    return table_output(found.items), table_output(unread + found.rejections)


@dg.asset(ins=_HERE.ins("built"), deps=_HERE.source, **_HERE.stage("select"))
def entries(sources: SourceFiles, built: list[McotItem]) -> dg.Output[list[McotItem]]:
    """Take the rows of the published file, or those built here.

    One row: one question about one image; 2,599 published.
    """
    rows = published_rows(sources, "mcot", read_mcot, built)
    flagged = [f"{row.item_id}: {flag}" for row in rows if (flag := flag_of(row))]
    return table_output(rows, {"flagged": "; ".join(flagged) or "none"})


@dg.asset(ins=_HERE.ins("entries"), **_HERE.stage("select"))
def spellings(entries: list[McotItem]) -> dg.Output[list[LabelSpelling]]:
    """Say how each spelling of a co-reference label was read.

    One row: one spelling, and the label it was taken for, empty if none; the release has 126
    spellings of whole cells.
    """
    rows = count_spellings(entry.category for entry in entries)
    return table_output(rows, {"unknown": sum(not row.label for row in rows)})


@dg.multi_asset(
    name="mcot_questions",
    ins=_HERE.ins("entries", "painted_images", files="../images", fetched="images"),
    outs=question_outs(
        _HERE,
        "One row: one entry that did not become a question.",
        "One row: one question about one image. 2,599 in the release, about 979 problems.",
    ),
)
def questions(
    sources: SourceFiles,
    image_store: ImageStore,
    entries: list[McotItem],
    painted_images: list[StoredImage],
    files: list[StoredImage],
    fetched: list[StoredImage],
) -> Iterator[dg.Output[list[Any]]]:
    """Ask every entry whose image is there; nothing if the source has none."""
    asked, n = to_questions(entries, by_name([*files, *fetched, *painted_images])), len(entries)
    whole = not asked.rejections
    edition = edition_of(sources, "mcot", whole=whole, n=n, releases=RELEASES)
    yield from asked_tables(asked, n, edition, image_store)
