"""Captions in the place of images (section 5.1): the questions of that ablation."""

import dagster as dg

from bench_assets.asset_factory.suite_assets import asking
from bench_assets.core.images.text_substitutes import describe, with_image_texts
from bench_assets.core.schema.rows import ImageText, Question, StoredImage
from bench_assets.suites.codis.assets.questions import CODIS, open_release
from bench_assets.suites.codis.dataset import read_captions, to_image_texts
from bench_assets.suites.codis.prompts import caption
from bench_assets.suites.codis.settings import CodisSettings
from resources.config.settings_resource import SettingsResource
from resources.datasets.source_files import SourceFiles
from resources.models.registry.opening import Models
from resources.tables.parquet import table_output


@dg.asset(ins=CODIS.ins(stored="images"), deps=CODIS.source, **CODIS.stage("images", asks="gpu"))
def captions(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsResource,
    models: Models,
    stored: list[StoredImage],
) -> dg.Output[list[ImageText]]:
    """Read the captions of images that are there, or have a model write them.

    One row: a text in the place of one image: from the file or by the captioner that bench.toml
    names, or from captions.jsonl of the source; empty without all three. The paper has 96
    (section 5.1).
    """
    configured = settings.load()
    chosen = configured.suite("codis", CodisSettings)
    if chosen.captioner and not chosen.captions:
        with asking(context, models, chosen.captioner) as (model, _):
            return table_output(describe([one.sha256 for one in stored], caption, model))
    file = (
        configured.resolve(chosen.captions) if chosen.captions else open_release(sources).captions
    )
    return table_output(to_image_texts(read_captions(file), stored, file.name) if file else [])


@dg.asset(
    name="questions",
    ins=CODIS.ins("questions", "captions"),
    **CODIS.stage("questions", below="captions_for_images"),
)
def captions_for_images(
    questions: list[Question], captions: list[ImageText]
) -> dg.Output[list[Question]]:
    """Put captions in the place of images.

    One row: one query with a caption in the place of the image. The paper has 302, about 96
    images (section 5.1).
    """
    return table_output(with_image_texts(questions, captions))
