"""Questions about the captioned images that invite hallucinations (HaloQuest)."""

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import least_votes
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import Rejection, StoredImage
from bench_assets.suites.journeybench.assets.source import SUITE, digests, open_writer
from bench_assets.suites.journeybench.construction import annotation, distractors, triggers
from bench_assets.suites.journeybench.construction.captions import kept_captions
from bench_assets.suites.journeybench.decisions import CaptionDecision
from bench_assets.suites.journeybench.hallucination_vqa.dataset import TriggerQuestion
from bench_assets.suites.journeybench.raw_material import TriggerVote
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.suites.journeybench.text_generation import GeneratedText, write
from resources.config.settings_resource import SettingsResource
from resources.datasets.source_files import SourceFiles
from resources.models.registry.opening import Models
from resources.tables.parquet import table_output

_HERE = AssetFolder(SUITE)


@dg.asset(
    ins=_HERE.ins("caption_decisions", stored="images"),
    **_HERE.stage("distractors", asks="judge"),
)
def trigger_responses(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsResource,
    models: Models,
    caption_decisions: list[CaptionDecision],
    stored: list[StoredImage],
) -> dg.Output[list[GeneratedText]]:
    """Have a model write questions that invite hallucinations about an image it sees.

    One row: one response about one image, with the prompt.
    """
    asked = triggers.prompts(kept_captions(caption_decisions), digests(stored))
    answerer = settings.load().suite(SUITE, JourneyBenchSettings).answerer
    with open_writer(context, models, answerer, sources) as model:
        return table_output(write(model, asked))


@dg.asset(
    name="built",
    ins=_HERE.ins("trigger_responses", "trigger_votes"),
    **AssetFolder(f"{SUITE}/hallucination_vqa").stage("select"),
)
def trigger_questions(
    settings: SettingsResource,
    trigger_responses: list[GeneratedText],
    trigger_votes: list[TriggerVote],
) -> dg.Output[list[TriggerQuestion]]:
    """Keep the trigger questions that people accept.

    One row: one question about one image, and its answers.
    """
    least = least_votes(settings.load(), annotation.TRIGGER, annotation.N_CHECKING)
    return table_output(triggers.verify_triggers(trigger_responses, trigger_votes, least).questions)


@dg.asset(
    ins=_HERE.ins("statement_responses", "trigger_responses", "trigger_votes"),
    **_HERE.stage("distractors"),
)
def rejections(
    settings: SettingsResource,
    statement_responses: list[GeneratedText],
    trigger_responses: list[GeneratedText],
    trigger_votes: list[TriggerVote],
) -> dg.Output[list[Rejection]]:
    """Say of every response and trigger question that is left out why.

    One row: one response that could not be read, or one question that people did not accept. What
    became of images, captions, statements and look-alikes stands in the tables of decisions.
    """
    least = least_votes(settings.load(), annotation.TRIGGER, annotation.N_CHECKING)
    return table_output(
        distractors.read_statements(statement_responses).rejections
        + triggers.verify_triggers(trigger_responses, trigger_votes, least).rejections
    )
