"""Text distractors of the captioned pictures (section 3.3)."""

import dagster as dg

from bench_assets.core.rows import StoredImage
from bench_assets.journeybench.assets import SOURCE, SUITE, in_stage
from bench_assets.journeybench.built import distractors
from bench_assets.journeybench.built.assets import digests, source_folder, tables
from bench_assets.journeybench.built.captions import CaptionDecision, kept_captions
from bench_assets.journeybench.built.chat_models import open_writer
from bench_assets.journeybench.built.distractors import Statement, StatementDecision
from bench_assets.journeybench.built.encoders import open_sentence_encoder
from bench_assets.journeybench.built.raw import (
    StatementVote,
    read_raw,
)
from bench_assets.journeybench.built.settings import BuiltSettings
from bench_assets.journeybench.built.writing import Written, write
from resources.models import Models
from resources.settings_file import SettingsFile
from resources.source_files import SourceFiles
from resources.tables import table_output


@dg.asset(ins=tables("caption_decisions", stored="images"), pool="judge", **in_stage("distractors"))
def statement_replies(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsFile,
    models: Models,
    caption_decisions: list[CaptionDecision],
    stored: list[StoredImage],
) -> dg.Output[list[Written]]:
    """Have a model write statements that conflict with a picture it sees (way a).

    One row: one reply about one picture, with the prompt.
    """
    asked = distractors.prompts(kept_captions(caption_decisions), digests(stored))
    answerer = settings.load().suite(SUITE, BuiltSettings).answerer
    with open_writer(answerer, models, source_folder(sources), context) as model:
        return table_output(write(model, asked))


@dg.asset(ins=tables("statement_replies", "dialogue_statements"), **in_stage("distractors"))
def statements(
    statement_replies: list[Written], dialogue_statements: list[Statement]
) -> dg.Output[list[Statement]]:
    """Gather the statements of both ways.

    One row: one statement about one picture, the reply it stands in and who wrote it.
    """
    written = distractors.read_statements(statement_replies).statements
    return table_output(written + dialogue_statements)


@dg.asset(ins=tables("statements", "caption_decisions"), deps=[SOURCE], **in_stage("distractors"))
def statement_decisions(
    sources: SourceFiles,
    settings: SettingsFile,
    statements: list[Statement],
    caption_decisions: list[CaptionDecision],
) -> dg.Output[list[StatementDecision]]:
    """Keep the statements that conflict with their picture.

    One row: what became of one statement, and why. The release has 5,590 on 994 pictures.
    """
    if not statements:
        return table_output([])
    rows = distractors.verify_statements(
        statements,
        kept_captions(caption_decisions),
        read_raw(source_folder(sources), StatementVote),
        open_sentence_encoder(settings),
    )
    return table_output(rows, {"accepted": sum(row.accepted for row in rows)})
