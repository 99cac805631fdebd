"""Missing and duplicate images.

Perceptual hashes of 64 bits find candidates, and pixels decide, because charts and drawings have
similar hashes. Questions may share an image by design: within a group, and across groups if that is
common in the benchmark.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.text_normalization import count_phrase
from bench_assets.audit.items.ambiguous_options import paraphrase_key
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.clusters import cluster_questions

_MAX_EXCEPTIONS = 0.1  # share up to which something is a mistake rather than a design
_MAX_HASH_DISTANCE = 4  # bits of 64 in which hashes may differ after resizing or compression
_BANDS = 5  # bands of a hash: hashes that differ in four bits agree in one of them
_BAND_BITS = 13  # bits of an image hash that are compared at once
_THUMBNAIL_SIDE = 64  # px, side of thumbnails that are compared
_MAX_DIFFERENCE = 20  # levels of 255: 99th percentile of pixel differences of equal images
_MAX_MEAN_DIFFERENCE = 3  # levels of 255: mean pixel difference of equal images
_MAX_COMPARED = 1000  # pairs whose pixels are compared, nearest hashes first
_MAX_BAND_SIZE = 50  # images of a band that each is compared with
_MAX_BLANK_RANGE = 12  # levels of 255: range of the channels over 64 x 64 cells of a blank image
_PLACEHOLDER = re.compile(r"[\[<(](?:IMAGE|IMG|PICTURE)[_ ]?\d*[\]>)]", re.IGNORECASE)


@audit_check("missing_images", "Are all images available?")
def missing_images(evidence: Evidence) -> AuditFinding:
    """Find missing and undecodable images, and questions without theirs."""
    questions = evidence.questions
    if not questions:
        raise SkippedCheckError("there are no questions")
    images = dict.fromkeys(image for question in questions for image in question.images)
    hashes = evidence.image_hashes(list(images))
    without_image = [
        question for question in questions if not question.images and not question.image_texts
    ]
    is_exception = len(without_image) <= _MAX_EXCEPTIONS * len(questions)
    suspects = [
        suspect
        for question in questions
        for suspect in _find_missing(question, hashes, is_exception=is_exception)
    ]
    n = len({suspect.about for suspect in suspects})
    sentence = f"{count_phrase(n, 'question')} without an image; images that decode: {len(hashes)}."
    return AuditFinding(sentence=sentence, n=len(questions), suspects=suspects)


def _find_missing(
    question: Question, hashes: Mapping[str, str], *, is_exception: bool
) -> Iterator[Suspect]:
    """Suspect a question for each image that it lacks; those in ``hashes`` decode.

    ``is_exception`` tells whether a question without an image is suspect.
    """
    name = question.question_id
    for image in question.images:
        if image not in hashes:
            yield Suspect(name, f"its image {image} is missing or does not decode", weight=2.0)
    n_images = len(question.images) + len(question.image_texts)
    n_marked = len(set(_PLACEHOLDER.findall(question.text)))
    if n_marked > n_images:
        yield Suspect(name, f"its text refers to {n_marked} images, but it has {n_images}")
    elif is_exception and not n_images:
        yield Suspect(name, "it has no image, unlike nearly all others")


@audit_check("blank_images", "Are any images blank?")
def blank_images(evidence: Evidence) -> AuditFinding:
    """Find images of a single colour, or nearly so."""
    by_image = _questions_by_image(evidence.questions)
    if not by_image:
        raise SkippedCheckError("no question has an image")
    suspects = [
        Suspect(
            image,
            f"is of a single colour (range {spread} of 255): {_format_questions(by_image[image])}",
        )
        for image, spread in evidence.ranges(list(by_image)).items()
        if spread <= _MAX_BLANK_RANGE
    ]
    sentence = f"{count_phrase(len(suspects), 'image')} blank, of {len(by_image)}."
    return AuditFinding(sentence=sentence, n=len(by_image), suspects=suspects)


@audit_check("duplicate_images", "Are any images duplicated?")
def duplicate_images(evidence: Evidence) -> AuditFinding:
    """Find equal images of unrelated questions, and files shared where hardly any are."""
    by_image = _questions_by_image(evidence.questions)
    if not by_image:
        raise SkippedCheckError("no question has an image")
    hashes = evidence.image_hashes(list(by_image))
    clusters = cluster_questions(evidence.questions)
    suspects = list(_shared_images(evidence, by_image))
    for image, twin in find_equal_images(evidence, hashes):
        image_clusters = {clusters[question_id] for question_id in by_image[image]}
        twin_clusters = {clusters[question_id] for question_id in by_image[twin]}
        if image_clusters.isdisjoint(twin_clusters):
            examples = ", ".join([*sorted(by_image[image])[:2], *sorted(by_image[twin])[:2]])
            suspects.append(Suspect(image, f"looks like {twin}: {examples}"))
    n = len({suspect.about for suspect in suspects})
    sentence = f"{count_phrase(n, 'image')} duplicated, of {len(by_image)}."
    return AuditFinding(sentence=sentence, n=len(by_image), suspects=suspects)


def find_equal_images(evidence: Evidence, hashes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Find pairs of equal images by pixels, among the pairs with the most similar hashes."""
    similar = similar_hashes(hashes)[:_MAX_COMPARED]
    thumbnails = {image: _thumbnail(evidence, image) for pair in similar for image in pair}
    pairs = []
    for image, twin in similar:
        image_pixels, twin_pixels = thumbnails[image], thumbnails[twin]
        if image_pixels is None or twin_pixels is None:
            continue
        difference = np.abs(image_pixels - twin_pixels)
        if difference.mean() > _MAX_MEAN_DIFFERENCE:
            continue
        if np.percentile(difference, 99) <= _MAX_DIFFERENCE:
            pairs.append((image, twin))
    return pairs


def similar_hashes(hashes: Mapping[str, str]) -> list[tuple[str, str]]:
    """Find pairs of images with similar hashes, nearest first.

    Hashes that differ in at most four bits agree in one of five bands; only those are compared, and
    in a large band only with their neighbours.
    """
    values = {image: int(digits, 16) for image, digits in hashes.items()}
    mask = (1 << _BAND_BITS) - 1
    bands: dict[tuple[int, int], list[str]] = defaultdict(list)
    for image in sorted(values):
        for band in range(_BANDS):
            bands[band, values[image] >> (_BAND_BITS * band) & mask].append(image)
    distances: dict[tuple[str, str], int] = {}
    for images in bands.values():
        by_value = sorted(images, key=values.__getitem__)
        for index, image in enumerate(by_value):
            for twin in by_value[index + 1 : index + 1 + _MAX_BAND_SIZE]:
                distance = (values[image] ^ values[twin]).bit_count()
                if distance <= _MAX_HASH_DISTANCE:
                    distances[min(image, twin), max(image, twin)] = distance
    return sorted(distances, key=lambda pair: (distances[pair], pair))


def _thumbnail(evidence: Evidence, image: str) -> npt.NDArray[np.float32] | None:
    """Pixels of a small copy of an image; None if it does not decode."""
    try:
        opened = evidence.open_image(image)
    except ImageError:
        return None
    size = _THUMBNAIL_SIDE, _THUMBNAIL_SIDE
    small = opened.convert("RGB").resize(size, Image.Resampling.BILINEAR)
    return np.asarray(small, dtype=np.float32)


def _questions_by_image(questions: Sequence[Question]) -> dict[str, set[str]]:
    """Ids of the questions that show an image, by its SHA-256."""
    question_ids: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        for image in question.images:
            question_ids[image].add(question.question_id)
    return question_ids


def _format_questions(questions: Iterable[str]) -> str:
    """Join the first four ids, in alphabetical order."""
    return ", ".join(sorted(questions)[:4])


def _shared_images(evidence: Evidence, by_image: Mapping[str, set[str]]) -> Iterator[Suspect]:
    """Find images shared across groups, if that is rare in the benchmark.

    Repeated questions are reported by ``repeated_questions`` instead.
    """
    groups = {
        question.question_id: question.group_id or paraphrase_key(question)
        for question in evidence.questions
    }
    shared = {
        image: ids for image, ids in by_image.items() if len({groups[name] for name in ids}) > 1
    }
    if len(shared) > _MAX_EXCEPTIONS * len(by_image):
        return
    for image, ids in shared.items():
        reason = f"is shown by {_format_questions(ids)}, while hardly any other image is shared"
        yield Suspect(image, reason)
