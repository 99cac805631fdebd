"""Reads retrieval samples (section 3.3), and builds their queries and candidates."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench_assets.core.schema.rows import Question, Rejection, StoredImage
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, require_field
from bench_assets.suites.journeybench.captioning.dataset import split_captions
from bench_assets.suites.journeybench.published_files import (
    name_of,
    read_records,
    read_text_field,
    read_texts,
)

RELEASES: Mapping[str, Collection[int]] = {
    "retrieval": range(995, 1005),  # the hub shows "1k"
    "text_positives": (5740,),
    "text_negatives": (5590,),
    "image_distractors": (1000,),
}
"""Rows of each published table in the known releases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSample:
    """An image, texts that describe it, and distractors."""

    entry_id: str
    image: str  # address, or file name in a built edition
    texts: tuple[str, ...] = ()  # right answers to the image as a query
    text_distractors: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()  # queries whose answer is the image
    image_distractors: tuple[str, ...] = ()  # images, as ``image`` names them


def read_samples(files: Mapping[str, Path]) -> Table[RetrievalSample]:
    """Read the published tables; samples are in the order in which their images first occur."""
    samples: dict[str, RetrievalSample] = {}
    read = Table[RetrievalSample]()
    for table, file in files.items():
        for located in read_records(file):
            where = located.where
            with read.rejecting(where):
                image = require_field(located.entry, "url", str, where).strip()
                empty = RetrievalSample(entry_id=name_of(image), image=image)
                sample = samples.get(image, empty)
                samples[image] = _add_entry(sample, table, located.entry, where)
    return replace(read, rows=list(samples.values()))


def is_release(files: Mapping[str, Path]) -> bool:
    """Whether each published table has as many rows as in a known release.

    Right texts without their distractors, or distractors without right texts, are no release.
    """
    has_both_or_neither = ("text_positives" in files) == ("text_negatives" in files)
    return has_both_or_neither and all(
        sum(1 for _ in read_records(file)) in RELEASES[table] for table, file in files.items()
    )


def _add_entry(sample: RetrievalSample, table: str, entry: Entry, where: str) -> RetrievalSample:
    """Add the texts and images of a row of a published table to the sample of its image."""
    if table == "text_positives":
        text = read_text_field(entry, "hypothesis", where)
        return replace(sample, texts=_merge_unique(sample.texts, [text]))
    if table == "text_negatives":
        text = read_text_field(entry, "hypothesis", where)
        return replace(sample, text_distractors=_merge_unique(sample.text_distractors, [text]))
    captions = read_texts(entry, "captions", where)
    if len(captions) == 1:
        captions = list(split_captions(captions[0]))
    images = read_texts(entry, "distractor_url", where)
    images += read_texts(entry, "image_distractor_url", where)
    sample = replace(
        sample,
        captions=_merge_unique(sample.captions, captions),
        image_distractors=_merge_unique(sample.image_distractors, images),
    )
    if table == "image_distractors":
        return sample
    distractors = read_texts(entry, "text_distractors", where)
    return replace(
        sample,
        texts=_merge_unique(sample.texts, captions),
        text_distractors=_merge_unique(sample.text_distractors, distractors),
    )


def _merge_unique(texts: Iterable[str], new_texts: Iterable[str]) -> tuple[str, ...]:
    """Add the new texts that are neither empty nor known."""
    return tuple(dict.fromkeys([*texts, *filter(None, new_texts)]))


TASK_NAME = "journeybench/retrieval"
TEXT_RETRIEVAL, IMAGE_RETRIEVAL = "text retrieval", "image retrieval"
_TEXT_QUERY = "Which text describes the picture?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text or an image that may be the answer to a query."""

    candidate_id: str
    text: str = ""  # either this
    image: str = ""  # or this: SHA-256
    distracts: str = ""  # group of the only queries that rank it; "": all queries do


def to_questions(
    samples: Sequence[RetrievalSample],
    images: Mapping[str, StoredImage],
    categories: Mapping[str, Sequence[str]],
) -> Table[Question]:
    """Build a query for every image that has texts, and for every caption of an image.

    Samples without a stored image, and distractors that are missing or right, are rejected.
    """
    table = Table[Question]()
    for sample in samples:
        table.rejections.extend(_rejections(sample, images))
        if sample.image in images:
            image_categories = "; ".join(categories.get(sample.image, ()))
            for question in _questions(sample, images[sample.image]):
                labels = {"image": sample.image, "categories": image_categories}
                table.rows.append(replace(question, labels=labels))
    return table


def to_candidates(
    samples: Sequence[RetrievalSample],
    images: Mapping[str, StoredImage],
    *,
    as_released: bool = False,
) -> list[Candidate]:
    """List the right answers, and the distractors, of samples whose image is stored.

    Distracting images that are not stored are left out and, unless ``as_released``, distractors
    that are right: a text that also describes the image, the image itself.
    """
    return [
        candidate
        for sample in samples
        if sample.image in images
        for candidate in _candidates(sample, images, as_released=as_released)
    ]


def _questions(sample: RetrievalSample, image: StoredImage) -> Iterator[Question]:
    if sample.texts:
        yield Question(
            question_id=f"{TASK_NAME}/text/{sample.entry_id}",
            task=TASK_NAME,
            edition="own",
            kind="ranking",
            text=_TEXT_QUERY,
            answer=tuple(_text_ids(sample)),
            images=(image.sha256,),
            category=TEXT_RETRIEVAL,
            group_id=f"text/{sample.entry_id}",
        )
    for number, caption in enumerate(sample.captions, 1):
        yield Question(
            question_id=f"{TASK_NAME}/image/{sample.entry_id}/{number}",
            task=TASK_NAME,
            edition="own",
            kind="ranking",
            text=caption,
            answer=(_image_id(sample),),
            category=IMAGE_RETRIEVAL,
            group_id=f"image/{sample.entry_id}",
        )


def _candidates(
    sample: RetrievalSample, images: Mapping[str, StoredImage], *, as_released: bool
) -> Iterator[Candidate]:
    for text_id, text in zip(_text_ids(sample), sample.texts, strict=True):
        yield Candidate(candidate_id=text_id, text=text)
    for number, distractor in enumerate(sample.text_distractors, 1):
        if as_released or distractor not in sample.texts:
            yield Candidate(
                candidate_id=f"text/{sample.entry_id}/distractor {number}",
                text=distractor,
                distracts=f"text/{sample.entry_id}",
            )
    if not sample.captions:
        return
    own_digest = images[sample.image].sha256
    yield Candidate(candidate_id=_image_id(sample), image=own_digest)
    for number, image in enumerate(sample.image_distractors, 1):
        if image in images and (as_released or images[image].sha256 != own_digest):
            yield Candidate(
                candidate_id=f"{_image_id(sample)}/distractor {number}",
                image=images[image].sha256,
                distracts=_image_id(sample),
            )


def _rejections(sample: RetrievalSample, images: Mapping[str, StoredImage]) -> Iterator[Rejection]:
    """Yield the rejections of a sample and of its distractors; without its image, only one."""
    if sample.image not in images:
        yield Rejection(entry=sample.entry_id, reason=f"no image: {sample.image}")
        return
    if not (sample.texts or sample.captions):
        yield Rejection(entry=sample.entry_id, reason="the image has neither texts nor captions")
    for text in sample.text_distractors:
        if text in sample.texts:
            reason = "a distractor that is also a right text"
            yield Rejection(entry=f"{sample.entry_id}: {text}", reason=reason)
    for image in sample.image_distractors:
        entry = f"{sample.entry_id}: {image}"
        if image not in images:
            yield Rejection(entry=entry, reason="the distractor's image is missing")
        elif images[image].sha256 == images[sample.image].sha256:
            yield Rejection(entry=entry, reason="a distractor that is the image itself")


def _text_ids(sample: RetrievalSample) -> list[str]:
    return [f"text/{sample.entry_id}/{number}" for number, _ in enumerate(sample.texts, 1)]


def _image_id(sample: RetrievalSample) -> str:
    return f"image/{sample.entry_id}"
