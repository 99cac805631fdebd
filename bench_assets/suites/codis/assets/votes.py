"""What annotators submit and say of each other's submissions, and what is decided by it (3.4)."""

import dagster as dg
from pydantic import Field

from bench_assets.core.rows import StoredImage
from bench_assets.hearing import answers_key, heard, needed_of
from bench_assets.suites.codis import people
from bench_assets.suites.codis.assets.questions import CODIS, open_release
from bench_assets.suites.codis.source import Pair, Vote, read_pairs, read_votes
from bench_assets.suites.codis.votes import Decision, VoteAgreement, decide, open_submissions
from bench_assets.suites.codis.votes import agreement as measure_agreement
from resources.home.tables import TableFiles, table_output
from resources.settings.settings_file import SettingsFile
from resources.sources.source_files import SourceFiles


class Verification(dg.Config):
    """How the votes on a submission are read."""

    approval: float = Field(1.0, gt=0, le=1)
    """Share of the other annotators that must approve; the paper asks for all."""


@dg.asset(deps=[*CODIS.source, answers_key(people.SUBMISSIONS)], **CODIS.stage("select"))
def submitted(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[Pair]]:
    """Read the entries, and what people wrote.

    One row: an entry of the source, or what one of the annotators wrote when asked.
    """
    return table_output(read_pairs(open_release(sources)) + heard(tables, people.SUBMISSIONS))


@dg.asset(deps=[*CODIS.source, answers_key(people.VOTES)], **CODIS.stage("select"))
def first_votes(sources: SourceFiles, tables: TableFiles) -> dg.Output[list[Vote]]:
    """Read the votes, and what people said when asked.

    One row: what one annotator says of another's submission, before revisions were asked for.
    """
    return table_output(read_votes(open_release(sources)) + heard(tables, people.VOTES))


@dg.asset(ins=CODIS.ins("submitted"), deps=[answers_key(people.REVISIONS)], **CODIS.stage("select"))
def submissions(tables: TableFiles, submitted: list[Pair]) -> dg.Output[list[Pair]]:
    """Put revisions behind the entries.

    One row: a picture and question with two contexts and two answers, as published (353) or as
    one of the annotators submitted it.
    """
    revised = people.with_pictures(heard(tables, people.REVISIONS), submitted)
    return table_output([*submitted, *revised])


@dg.asset(
    ins=CODIS.ins("first_votes"), deps=[answers_key(people.REVISION_VOTES)], **CODIS.stage("select")
)
def votes(tables: TableFiles, first_votes: list[Vote]) -> dg.Output[list[Vote]]:
    """Put the votes on revisions behind the first ones.

    One row: what one annotator says of another's submission; each is checked by the other four
    (section 3.4). The release has no votes.
    """
    return table_output([*first_votes, *heard(tables, people.REVISION_VOTES)])


@dg.asset(ins=CODIS.ins("submissions", "votes", stored="images"), **CODIS.stage("select"))
def decisions(
    config: Verification,
    settings: SettingsFile,
    submissions: list[Pair],
    votes: list[Vote],
    stored: list[StoredImage],
) -> dg.Output[list[Decision]]:
    """Decide by the votes.

    One row: what became of one submission after the votes: kept, revised or dropped, or open while
    votes are missing, and why (section 3.4). The 353 published entries are all kept.
    """
    rows = decide(
        submissions,
        votes,
        config.approval,
        needed=needed_of(settings.load(), people.VOTES),
        images={image.name for image in stored},
    )
    return table_output(rows, {"open": len(open_submissions(rows))})


@dg.asset(ins=CODIS.ins("submissions", "votes"), **CODIS.stage("select"))
def agreement(submissions: list[Pair], votes: list[Vote]) -> dg.Output[list[VoteAgreement]]:
    """Measure how far the annotators agree.

    One row: one condition of section 3.4, and how far the annotators agree on it. Empty for the
    release, which has no votes; the paper gives no numbers.
    """
    return table_output(measure_agreement(submissions, votes))
