"""Text distractors of the captioned images (section 3.3)."""

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import least_votes
from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.journeybench.assets.source import SUITE, digests, open_writer
from bench_assets.suites.journeybench.construction import annotation, distractors
from bench_assets.suites.journeybench.construction.assets.encoders import open_sentence_encoder
from bench_assets.suites.journeybench.construction.captions import kept_captions
from bench_assets.suites.journeybench.construction.distractors import Statement
from bench_assets.suites.journeybench.decisions import (
    CaptionDecision,
    StatementDecision,
)
from bench_assets.suites.journeybench.raw_material import StatementVote
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
def statement_responses(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: SettingsResource,
    models: Models,
    caption_decisions: list[CaptionDecision],
    stored: list[StoredImage],
) -> dg.Output[list[GeneratedText]]:
    """Have a model write statements that conflict with an image it sees (way a).

    One row: one response about one image, with the prompt.
    """
    asked = distractors.prompts(kept_captions(caption_decisions), digests(stored))
    answerer = settings.load().suite(SUITE, JourneyBenchSettings).answerer
    with open_writer(context, models, answerer, sources) as model:
        return table_output(write(model, asked))


@dg.asset(
    ins=_HERE.ins("statement_responses", "dialogue_statements"),
    **_HERE.stage("distractors"),
)
def statements(
    statement_responses: list[GeneratedText], dialogue_statements: list[Statement]
) -> dg.Output[list[Statement]]:
    """Gather the statements of both ways.

    One row: one statement about one image, the response it stands in and who wrote it.
    """
    written = distractors.read_statements(statement_responses).statements
    return table_output(written + dialogue_statements)


@dg.asset(
    ins=_HERE.ins("statements", "caption_decisions", "statement_votes"),
    **_HERE.stage("distractors"),
)
def statement_decisions(
    settings: SettingsResource,
    statements: list[Statement],
    caption_decisions: list[CaptionDecision],
    statement_votes: list[StatementVote],
) -> dg.Output[list[StatementDecision]]:
    """Keep the statements that conflict with their image.

    One row: what became of one statement, and why. The release has 5,590 on 994 images.
    """
    if not statements:
        return table_output([])
    rows = distractors.verify_statements(
        statements,
        kept_captions(caption_decisions),
        statement_votes,
        open_sentence_encoder(settings),
        least=least_votes(settings.load(), annotation.CONFLICTS, annotation.N_CHECKING),
    )
    return table_output(
        rows, {"accepted": sum(row.accepted for row in rows), "open": sum(row.open for row in rows)}
    )
