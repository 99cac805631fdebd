"""Captions in the place of pictures (section 5.1): the questions of that ablation."""

import dagster as dg

from bench_assets.codis.assets import SOURCE, open_release, stage, table_ins
from bench_assets.codis.prompts import caption
from bench_assets.codis.questions import to_image_texts
from bench_assets.codis.settings import CodisSettings
from bench_assets.codis.source import read_captions
from bench_assets.core.image_texts import describe, with_image_texts
from bench_assets.core.rows import ImageText, Question, StoredImage
from resources.models import Models
from resources.progress import AskingProgress
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import table_output


@dg.asset(ins=table_ins(stored="images"), deps=SOURCE, pool="gpu", **stage("images"))
def captions(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsFile,
    models: Models,
    stored: list[StoredImage],
) -> dg.Output[list[ImageText]]:
    """Read the captions of pictures that are there, or have a model write them.

    One row: a text in the place of one picture: from the file or by the captioner that bench.toml
    names, or from captions.jsonl of the source; empty without all three. The paper has 96
    (section 5.1).
    """
    configured = settings.load()
    chosen = configured.suite("codis", CodisSettings)
    if chosen.captioner and not chosen.captions:
        title = f"{chosen.captioner}: captions"
        with (
            AskingProgress(title, context.log.info, bar=models.show_progress) as progress,
            models.open(chosen.captioner, progress=progress) as model,
        ):
            return table_output(describe([one.sha256 for one in stored], caption, model))
    file = (
        configured.resolve(chosen.captions) if chosen.captions else open_release(sources).captions
    )
    return table_output(to_image_texts(read_captions(file), stored, file.name) if file else [])


@dg.asset(
    name="questions",
    ins=table_ins("questions", "captions"),
    **stage("questions", below="captions_for_images"),
)
def captions_for_images(
    questions: list[Question], captions: list[ImageText]
) -> dg.Output[list[Question]]:
    """Put captions in the place of pictures.

    One row: one query with a caption in the place of the picture. The paper has 302, about 96
    pictures (section 5.1).
    """
    return table_output(with_image_texts(questions, captions))
