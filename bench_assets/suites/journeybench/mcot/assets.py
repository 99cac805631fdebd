"""Dataset build of MCOT: from text-only problems and generated images to questions (3.4)."""

import dagster as dg

from bench_assets.asset_factory.asset_metadata import rejection_metadata
from bench_assets.asset_factory.gold_assets import gold_assets, yield_check
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.assets.generation import generate_images, generated_texts
from bench_assets.suites.journeybench.assets.question_tables import question_assets
from bench_assets.suites.journeybench.assets.source import source_folder
from bench_assets.suites.journeybench.mcot.dataset import (
    RELEASES,
    McotItem,
    read_mcot,
    to_questions,
)
from bench_assets.suites.journeybench.mcot.number_proposals import NUMBERS, accepted_numbers
from bench_assets.suites.journeybench.mcot.planned_images import (
    PlannedImage,
    counts_by_image,
    plan_images,
    read_counts,
    to_items,
)
from bench_assets.suites.journeybench.mcot.problems import PROBLEMS, Problem, read_problems
from bench_assets.suites.journeybench.mcot.quantities import (
    Quantity,
    find_quantities,
    quantity_prompts,
)
from bench_assets.suites.journeybench.mcot.task import TASK
from bench_assets.suites.journeybench.text_generation import GeneratedText
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.generated_images import ImageRequest
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import table_output

_FOLDER = AssetFolder("journeybench/mcot")


@_FOLDER.step("source", deps=_FOLDER.source)
def problems(sources: SourceFiles) -> list[Problem]:
    """Read the text-only problems."""
    return read_problems(source_folder(sources) / PROBLEMS).rows


quantity_responses = generated_texts(
    _FOLDER, "quantity_responses", {"problems": ("problems", Problem)}, quantity_prompts
)


@_FOLDER.step("select")
def quantities(problems: list[Problem], quantity_responses: list[GeneratedText]) -> list[Quantity]:
    """Keep the numbers that an image can replace."""
    return find_quantities(problems, quantity_responses).rows


number_proposals = gold_assets(NUMBERS)
number_yield = yield_check(NUMBERS)


@_FOLDER.step("images")
def planned_images(
    quantities: list[Quantity], decided_proposals: list[DecidedProposal]
) -> list[PlannedImage]:
    """Plan up to three images for each problem."""
    return plan_images(quantities, accepted_numbers(decided_proposals))


@_FOLDER.step("images", pool="gpu")
def painted_images(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    planned_images: list[PlannedImage],
) -> dg.Output[list[StoredImage]]:
    """Generate the planned images."""
    requests = [
        ImageRequest(name=image.name, prompt=image.prompt, seed=image.seed)
        for image in planned_images
    ]
    return generate_images(context, settings, image_store, requests)


@_FOLDER.step("select", deps=_FOLDER.source)
def built(
    sources: SourceFiles,
    problems: list[Problem],
    quantity_responses: list[GeneratedText],
    quantities: list[Quantity],
    planned_images: list[PlannedImage],
) -> dg.Output[list[McotItem]]:
    """Replace numbers by references to images, and solve the problems again."""
    folder = source_folder(sources)
    problem_table = read_problems(folder / PROBLEMS)
    count_table = read_counts(folder / "image_counts.jsonl")
    items = to_items(
        {problem.problem_id: problem for problem in problems},
        {quantity.quantity_id: quantity for quantity in quantities},
        planned_images,
        counts_by_image(count_table.rows),
    )
    quantity_table = find_quantities(problems, quantity_responses)
    tables = (problem_table, count_table, quantity_table, items)
    rejections = [rejection for table in tables for rejection in table.rejections]
    return table_output(items.rows, rejection_metadata(rejections))


mcot_questions = question_assets(
    task=TASK,
    row=McotItem,
    read=read_mcot,
    to_questions=to_questions,
    releases=RELEASES,
    has_painted_images=True,
)
