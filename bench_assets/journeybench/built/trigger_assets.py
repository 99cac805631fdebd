"""Questions about the captioned pictures that invite hallucinations (HaloQuest)."""

import dagster as dg

from bench_assets.core.rows import Rejection, StoredImage
from bench_assets.journeybench.assets import SOURCE, SUITE, in_stage
from bench_assets.journeybench.built import distractors, triggers
from bench_assets.journeybench.built.assets import digests, source_folder, tables
from bench_assets.journeybench.built.captions import CaptionDecision, kept_captions
from bench_assets.journeybench.built.chat_models import open_writer
from bench_assets.journeybench.built.raw import (
    TriggerVote,
    read_raw,
)
from bench_assets.journeybench.built.settings import BuiltSettings
from bench_assets.journeybench.built.writing import Written, write
from bench_assets.journeybench.hallucination_vqa.source import TriggerQuestion
from resources.models import Models
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import table_output


@dg.asset(ins=tables("caption_decisions", stored="images"), pool="judge", **in_stage("distractors"))
def trigger_replies(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsFile,
    models: Models,
    caption_decisions: list[CaptionDecision],
    stored: list[StoredImage],
) -> dg.Output[list[Written]]:
    """Have a model write questions that invite hallucinations about a picture it sees.

    One row: one reply about one picture, with the prompt.
    """
    asked = triggers.prompts(kept_captions(caption_decisions), digests(stored))
    answerer = settings.load().suite(SUITE, BuiltSettings).answerer
    with open_writer(answerer, models, source_folder(sources), context) as model:
        return table_output(write(model, asked))


@dg.asset(
    name="built",
    ins=tables("trigger_replies"),
    deps=[SOURCE],
    **in_stage("select", f"{SUITE}/hallucination_vqa"),
)
def trigger_questions(
    sources: SourceFiles, trigger_replies: list[Written]
) -> dg.Output[list[TriggerQuestion]]:
    """Keep the trigger questions that people accept.

    One row: one question about one picture, and its answers.
    """
    votes = read_raw(source_folder(sources), TriggerVote)
    return table_output(triggers.verify_triggers(trigger_replies, votes).questions)


@dg.asset(
    ins=tables("statement_replies", "trigger_replies"), deps=[SOURCE], **in_stage("distractors")
)
def rejections(
    sources: SourceFiles, statement_replies: list[Written], trigger_replies: list[Written]
) -> dg.Output[list[Rejection]]:
    """Say of every reply and trigger question that is left out why.

    One row: one reply that could not be read, or one question that people did not accept. What
    became of pictures, captions, statements and look-alikes stands in the tables of decisions.
    """
    votes = read_raw(source_folder(sources), TriggerVote)
    return table_output(
        distractors.read_statements(statement_replies).rejections
        + triggers.verify_triggers(trigger_replies, votes).rejections
    )
