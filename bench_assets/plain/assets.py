"""Benchmarks without Python as Dagster assets: the files, the questions, the rejections."""

import hashlib
from collections.abc import Sequence
from functools import partial
from os.path import commonpath
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.check_results import check_result
from bench_assets.core.large_tables import gathered
from bench_assets.core.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.core.source_folder import pinned
from bench_assets.plain.files import data_files
from bench_assets.plain.pictures import Picture
from bench_assets.plain.questions import build, picture_files, place_of, shuffled
from bench_assets.staging import Staging, out
from resources.home.table_types import gone_through, table_of
from resources.home.tables import table_output
from resources.pictures.images import ImageStore
from resources.pictures.previews import question_preview
from resources.settings.benchmarks import PlainBenchmark
from resources.settings.settings_file import SettingsFile
from resources.sources.source_files import SourceFiles


def assets_of(name: str, benchmark: PlainBenchmark) -> Sequence[Any]:
    """Make the left half of one benchmark, and its check."""
    about = hashlib.sha256(benchmark.model_dump_json().encode()).hexdigest()
    here = Staging(name, code_version=about[:12])
    return [_source(here, benchmark), _questions(here, benchmark), *_tables(here, benchmark)]


def _source(here: Staging, benchmark: PlainBenchmark) -> dg.AssetsDefinition:
    @dg.asset(
        name="source",
        description=(
            "One row: one file that the questions are made of, by its digest: those that hold the "
            "rows, and the pictures that they name."
        ),
        dagster_type=table_of(SourceFile),
        **here.stage("source"),
    )
    def source(sources: SourceFiles, settings: SettingsFile) -> dg.Output[Sequence[SourceFile]]:
        place = place_of(here.folder, sources.open(here.folder).folder, settings.load())
        files = [str(file) for file in data_files(place.file, benchmark.split)]
        files = sorted(files + picture_files(benchmark, place))
        folder = Path(commonpath({str(Path(file).parent) for file in files}))
        return table_output(gathered((pinned(Path(file), folder) for file in files), SourceFile))

    return source


def _questions(here: Staging, benchmark: PlainBenchmark) -> dg.AssetsDefinition:
    @dg.multi_asset(
        name=f"{here.folder}_rows",
        deps=here.source,
        outs={
            "images": out(
                here.stage("images"),
                table_of(StoredImage),
                "One row: one picture of the file, in the image store.",
            ),
            "questions": out(
                here.stage("questions"),
                table_of(Question),
                "One row: one question, made of one row of the file.",
            ),
            "rejections": out(
                here.stage("select"),
                table_of(Rejection),
                "One row: one row of the file that cannot be used, and why.",
            ),
        },
    )
    def rows(
        sources: SourceFiles, settings: SettingsFile, image_store: ImageStore
    ) -> tuple[
        dg.Output[Sequence[StoredImage]],
        dg.Output[Sequence[Question]],
        dg.Output[Sequence[Rejection]],
    ]:
        place = place_of(here.folder, sources.open(here.folder).folder, settings.load())
        built = build(benchmark, place, partial(_stored, image_store))
        return (
            table_output(built.images),
            table_output(built.questions, question_preview(built.questions, image_store)),
            table_output(built.rejections),
        )

    return rows


def _stored(image_store: ImageStore, picture: Picture, name: str) -> StoredImage:
    if isinstance(picture, Path):
        return image_store.put_file(picture, name)
    return image_store.put(picture, name)


def _tables(here: Staging, benchmark: PlainBenchmark) -> Sequence[Any]:
    @dg.asset(
        name="questions",
        ins={"questions": dg.AssetIn(here.key("questions"), dagster_type=table_of(Question))},
        dagster_type=table_of(Question),
        description=(
            "One row: one question with its options in another order; those whose options speak of "
            "each other are left out."
        ),
        **here.stage("questions", below="options_shuffled"),
    )
    def options_shuffled(questions: Sequence[Question]) -> dg.Output[Sequence[Question]]:
        return table_output(shuffled(questions, benchmark.seed))

    @dg.asset_check(
        asset=here.key("rejections"),
        description="Every row of the file became a question.",
    )
    @gone_through(rejections=Rejection)
    def every_row_is_used(rejections: Sequence[Rejection]) -> dg.AssetCheckResult:
        problems = [f"{one.entry}: {one.reason}" for one in rejections]
        return check_result(
            problems,
            n=len(problems),
            of="rejection",
            holds="Every row of the file became a question.",
            severity=dg.AssetCheckSeverity.WARN,
        )

    return [options_shuffled, every_row_is_used]
