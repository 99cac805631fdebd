"""Retrieval left of the waist: samples, published or built here, to queries and candidates."""

from collections.abc import Iterator

import dagster as dg

from bench_assets.core.rows import Question, Rejection, StoredImage
from bench_assets.journeybench.assets import (
    QUESTIONS,
    SOURCE,
    SUITE,
    by_name,
    edition_of,
    in_stage,
    question_table,
)
from bench_assets.journeybench.captioning.source import CaptionedImage
from bench_assets.journeybench.retrieval.questions import (
    TASK_NAME,
    Candidate,
    rejected,
    to_candidates,
    to_questions,
)
from bench_assets.journeybench.retrieval.source import RetrievalSample, read_samples
from bench_assets.journeybench.source import published_files
from resources.images import ImageStore
from resources.source_files import SourceFiles
from resources.tables import table_output

_KEY = TASK_NAME.split("/")
_INS = {
    "entries": dg.AssetIn([*_KEY, "entries"]),
    "stored": dg.AssetIn([SUITE, "images"]),
}


@dg.asset(
    ins={"built": dg.AssetIn([*_KEY, "built"])}, deps=[SOURCE], **in_stage("select", TASK_NAME)
)
def entries(sources: SourceFiles, built: list[RetrievalSample]) -> dg.Output[list[RetrievalSample]]:
    """Take the samples of the published files, or those built here.

    One row: a picture with the texts that describe it, and texts and pictures that only seem to.
    The release has about 1,000 (section 3.3).
    """
    published = published_files(sources.open(SUITE).folder)
    return table_output(read_samples(published) or built)


@dg.asset(ins=_INS, **in_stage("select", TASK_NAME))
def rejections(
    entries: list[RetrievalSample], stored: list[StoredImage]
) -> dg.Output[list[Rejection]]:
    """Say of everything that is left out why.

    One row: a sample whose picture is not there, or a distractor that is not there or is right.
    """
    return table_output(rejected(entries, by_name(stored)))


@dg.asset(ins=_INS, **in_stage("distractors", TASK_NAME))
def candidates(
    entries: list[RetrievalSample], stored: list[StoredImage]
) -> dg.Output[list[Candidate]]:
    """List what queries are answered with.

    One row: a text or picture that all queries are shown, or that distracts from one sample. The
    release has 5,740 texts with 5,590 distractors, and 1,000 pictures with 5,323.
    """
    return table_output(to_candidates(entries, by_name(stored)))


@dg.asset(
    ins=_INS | {"captioned": dg.AssetIn([SUITE, "captioning", "entries"])},
    output_required=False,
    dagster_type=QUESTIONS,
    **in_stage("questions", TASK_NAME),
)
def questions(
    sources: SourceFiles,
    images: ImageStore,
    entries: list[RetrievalSample],
    stored: list[StoredImage],
    captioned: list[CaptionedImage],
) -> Iterator[dg.Output[list[Question]]]:
    """Ask with every picture for texts, and with every caption for a picture.

    One row: one query; nothing if the source has no samples. The paper counts 1,000 pictures.
    """
    if entries:
        there = by_name(stored)
        whole = all(picture in there for entry in entries for picture in _pictures(entry))
        categories = {row.picture: row.categories for row in captioned}
        rows = to_questions(entries, there, categories, edition_of(sources, whole=whole))
        yield question_table(rows, len(entries), images)


def _pictures(entry: RetrievalSample) -> tuple[str, ...]:
    return (entry.picture, *entry.image_distractors)
