"""Dagster assets of file benchmarks: the files, the questions, the rejections."""

import hashlib
from collections.abc import Sequence
from functools import partial
from os.path import commonpath
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.asset_factory.check_results import check_result
from bench_assets.asset_factory.suite_assets import AssetFolder, out
from bench_assets.core.schema.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.source_folder import pin_file
from bench_assets.file_benchmarks.images import Image
from bench_assets.file_benchmarks.questions import (
    benchmark_location,
    build,
    example_locations,
    image_files,
    shuffle_all_options,
)
from bench_assets.file_benchmarks.row_files import data_files
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.datasets.source_state import ROOT_KEY
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import table_output


def assets_of(name: str, benchmark: FileBenchmarkSettings) -> Sequence[Any]:
    """Build the dataset assets of one benchmark, and their check."""
    settings_digest = hashlib.sha256(benchmark.model_dump_json().encode()).hexdigest()
    asset_folder = AssetFolder(name, code_version=settings_digest[:12])
    return [
        _source_asset(asset_folder, benchmark),
        _questions_asset(asset_folder, benchmark),
        _shuffled_options_asset(asset_folder, benchmark.seed),
        _used_rows_check(asset_folder),
    ]


def _source_asset(
    asset_folder: AssetFolder, benchmark: FileBenchmarkSettings
) -> dg.AssetsDefinition:
    @dg.asset(
        name="source",
        description=(
            "One row: one input file with its digest: a file of questions, or an image that one "
            "names."
        ),
        **asset_folder.stage("source"),
    )
    def source(
        sources: SourceFiles, settings: dg.ResourceParam[Settings]
    ) -> dg.Output[list[SourceFile]]:
        location = benchmark_location(
            asset_folder.folder, sources.open(asset_folder.folder).folder, settings
        )
        files = image_files(benchmark, location)
        for row_location in (location, *example_locations(benchmark, location)):
            files += map(str, data_files(row_location.file, row_location.split))
        if location.answers:
            files.append(str(location.answers.file))
        files.sort()
        folder = Path(commonpath({str(Path(file).parent) for file in files}))
        rows = [pin_file(Path(file), folder) for file in files]
        return table_output(rows, {ROOT_KEY: str(folder)})

    return source


def _questions_asset(
    asset_folder: AssetFolder, benchmark: FileBenchmarkSettings
) -> dg.AssetsDefinition:
    @dg.multi_asset(
        name=f"{asset_folder.folder}_rows",
        deps=asset_folder.source,
        # Written in this order: an error about new rejections leaves the questions as they were.
        outs={
            "rejections": out(
                asset_folder.stage("select"),
                Rejection,
                "One row: one row of the file that cannot be used, and why.",
            ),
            "images": out(
                asset_folder.stage("images"),
                StoredImage,
                "One row: one image of the file, in the image store.",
            ),
            "questions": out(
                asset_folder.stage("questions"),
                Question,
                "One row: one question, made of one row of the file.",
            ),
        },
    )
    def rows(
        sources: SourceFiles, settings: dg.ResourceParam[Settings], image_store: ImageStore
    ) -> tuple[dg.Output[list[Rejection]], dg.Output[list[StoredImage]], dg.Output[list[Question]]]:
        location = benchmark_location(
            asset_folder.folder, sources.open(asset_folder.folder).folder, settings
        )
        result = build(benchmark, location, partial(_store_image, image_store))
        return (
            table_output(result.rejections),
            table_output(result.images),
            table_output(result.questions, question_preview(result.questions, image_store)),
        )

    return rows


def _store_image(image_store: ImageStore, image: Image, name: str) -> StoredImage:
    if isinstance(image, Path):
        return image_store.put_file(image, name)
    return image_store.put(image, name)


def _shuffled_options_asset(asset_folder: AssetFolder, seed: int) -> dg.AssetsDefinition:
    @dg.asset(
        name="questions",
        ins=asset_folder.ins(questions="questions"),
        description=(
            "One row: one question with its options in another order; questions whose options "
            "refer to each other, or are letters in the picture, are left out."
        ),
        **asset_folder.stage("questions", below="options_shuffled"),
    )
    def options_shuffled(questions: list[Question]) -> dg.Output[list[Question]]:
        return table_output(shuffle_all_options(questions, seed))

    return options_shuffled


def _used_rows_check(asset_folder: AssetFolder) -> dg.AssetChecksDefinition:
    holds = "Every row of the file became a question."

    @dg.asset_check(asset=asset_folder.key("rejections"), description=holds)
    def every_row_is_used(rejections: list[Rejection]) -> dg.AssetCheckResult:
        problems = [f"{rejection.entry}: {rejection.reason}" for rejection in rejections]
        return check_result(
            problems,
            n=len(problems),
            noun="rejection",
            holds=holds,
            severity=dg.AssetCheckSeverity.WARN,
        )

    return every_row_is_used
