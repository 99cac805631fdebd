"""Submissions, votes and decisions of annotators (section 3.4)."""

import dagster as dg
from pydantic import Field

from bench_assets.asset_factory.annotation_inputs import answers_key, heard, needed_of
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.codis import annotation
from bench_assets.suites.codis.assets.questions import CODIS, open_release
from bench_assets.suites.codis.dataset import ContextPair, SubmissionVote, read_pairs, read_votes
from bench_assets.suites.codis.votes import (
    VoteAgreement,
    VoteDecision,
    decide,
    open_submissions,
)
from bench_assets.suites.codis.votes import agreement as measure_agreement
from resources.config.settings_resource import SettingsResource
from resources.datasets.source_files import SourceFiles
from resources.tables.parquet import TableFiles, table_output


class Verification(dg.Config):
    """How the votes on a submission are read."""

    approval: float = Field(1.0, gt=0, le=1)
    """Share of the other annotators that must approve; the paper asks for all."""


@dg.asset(deps=[*CODIS.source, answers_key(annotation.SUBMISSIONS)], **CODIS.stage("select"))
def submitted(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[ContextPair]]:
    """Read the entries, and what people wrote.

    One row: an entry of the source, or what one of the annotators wrote when asked.
    """
    return table_output(
        read_pairs(open_release(sources), []) + heard(tables, annotation.SUBMISSIONS)
    )


@dg.asset(deps=[*CODIS.source, answers_key(annotation.VOTES)], **CODIS.stage("select"))
def first_votes(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[SubmissionVote]]:
    """Read the votes, and what people said when asked.

    One row: what one annotator says of another's submission, before revisions were asked for.
    """
    return table_output(read_votes(open_release(sources), []) + heard(tables, annotation.VOTES))


@dg.asset(
    ins=CODIS.ins("submitted"), deps=[answers_key(annotation.REVISIONS)], **CODIS.stage("select")
)
def submissions(tables: TableFiles, submitted: list[ContextPair]) -> dg.Output[list[ContextPair]]:
    """Put revisions behind the entries.

    One row: an image and question with two contexts and two answers, as published (353) or as
    one of the annotators submitted it.
    """
    revised = annotation.with_images(heard(tables, annotation.REVISIONS), submitted)
    return table_output([*submitted, *revised])


@dg.asset(
    ins=CODIS.ins("first_votes"),
    deps=[answers_key(annotation.REVISION_VOTES)],
    **CODIS.stage("select"),
)
def votes(tables: TableFiles, first_votes: list[SubmissionVote]) -> dg.Output[list[SubmissionVote]]:
    """Put the votes on revisions behind the first ones.

    One row: what one annotator says of another's submission; each is checked by the other four
    (section 3.4). The release has no votes.
    """
    return table_output([*first_votes, *heard(tables, annotation.REVISION_VOTES)])


@dg.asset(ins=CODIS.ins("submissions", "votes", stored="images"), **CODIS.stage("select"))
def decisions(
    config: Verification,
    settings: SettingsResource,
    submissions: list[ContextPair],
    votes: list[SubmissionVote],
    stored: list[StoredImage],
) -> dg.Output[list[VoteDecision]]:
    """Decide by the votes.

    One row: what became of one submission after the votes: kept, revised or dropped, or open while
    votes are missing, and why (section 3.4). The 353 published entries are all kept.
    """
    rows = decide(
        submissions,
        votes,
        config.approval,
        needed=needed_of(settings.load(), annotation.VOTES),
        images={image.name for image in stored},
    )
    return table_output(rows, {"open": len(open_submissions(rows))})


@dg.asset(ins=CODIS.ins("submissions", "votes"), **CODIS.stage("select"))
def agreement(
    submissions: list[ContextPair], votes: list[SubmissionVote]
) -> dg.Output[list[VoteAgreement]]:
    """Measure how far the annotators agree.

    One row: one condition of section 3.4, and how far the annotators agree on it. Empty for the
    release, which has no votes; the paper gives no numbers.
    """
    return table_output(measure_agreement(submissions, votes))
