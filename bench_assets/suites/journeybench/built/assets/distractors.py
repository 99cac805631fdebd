"""Text distractors of the captioned pictures (section 3.3)."""

import dagster as dg

from bench_assets.core.rows import StoredImage
from bench_assets.hearing import least_votes
from bench_assets.staging import Staging
from bench_assets.suites.journeybench.assets.source import SUITE, digests, open_writer
from bench_assets.suites.journeybench.built import distractors, people
from bench_assets.suites.journeybench.built.assets.encoders import open_sentence_encoder
from bench_assets.suites.journeybench.built.captions import (
    kept_captions,
)
from bench_assets.suites.journeybench.built.distractors import (
    Statement,
)
from bench_assets.suites.journeybench.decisions import CaptionDecision, StatementDecision
from bench_assets.suites.journeybench.people_forms import N_CHECKING
from bench_assets.suites.journeybench.raw import StatementVote
from bench_assets.suites.journeybench.settings import JourneyBenchSettings
from bench_assets.suites.journeybench.writing import Written, write
from resources.home.tables import table_output
from resources.models.opening import Models
from resources.settings.settings_file import SettingsFile
from resources.sources.source_files import SourceFiles

_HERE = Staging(SUITE)


@dg.asset(
    ins=_HERE.ins("caption_decisions", stored="images"),
    **_HERE.stage("distractors", asks="judge"),
)
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
    answerer = settings.load().suite(SUITE, JourneyBenchSettings).answerer
    with open_writer(context, models, answerer, sources) as model:
        return table_output(write(model, asked))


@dg.asset(
    ins=_HERE.ins("statement_replies", "dialogue_statements"),
    **_HERE.stage("distractors"),
)
def statements(
    statement_replies: list[Written], dialogue_statements: list[Statement]
) -> dg.Output[list[Statement]]:
    """Gather the statements of both ways.

    One row: one statement about one picture, the reply it stands in and who wrote it.
    """
    written = distractors.read_statements(statement_replies).statements
    return table_output(written + dialogue_statements)


@dg.asset(
    ins=_HERE.ins("statements", "caption_decisions", "statement_votes"),
    **_HERE.stage("distractors"),
)
def statement_decisions(
    settings: SettingsFile,
    statements: list[Statement],
    caption_decisions: list[CaptionDecision],
    statement_votes: list[StatementVote],
) -> dg.Output[list[StatementDecision]]:
    """Keep the statements that conflict with their picture.

    One row: what became of one statement, and why. The release has 5,590 on 994 pictures.
    """
    if not statements:
        return table_output([])
    rows = distractors.verify_statements(
        statements,
        kept_captions(caption_decisions),
        statement_votes,
        open_sentence_encoder(settings),
        least=least_votes(settings.load(), people.CONFLICTS, N_CHECKING),
    )
    return table_output(
        rows, {"accepted": sum(row.accepted for row in rows), "open": sum(row.open for row in rows)}
    )
