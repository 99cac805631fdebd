"""Turns samples into queries and the candidates that they are answered with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bench_assets.core.rows import Question, Rejection, StoredImage
from bench_assets.suites.journeybench.asked import Asked
from bench_assets.suites.journeybench.retrieval.source import RetrievalSample

TASK_NAME = "journeybench/retrieval"
TEXT_RETRIEVAL, IMAGE_RETRIEVAL = "text retrieval", "image retrieval"
_TEXT_QUERY = "Which text describes the picture?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A text or a picture that may be the answer to a query."""

    candidate_id: str
    text: str = ""  # either this
    image: str = ""  # or this: SHA-256
    distracts: str = ""  # the group of queries that only it belongs to; "": all are shown it


def to_questions(
    samples: Sequence[RetrievalSample],
    images: Mapping[str, StoredImage],
    categories: Mapping[str, Sequence[str]],
) -> Asked:
    """Ask with every picture that has texts, and with every caption of a picture.

    Left out are pictures that are not there, and distractors that do not distract.

    Args:
        samples: All of them.
        images: Stored pictures by the name that samples know them by.
        categories: What is unusual in a picture, by the same name; from the captioning task.
    """
    questions = [
        replace(question, labels={"picture": sample.picture, "categories": "; ".join(unusual)})
        for sample in samples
        if sample.picture in images
        for unusual in [categories.get(sample.picture, ())]
        for question in _questions(sample, images[sample.picture])
    ]
    rejections = [
        Rejection(entry=f"{sample.entry_id}: {part}" if part else sample.entry_id, reason=reason)
        for sample in samples
        for part, reason in _faults(sample, images)
    ]
    return Asked(questions, rejections)


def to_candidates(
    samples: Sequence[RetrievalSample],
    images: Mapping[str, StoredImage],
    *,
    as_released: bool = False,
) -> list[Candidate]:
    """List everything that can be an answer, or can be taken for one, once.

    Args:
        samples: All of them.
        images: Stored pictures by the name that samples know them by.
        as_released: Keep distractors that are right: a text in the words of one that describes the
            picture, the picture itself.
    """
    return [
        candidate
        for sample in samples
        if sample.picture in images
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
    for name, right in zip(_text_ids(sample), sample.texts, strict=True):
        yield Candidate(candidate_id=name, text=right)
    for number, wrong in enumerate(sample.text_distractors, 1):
        if as_released or wrong not in sample.texts:
            name = f"text/{sample.entry_id}/distractor {number}"
            yield Candidate(candidate_id=name, text=wrong, distracts=f"text/{sample.entry_id}")
    if not sample.captions:
        return
    own = images[sample.picture].sha256
    yield Candidate(candidate_id=_image_id(sample), image=own)
    for number, picture in enumerate(sample.image_distractors, 1):
        if picture in images and (as_released or images[picture].sha256 != own):
            yield Candidate(
                candidate_id=f"{_image_id(sample)}/distractor {number}",
                image=images[picture].sha256,
                distracts=_image_id(sample),
            )


def _faults(
    sample: RetrievalSample, images: Mapping[str, StoredImage]
) -> Iterator[tuple[str, str]]:
    if sample.picture not in images:
        yield "", f"no picture: {sample.picture}"
        return
    if not (sample.texts or sample.captions):
        yield "", "nothing describes the picture"
    for wrong in sample.text_distractors:
        if wrong in sample.texts:
            yield wrong, "a distractor that is also a right text"
    for picture in sample.image_distractors:
        if picture not in images:
            yield picture, "no picture of a distractor"
        elif images[picture].sha256 == images[sample.picture].sha256:
            yield picture, "a distractor that is the picture itself"


def _text_ids(sample: RetrievalSample) -> list[str]:
    return [f"text/{sample.entry_id}/{number}" for number, _ in enumerate(sample.texts, 1)]


def _image_id(sample: RetrievalSample) -> str:
    return f"image/{sample.entry_id}"
