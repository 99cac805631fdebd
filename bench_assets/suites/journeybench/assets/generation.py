"""Generated texts and images: the steps of the built route that call a model or draw."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal

import dagster as dg

from bench_assets.asset_factory import suite_assets
from bench_assets.asset_factory.suite_assets import AssetFolder, StageName
from bench_assets.core.schema.chat import ChatModel, Prompt
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.assets.source import SUITE, source_folder
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.suites.journeybench.text_generation import GeneratedText, generate_texts
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.generated_images import ImageRequest, collect_images, draw_images
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import table_output


def open_writer(
    context: dg.AssetExecutionContext, models: Models, name: str, sources: SourceFiles
) -> AbstractContextManager[ChatModel]:
    """Open the model ``name``; for "", the responses recorded with the source."""
    return suite_assets.open_writer(
        context, models, name, source_folder(sources) / "responses.jsonl"
    )


def generated_texts(
    folder: AssetFolder,
    name: str,
    ins: Mapping[str, tuple[str, type[Any]]],
    build_prompts: Callable[..., Mapping[str, Prompt]],
    role: Literal["writer", "answerer"] = "writer",
) -> dg.AssetsDefinition:
    """Build the asset of a model's texts: one row per prompt.

    Args:
        folder: Folder of the asset.
        name: Name of the asset.
        ins: Arguments of ``build_prompts`` in order, as path and row type of a table.
        build_prompts: Builds the prompts, by request id.
        role: Setting of ``[suites.journeybench]`` that names the model; it also decides on the
            stage of the asset. Without an ``answerer``, the writer answers.
    """
    stage: StageName = "select" if role == "writer" else "distractors"

    @dg.asset(
        name=name,
        ins=folder.ins_of(**ins),
        deps=folder.source,  # it may have recorded responses
        **folder.stage(stage, pool="judge"),
    )
    def responses(
        context: dg.AssetExecutionContext,
        sources: SourceFiles,
        settings: dg.ResourceParam[Settings],
        models: Models,
        **tables: list[Any],
    ) -> dg.Output[list[GeneratedText]]:
        suite_settings = settings.suite(SUITE, JourneyBenchSettings)
        answerer = suite_settings.answerer if role == "answerer" else ""
        prompts = build_prompts(*(tables[table] for table in ins))
        if not prompts:
            return table_output([])
        with open_writer(context, models, answerer or suite_settings.writer, sources) as model:
            return table_output(generate_texts(model, prompts))

    return responses


def generate_images(
    context: dg.AssetExecutionContext,
    settings: Settings,
    image_store: ImageStore,
    requests: Sequence[ImageRequest],
) -> dg.Output[list[StoredImage]]:
    """Draw the requested images, or collect them from ``generated``; failures are logged."""
    folder = settings.suite(SUITE, JourneyBenchSettings).generated
    collected = (
        collect_images(requests, settings.resolve(folder), image_store)
        if folder
        else draw_images(requests, image_store)
    )
    for rejection in collected.rejections:
        context.log.warning(f"{rejection.entry}: {rejection.reason}")
    return table_output(
        collected.images, {"generated": str(folder or "drawn"), "failed": len(collected.rejections)}
    )
