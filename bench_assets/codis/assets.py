"""CODIS left of the waist: from the files of its source to the question table."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

import dagster as dg
from pydantic import Field

from bench_assets.codis import mini
from bench_assets.codis.questions import to_questions
from bench_assets.codis.select import FunnelStep, edition_of, select
from bench_assets.codis.select import funnel as count_steps
from bench_assets.codis.source import (
    Pair,
    Release,
    Vote,
    find_release,
    image_files,
    image_names,
    read_pairs,
    read_votes,
    source_files,
)
from bench_assets.codis.votes import Decision, VoteAgreement, ballots, decide
from bench_assets.codis.votes import agreement as measure_agreement
from bench_assets.core.errors import ImageError
from bench_assets.core.rows import Question, Rejection, SourceFile, StoredImage
from resources.check_results import check_result
from resources.images import ImageStore
from resources.previews import question_preview
from resources.source_files import SourceFiles
from resources.tables import table_output


class Shared(TypedDict):
    """Arguments that the assets of a stage have in common."""

    key_prefix: list[str]
    group_name: str
    code_version: str
    kinds: set[str]
    tags: dict[str, str]


class Verification(dg.Config):
    """How the votes on a submission are read."""

    approval: float = Field(1.0, gt=0, le=1)
    """Share of the other annotators that must approve; the paper asks for all."""


_THREADS = 8  # pictures that are decoded at once; each may take as much memory as it has pixels
SOURCE = [dg.AssetKey(["codis", "source"])]


def stage(name: str, below: str = "") -> Shared:
    """What the assets of a stage share; ``below`` names the ablation they belong to."""
    return Shared(
        key_prefix=["codis", below] if below else ["codis"],
        group_name="codis_ablations" if below else "codis",
        code_version="1",
        kinds={"python"},
        tags={"bench/stage": name},
    )


def table_ins(*tables: str, **renamed: str) -> dict[str, dg.AssetIn]:
    """Name the tables of the suite that an asset reads, some under another name."""
    named = {table: table for table in tables} | renamed
    return {name: dg.AssetIn(["codis", table]) for name, table in named.items()}


def open_release(sources: SourceFiles) -> Release:
    """Find the files of the configured source."""
    return find_release(sources.open("codis").folder)


@dg.asset(**stage("source"))
def source(sources: SourceFiles) -> dg.Output[list[SourceFile]]:
    """Pin the files.

    One row: one file of the source, by its digest. The release has data.json and 216 pictures.
    Without a configured folder, the mini edition is drawn first.
    """
    opened = sources.open("codis")
    if opened.is_mini:
        mini.write(opened.folder)
    return table_output(source_files(find_release(opened.folder)))


@dg.asset(deps=SOURCE, **stage("images"))
def images(sources: SourceFiles, images: ImageStore) -> dg.Output[list[StoredImage]]:
    """Store every picture of the folder, several at a time.

    One row: one picture that decodes, now in the image store; the release has 216. Pictures
    that do not decode are among the rejections.
    """
    files = image_files(open_release(sources))
    with ThreadPoolExecutor(_THREADS) as threads:
        results = threads.map(lambda name: _stored(name, files[name], images), files)
        stored = [result for result in results if isinstance(result, StoredImage)]
    return table_output(stored, {"not_decoded": len(files) - len(stored)})


@dg.asset(deps=SOURCE, **stage("select"))
def submissions(sources: SourceFiles) -> dg.Output[list[Pair]]:
    """Read the entries.

    One row: a picture and question with two contexts and two answers, as published (353) or as
    one of the annotators submitted it.
    """
    return table_output(read_pairs(open_release(sources)))


@dg.asset(deps=SOURCE, **stage("select"))
def votes(sources: SourceFiles) -> dg.Output[list[Vote]]:
    """Read the votes.

    One row: what one annotator says of another's submission; each is checked by the other four
    (section 3.4). The release has no votes.
    """
    return table_output(read_votes(open_release(sources)))


@dg.asset(ins=table_ins("submissions", "votes"), **stage("select"))
def decisions(
    config: Verification, submissions: list[Pair], votes: list[Vote]
) -> dg.Output[list[Decision]]:
    """Decide by the votes.

    One row: what became of one submission after the votes: kept, revised or dropped, and why
    (section 3.4). The 353 published entries are all kept.
    """
    return table_output(decide(submissions, votes, config.approval))


@dg.asset(ins=table_ins("submissions", "votes", "decisions", stored="images"), **stage("select"))
def rejections(
    sources: SourceFiles,
    images: ImageStore,
    submissions: list[Pair],
    votes: list[Vote],
    decisions: list[Decision],
    stored: list[StoredImage],
) -> dg.Output[list[Rejection]]:
    """Say of everything that is left out why.

    One row: an entry, vote or picture of the source that did not make it into the question
    table, and one reason for it. The release has none.
    """
    decoded = {image.name for image in stored}
    files = image_files(open_release(sources))
    broken = {name: file for name, file in files.items() if name not in decoded}
    return table_output(
        _broken_images(broken, images)
        + ballots(submissions, votes).rejections
        + select(submissions, decisions, decoded).rejections
    )


@dg.asset_check(
    asset=dg.AssetKey(["codis", "rejections"]),
    blocking=True,
    additional_ins=table_ins("submissions"),
    description="Published data lose no entry: a rejection there means that a file is damaged.",
)
def published_data_are_whole(
    submissions: list[Pair], rejections: list[Rejection]
) -> dg.AssetCheckResult:
    """Let submissions be rejected, but no entry of data.json."""
    published = not any(pair.annotator for pair in submissions)
    problems = [f"{row.entry}: {row.reason}" for row in rejections if published]
    return check_result(problems, n=len(submissions))


@dg.asset(ins=table_ins("source", "submissions", "decisions", stored="images"), **stage("select"))
def funnel(
    source: list[SourceFile],
    submissions: list[Pair],
    decisions: list[Decision],
    stored: list[StoredImage],
) -> dg.Output[list[FunnelStep]]:
    """Count what is left at each step.

    One row: one step from pictures to queries, and how many were left; in the paper 377
    pictures became 216, with 353 pairs and 706 queries (section 3.4).
    """
    selected = select(submissions, decisions, {image.name for image in stored}).pairs
    return table_output(count_steps(image_names(source), submissions, decisions, selected))


@dg.asset(ins=table_ins("submissions", "votes"), **stage("select"))
def agreement(submissions: list[Pair], votes: list[Vote]) -> dg.Output[list[VoteAgreement]]:
    """Measure how far the annotators agree.

    One row: one condition of section 3.4, and how far the annotators agree on it. Empty for the
    release, which has no votes; the paper gives no numbers.
    """
    return table_output(measure_agreement(submissions, votes))


@dg.asset(
    ins=table_ins("submissions", "decisions", stored="images"),
    deps=[dg.AssetKey(["codis", "rejections"])],  # damaged data stop here, before any question
    **stage("questions"),
)
def questions(
    sources: SourceFiles,
    images: ImageStore,
    submissions: list[Pair],
    decisions: list[Decision],
    stored: list[StoredImage],
) -> dg.Output[list[Question]]:
    """Ask each selected pair twice.

    One row: one query: a picture and a question in one of two contexts. 706 in 353 pairs, by
    category 168, 190, 94, 150 and 104 (section 3.4).
    """
    by_name = {image.name: image for image in stored}
    edition = "mini" if sources.open("codis").is_mini else edition_of(submissions)
    rows = to_questions(select(submissions, decisions, by_name).pairs, by_name, edition)
    return table_output(rows, question_preview(rows, images))


def _stored(name: str, file: Path, images: ImageStore) -> StoredImage | ImageError:
    try:
        return images.put_file(file, name)
    except ImageError as why:
        return why


def _broken_images(files: Mapping[str, Path], images: ImageStore) -> list[Rejection]:
    """Try once more: only the attempt says what is wrong."""
    attempts = [(name, file, _stored(name, file, images)) for name, file in files.items()]
    return [
        Rejection(entry=f"images/{name}", reason=str(why).removeprefix(f"{file}: "))
        for name, file, why in attempts
        if isinstance(why, ImageError)
    ]
