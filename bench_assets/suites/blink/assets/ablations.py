"""Question tables of BLINK's ablations: other images or captions."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import dagster as dg

from bench_assets.asset_factory.suite_assets import open_model, out
from bench_assets.core.images.drawing import concatenate_images, encode_jpeg
from bench_assets.core.images.text_substitutes import describe_images, replace_images_by_texts
from bench_assets.core.schema.rows import ImageText, Question
from bench_assets.suites.blink import prompts
from bench_assets.suites.blink.assets.questions import BLINK
from bench_assets.suites.blink.dataset import (
    CONCATENATED_KEY,
    find_route,
    questions_from_key,
    read_key,
    several_images,
)
from bench_assets.suites.blink.settings import BlinkSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import table_output

_log = logging.getLogger("bench_assets.images")


def _optional_table(condition: str) -> dict[str, dg.AssetOut]:
    """Define the output of a condition's question table; not every source can make one."""
    stage = BLINK.stage("questions", below=condition)
    return {"result": out(stage, Question, table="questions", optional=True)}


@dg.multi_asset(
    name="blink_concatenated_images",
    ins=BLINK.ins("questions"),
    outs=_optional_table("concatenated_images"),
)
def concatenated_images(
    sources: SourceFiles, image_store: ImageStore, questions: list[Question]
) -> Iterator[dg.Output[list[Question]]]:
    """Concatenate images, or take the questions of the source's key of concatenated images.

    A question with an image that does not decode is left out.
    """
    folder = sources.open("blink").folder
    key_file = folder / CONCATENATED_KEY
    if find_route(folder) == "key" and key_file.is_file():
        rows = _read_own_key(key_file, questions)
    else:
        concatenate = partial(_concatenate_images, image_store=image_store)
        with ThreadPoolExecutor() as threads:
            concatenated = threads.map(concatenate, several_images(questions))
            rows = [question for question in concatenated if question is not None]
    if rows:
        yield table_output(rows, question_preview(rows, image_store))


@BLINK.step("images", pool="gpu", ablation=True)
def captions(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: Models,
    questions: list[Question],
) -> list[ImageText]:
    """Caption every image with the model named in the settings, if there is one."""
    captioner = settings.suite("blink", BlinkSettings).captioner
    if not captioner:
        return []
    images = [image for question in questions for image in question.images]
    with open_model(context, models, captioner) as (model, _):
        return describe_images(images, prompts.caption, model)


@dg.multi_asset(
    name="blink_captions_for_images",
    ins=BLINK.ins("questions", "captions"),
    outs=_optional_table("captions_for_images"),
)
def captions_for_images(
    questions: list[Question], captions: list[ImageText]
) -> Iterator[dg.Output[list[Question]]]:
    """Replace images by captions."""
    if rows := replace_images_by_texts(questions, captions):
        yield table_output(rows)


def _read_own_key(file: Path, questions: list[Question]) -> list[Question]:
    """Make questions of the key of concatenated images, in the edition of the given questions."""
    if not questions:
        return []
    key = read_key(file)
    for rejection in key.rejections:
        _log.warning("%s is left out: %s", rejection.entry, rejection.reason)
    edition = questions[0].edition
    return [replace(question, edition=edition) for question in questions_from_key(dict(key.rows))]


def _concatenate_images(question: Question, image_store: ImageStore) -> Question | None:
    """Concatenate the images of a question, if it has any; None if one does not decode."""
    if not question.images:
        return question
    images = [image_store.open_if_whole(image) for image in question.images]
    decoded = [image for image in images if image is not None]
    if len(decoded) < len(images):
        _log.warning("%s is left out: one of its images does not decode", question.question_id)
        return None
    stored = image_store.put(
        encode_jpeg(concatenate_images(decoded)), f"{question.question_id}, side by side"
    )
    return replace(question, images=(stored.sha256,))
