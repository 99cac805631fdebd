"""CODIS left of the waist: from the files of its source to the question table."""

import dagster as dg
from pydantic import Field

from bench_assets.check_results import check_result
from bench_assets.core.rows import Question, Rejection, SourceFile, StoredImage
from bench_assets.core.source_folder import picture_files
from bench_assets.staging import Staging, out
from bench_assets.suites.codis.mini import edition as mini
from bench_assets.suites.codis.questions import to_questions
from bench_assets.suites.codis.select import FunnelStep, edition_of, select
from bench_assets.suites.codis.select import funnel as count_steps
from bench_assets.suites.codis.source import (
    Pair,
    Release,
    Vote,
    find_release,
    image_names,
    read_pairs,
    read_votes,
    source_files,
)
from bench_assets.suites.codis.votes import Decision, VoteAgreement, ballots, decide
from bench_assets.suites.codis.votes import agreement as measure_agreement
from resources.home.tables import table_output
from resources.pictures.images import ImageStore
from resources.pictures.previews import question_preview
from resources.sources.source_files import SourceFiles


class Verification(dg.Config):
    """How the votes on a submission are read."""

    approval: float = Field(1.0, gt=0, le=1)
    """Share of the other annotators that must approve; the paper asks for all."""


CODIS = Staging("codis")


def open_release(sources: SourceFiles) -> Release:
    """Find the files of the configured source."""
    return find_release(sources.open("codis").folder)


@dg.asset(**CODIS.stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Pin the files.

    One row: one file of the source, by its digest. The release has data.json and 216 pictures.
    Without a configured folder, the mini edition is drawn first.
    """
    opened = sources.open("codis")
    if opened.is_mini:
        mini.write(opened.folder)
    return table_output(source_files(find_release(opened.folder)))


@dg.asset(deps=CODIS.source, **CODIS.stage("images"))
def images(sources: SourceFiles, images: ImageStore) -> dg.Output[list[StoredImage]]:
    """Store every picture of the folder, several at a time.

    One row: one picture that decodes, now in the image store; the release has 216. Pictures
    that do not decode are among the rejections.
    """
    stored, broken = images.put_files(picture_files(open_release(sources).images))
    return table_output(stored, {"not_decoded": len(broken)})


@dg.asset(deps=CODIS.source, **CODIS.stage("select"))
def submissions(sources: SourceFiles) -> dg.Output[list[Pair]]:
    """Read the entries.

    One row: a picture and question with two contexts and two answers, as published (353) or as
    one of the annotators submitted it.
    """
    return table_output(read_pairs(open_release(sources)))


@dg.asset(deps=CODIS.source, **CODIS.stage("select"))
def votes(sources: SourceFiles) -> dg.Output[list[Vote]]:
    """Read the votes.

    One row: what one annotator says of another's submission; each is checked by the other four
    (section 3.4). The release has no votes.
    """
    return table_output(read_votes(open_release(sources)))


@dg.asset(ins=CODIS.ins("submissions", "votes"), **CODIS.stage("select"))
def decisions(
    config: Verification, submissions: list[Pair], votes: list[Vote]
) -> dg.Output[list[Decision]]:
    """Decide by the votes.

    One row: what became of one submission after the votes: kept, revised or dropped, and why
    (section 3.4). The 353 published entries are all kept.
    """
    return table_output(decide(submissions, votes, config.approval))


@dg.multi_asset(
    name="codis_selection",
    ins=CODIS.ins("submissions", "votes", "decisions", stored="images"),
    outs={
        "pairs": out(
            CODIS.stage("select"),
            Pair,
            "One row: an entry that is asked; 353 in the paper, about 216 pictures (section 3.4).",
        ),
        "rejections": out(
            CODIS.stage("select"),
            Rejection,
            "One row: an entry, vote or picture of the source that did not make it into the "
            "question table, and one reason for it. The release has none.",
        ),
    },
)
def selection(
    sources: SourceFiles,
    images: ImageStore,
    submissions: list[Pair],
    votes: list[Vote],
    decisions: list[Decision],
    stored: list[StoredImage],
) -> tuple[dg.Output[list[Pair]], dg.Output[list[Rejection]]]:
    """Take what can be asked, and say of everything that is left out why."""
    decoded = {image.name for image in stored}
    files = picture_files(open_release(sources).images)
    broken = images.put_files({name: file for name, file in files.items() if name not in decoded})
    selected = select(submissions, decisions, decoded)
    refused = ballots(submissions, votes).rejections
    return (
        table_output(selected.pairs),
        table_output([*broken.rejections, *refused, *selected.rejections]),
    )


@dg.asset_check(
    asset=CODIS.key("rejections"),
    blocking=True,
    additional_ins=CODIS.ins("submissions"),
    description="Published data lose no entry: a rejection there means that a file is damaged.",
)
def published_data_are_whole(
    submissions: list[Pair], rejections: list[Rejection]
) -> dg.AssetCheckResult:
    """Let submissions be rejected, but no entry of data.json."""
    published = not any(pair.annotator for pair in submissions)
    problems = [f"{row.entry}: {row.reason}" for row in rejections if published]
    holds = (
        "Every entry of data.json is used."
        if published
        else "Not asked for: these are submissions of one's own, of which some may be rejected."
    )
    return check_result(problems, n=len(submissions), of="submission", holds=holds)


@dg.asset(ins=CODIS.ins("source", "submissions", "decisions", "pairs"), **CODIS.stage("select"))
def funnel(
    source: list[SourceFile],
    submissions: list[Pair],
    decisions: list[Decision],
    pairs: list[Pair],
) -> dg.Output[list[FunnelStep]]:
    """Count what is left at each step.

    One row: one step from pictures to queries, and how many were left; in the paper 377
    pictures became 216, with 353 pairs and 706 queries (section 3.4).
    """
    return table_output(count_steps(image_names(source), submissions, decisions, pairs))


@dg.asset(ins=CODIS.ins("submissions", "votes"), **CODIS.stage("select"))
def agreement(submissions: list[Pair], votes: list[Vote]) -> dg.Output[list[VoteAgreement]]:
    """Measure how far the annotators agree.

    One row: one condition of section 3.4, and how far the annotators agree on it. Empty for the
    release, which has no votes; the paper gives no numbers.
    """
    return table_output(measure_agreement(submissions, votes))


@dg.asset(
    ins=CODIS.ins("pairs", stored="images"),
    deps=[CODIS.key("rejections")],  # damaged data stop here, before any question
    **CODIS.stage("questions"),
)
def questions(
    sources: SourceFiles, images: ImageStore, pairs: list[Pair], stored: list[StoredImage]
) -> dg.Output[list[Question]]:
    """Ask each selected pair twice.

    One row: one query: a picture and a question in one of two contexts. 706 in 353 pairs, by
    category 168, 190, 94, 150 and 104 (section 3.4).
    """
    edition = "mini" if sources.open("codis").is_mini else edition_of(pairs)
    rows = to_questions(pairs, {image.name: image for image in stored}, edition)
    return table_output(rows, question_preview(rows, images))
