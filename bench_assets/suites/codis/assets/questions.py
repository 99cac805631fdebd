"""Dataset build of CODIS: from the files of its source to the question tables."""

from pathlib import Path

import dagster as dg

from bench_assets.asset_factory.annotation_inputs import (
    answers_key,
    counted_rows,
    decision_keys,
    label_undecided,
    needed_answers,
    undecided_by_decisions,
)
from bench_assets.asset_factory.suite_assets import AssetFolder, open_model
from bench_assets.core.images.text_substitutes import (
    describe_images,
    replace_images_by_texts,
    to_image_texts,
)
from bench_assets.core.schema.rows import ImageText, Question, Rejection, SourceFile, StoredImage
from bench_assets.core.tables.build import FunnelStep
from bench_assets.core.tables.source_folder import image_files
from bench_assets.suites.codis import annotation
from bench_assets.suites.codis import synthetic as mini
from bench_assets.suites.codis.dataset import (
    CodisRelease,
    ContextPair,
    SubmissionVote,
    find_release,
    image_names,
    read_captions,
    read_pairs,
    read_votes,
    source_files,
    to_questions,
)
from bench_assets.suites.codis.prompts import caption
from bench_assets.suites.codis.settings import CodisSettings
from bench_assets.suites.codis.task import DECISIONS, TASK
from bench_assets.suites.codis.votes import (
    VoteDecision,
    count_steps,
    decide_submissions,
    is_release,
    select_ballots,
    select_pairs,
)
from bench_resources.config.bench_toml import Settings
from bench_resources.datasets.source_files import SourceFiles
from bench_resources.images.previews import question_preview
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

CODIS = AssetFolder("codis")


def open_release(sources: SourceFiles) -> CodisRelease:
    """Find the files of the configured source."""
    return find_release(sources.open("codis").folder)


@CODIS.step("source")
def source(sources: SourceFiles) -> list[SourceFile]:
    """Write the mini edition if no source is configured, and record the digest of every file."""
    opened = sources.open("codis")
    if opened.is_mini:
        mini.write(opened.folder)
    return source_files(find_release(opened.folder))


@CODIS.step("images", deps=[*CODIS.source, answers_key(annotation.IMAGES)])
def images(
    sources: SourceFiles, image_store: ImageStore, tables: TableFiles
) -> dg.Output[list[StoredImage]]:
    """Store every image of the folder, and add those that annotators uploaded."""
    stored, broken = image_store.put_files(image_files(open_release(sources).images))
    uploaded = image_store.inspect_stored(counted_rows(tables, annotation.IMAGES))
    counts = {"not_decoded": len(broken), "uploaded": len(uploaded)}
    return table_output([*stored, *uploaded], counts)


@CODIS.steps(
    "codis_selection", {"pairs": "select", "rejections": "select"}, reads={"stored": "images"}
)
def selection(
    sources: SourceFiles,
    image_store: ImageStore,
    submissions: list[ContextPair],
    votes: list[SubmissionVote],
    decisions: list[VoteDecision],
    stored: list[StoredImage],
) -> tuple[list[ContextPair], list[Rejection]]:
    """Select the pairs that become questions.

    The other pairs, and images, entries and votes that cannot be used, are rejected with reasons.
    """
    release = open_release(sources)
    decoded = {image.name for image in stored}
    files = image_files(release.images)
    undecoded = {name: file for name, file in files.items() if name not in decoded}
    images = image_store.put_files(undecoded)  # again, because only this gives the reasons
    selected = select_pairs(submissions, decisions, decoded)
    ballots = select_ballots(submissions, votes)
    rows_with_rejections = (images, read_pairs(release), read_votes(release), ballots, selected)
    rejections = [rejection for rows in rows_with_rejections for rejection in rows.rejections]
    return selected.rows, rejections


@CODIS.step("select", reads={"stored": "images"})
def funnel(  # noqa: PLR0913, PLR0917  (a resource or table each)
    settings: dg.ResourceParam[Settings],
    tables: TableFiles,
    source: list[SourceFile],
    stored: list[StoredImage],
    submissions: list[ContextPair],
    decisions: list[VoteDecision],
    pairs: list[ContextPair],
) -> list[FunnelStep]:
    """Count the items left at each step."""
    collected = {*image_names(source), *(image.name for image in stored)}
    undecided = undecided_by_decisions(tables, settings, DECISIONS)
    return count_steps(collected, submissions, decisions, pairs, undecided)


@CODIS.step(
    "questions", reads={"stored": "images"}, deps=[CODIS.key("rejections"), *decision_keys(TASK)]
)
def questions(
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    tables: TableFiles,
    image_store: ImageStore,
    pairs: list[ContextPair],
    stored: list[StoredImage],
) -> dg.Output[list[Question]]:
    """Build two questions per selected pair."""
    is_published = not any(pair.annotator for pair in pairs)
    edition = sources.open("codis").edition(published=is_published, whole=is_release(pairs))
    rows = to_questions(pairs, {image.name: image for image in stored}, edition)
    labelled = label_undecided(rows, TASK, tables, settings)
    return table_output(labelled, question_preview(labelled, image_store))


@CODIS.step("images", reads={"stored": "images"}, deps=CODIS.source, pool="gpu")
def captions(
    context: dg.AssetExecutionContext,
    sources: SourceFiles,
    settings: dg.ResourceParam[Settings],
    models: Models,
    stored: list[StoredImage],
) -> list[ImageText]:
    """Caption the stored images, from a file or with a model; none without either."""
    chosen = settings.suite("codis", CodisSettings)
    if chosen.captioner and not chosen.captions:
        with open_model(context, models, chosen.captioner) as (model, _):
            return describe_images([image.sha256 for image in stored], caption, model)
    file = _captions_file(settings, sources)
    if file is None:
        return []
    captions_by_image = {image: text for image, text in read_captions(file).rows if text}
    return to_image_texts(captions_by_image, stored, file.name)


@CODIS.step("select", name="rejections", deps=CODIS.source, below="captions_for_images")
def caption_rejections(
    sources: SourceFiles, settings: dg.ResourceParam[Settings]
) -> list[Rejection]:
    """List malformed captions and second ones of an image."""
    file = _captions_file(settings, sources)
    return read_captions(file).rejections if file else []


def _captions_file(settings: Settings, sources: SourceFiles) -> Path | None:
    """Path of the captions; None if a model writes them or there is no file."""
    chosen = settings.suite("codis", CodisSettings)
    if chosen.captions:
        return settings.resolve(chosen.captions)
    return None if chosen.captioner else open_release(sources).captions


@CODIS.step("questions", name="questions", below="captions_for_images")
def captions_for_images(questions: list[Question], captions: list[ImageText]) -> list[Question]:
    """Replace images by captions."""
    return replace_images_by_texts(questions, captions)


@CODIS.step("select", deps=[*CODIS.source, answers_key(annotation.SUBMISSIONS)])
def submitted(sources: SourceFiles, tables: TableFiles) -> list[ContextPair]:
    """Read the entries of the source, and those written in the annotation task."""
    return read_pairs(open_release(sources)).rows + counted_rows(tables, annotation.SUBMISSIONS)


@CODIS.step("select", deps=[*CODIS.source, answers_key(annotation.VOTES)])
def first_votes(sources: SourceFiles, tables: TableFiles) -> list[SubmissionVote]:
    """Read the votes of the files and of the annotation task."""
    return read_votes(open_release(sources)).rows + counted_rows(tables, annotation.VOTES)


@CODIS.step("select", deps=[answers_key(annotation.REVISIONS)])
def submissions(tables: TableFiles, submitted: list[ContextPair]) -> list[ContextPair]:
    """Entries followed by their revisions."""
    revised = annotation.add_images(counted_rows(tables, annotation.REVISIONS), submitted)
    return [*submitted, *revised]


@CODIS.step("select", deps=[answers_key(annotation.REVISION_VOTES)])
def votes(tables: TableFiles, first_votes: list[SubmissionVote]) -> list[SubmissionVote]:
    """First votes followed by those on revisions."""
    return [*first_votes, *counted_rows(tables, annotation.REVISION_VOTES)]


@CODIS.step("select", reads={"stored": "images"})
def decisions(
    settings: dg.ResourceParam[Settings],
    submissions: list[ContextPair],
    votes: list[SubmissionVote],
    stored: list[StoredImage],
) -> list[VoteDecision]:
    """Decide on each submission by its votes."""
    return decide_submissions(
        submissions,
        votes,
        needed=needed_answers(settings, annotation.VOTES),
        images={image.name for image in stored},
    )
