"""Dataset build of multi-image VQA: from problems, causes and experts to questions (3.5)."""

import dagster as dg

from bench_assets.asset_factory.asset_metadata import rejection_metadata
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.assets.generation import generate_images, generated_texts
from bench_assets.suites.journeybench.assets.question_tables import question_assets
from bench_assets.suites.journeybench.assets.source import source_folder
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
    cause_prompts,
    plan_arithmetic,
    plan_causes,
    read_copa,
    read_knowledge,
    to_item,
)
from bench_assets.suites.journeybench.multi_image_vqa.task import TASK
from bench_assets.suites.journeybench.text_generation import GeneratedText
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.generated_images import ImageRequest
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import table_output

_FOLDER = AssetFolder("journeybench/multi_image_vqa")
_PROBLEMS = {name: f"../mcot/{name}" for name in ("problems", "quantities", "decided_proposals")}
_COPA, _KNOWLEDGE = "copa.jsonl", "knowledge.jsonl"


@_FOLDER.step("source", deps=_FOLDER.source)
def causes(sources: SourceFiles) -> list[CauseAndEffect]:
    """Read pairs of cause and effect."""
    return read_copa(source_folder(sources) / _COPA).rows


cause_responses = generated_texts(
    _FOLDER, "cause_responses", {"causes": ("causes", CauseAndEffect)}, cause_prompts
)


@_FOLDER.step("images", reads=_PROBLEMS, deps=_FOLDER.source)
def planned_pairs(
    sources: SourceFiles,
    problems: list[Problem],
    quantities: list[Quantity],
    decided_proposals: list[DecidedProposal],
    causes: list[CauseAndEffect],
    cause_responses: list[GeneratedText],
) -> dg.Output[list[PlannedPair]]:
    """Plan pairs of images; reject the rest, with reasons."""
    folder = source_folder(sources)
    by_id = {problem.problem_id: problem for problem in problems}
    arithmetic_pairs = plan_arithmetic(by_id, quantities, decided_proposals)
    cause_pairs = plan_causes(causes, cause_responses)
    source_tables = (read_copa(folder / _COPA), read_knowledge(folder / _KNOWLEDGE))
    tables = (*source_tables, arithmetic_pairs, cause_pairs)
    rejections = [rejection for table in tables for rejection in table.rejections]
    return table_output(arithmetic_pairs.rows + cause_pairs.rows, rejection_metadata(rejections))


@_FOLDER.step("images", pool="gpu")
def painted_images(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    image_store: ImageStore,
    planned_pairs: list[PlannedPair],
) -> dg.Output[list[StoredImage]]:
    """Generate the planned images."""
    requests = [
        ImageRequest(name=name, prompt=prompt, seed=seed)
        for pair in planned_pairs
        for name, prompt, seed in zip(pair.images, pair.prompts, pair.seeds, strict=True)
    ]
    return generate_images(context, settings, image_store, requests)


@_FOLDER.step("select", deps=_FOLDER.source)
def built(sources: SourceFiles, planned_pairs: list[PlannedPair]) -> list[MultiImageItem]:
    """Collect the questions about two images."""
    expert_items = read_knowledge(source_folder(sources) / _KNOWLEDGE).rows
    return [to_item(pair) for pair in planned_pairs] + expert_items


multi_image_vqa_questions = question_assets(
    task=TASK,
    row=MultiImageItem,
    read=read_multi_image,
    to_questions=to_questions,
    releases=RELEASES,
    has_painted_images=True,
)
