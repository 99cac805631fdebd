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

_EXCEPTION = 0.1  # share up to which something is a mistake rather than a design
_MAX_HASH_DISTANCE = 4  # bits of 64 in which hashes may differ after resizing or compression
_BANDS = 5  # hashes that differ in four bits agree in one of five bands
_SIDE = 64  # px, of images that are compared
_MAX_DIFFERENCE = 20  # of 255: 99th percentile of pixel differences of equal images
_MEAN = 3  # of 255: mean pixel difference of equal images
_MAX_COMPARED = 1000  # pairs whose pixels are compared, nearest hashes first
_MAX_BAND_SIZE = 50  # images of a band that each is compared with
_BLANK = 12  # of 255: range of the channels over 64 x 64 cells; a faint line has more
_PLACEHOLDER = re.compile(r"[\[<(](?:IMAGE|IMG|PICTURE)[_ ]?\d*[\]>)]", re.IGNORECASE)


@audit_check("missing_images", "Are all images available?")
def missing_images(evidence: Evidence) -> AuditFinding:
    """Find missing and undecodable images, and questions without theirs."""
    questions = evidence.questions
    if not questions:
        raise SkippedCheckError("there are no questions")
    looks = evidence.image_hashes(
        list(dict.fromkeys(i for question in questions for i in question.images))
    )
    without_image = [
        question for question in questions if not question.images and not question.image_texts
    ]
    is_exception = 0 < len(without_image) <= _EXCEPTION * len(questions)
    suspects = [
        Suspect(question.question_id, reason, weight)
        for question in questions
        for weight, reason in _find_missing(question, looks, is_exception=is_exception)
    ]
    sentence = (
        f"{count_phrase(len(suspects), 'question')} without its image; {len(looks)} images decode."
    )
    return AuditFinding(sentence, len(questions), suspects)


def _find_missing(
    question: Question, looks: Mapping[str, str], *, is_exception: bool
) -> Iterator[tuple[float, str]]:
    for image in question.images:
        if image not in looks:
            yield 2.0, f"its image {image} is missing or does not decode"
    n_images = len(question.images) + len(question.image_texts)
    n_marked = len(set(_PLACEHOLDER.findall(question.text)))
    if n_marked > n_images:
        yield 1.0, f"its text refers to {n_marked} images, but it has {n_images}"
    elif is_exception and not n_images:
        yield 1.0, "it has no image, unlike nearly all others"


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
        if spread <= _BLANK
    ]
    sentence = f"{count_phrase(len(suspects), 'image')} blank, of {len(by_image)}."
    return AuditFinding(sentence, len(by_image), suspects)


@audit_check("duplicate_images", "Are any images duplicated?")
def duplicate_images(evidence: Evidence) -> AuditFinding:
    """Find equal images in other files, under other questions."""
    by_image = _questions_by_image(evidence.questions)
    if not by_image:
        raise SkippedCheckError("no question has an image")
    looks = evidence.image_hashes(list(by_image))
    clusters = cluster_questions(evidence.questions)
    suspects = list(_shared(evidence, by_image))
    for image, other in find_equal_images(evidence, looks):
        if {clusters[q] for q in by_image[image]}.isdisjoint(clusters[q] for q in by_image[other]):
            question_names = ", ".join([*sorted(by_image[image])[:2], *sorted(by_image[other])[:2]])
            suspects.append(Suspect(image, f"looks like {other}: {question_names}"))
    sentence = f"{count_phrase(len(suspects), 'image')} duplicated, of {len(by_image)}."
    return AuditFinding(sentence, len(by_image), suspects)


def find_equal_images(evidence: Evidence, looks: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of equal images, by hash and then by pixels."""
    near = similar_hashes(looks)[:_MAX_COMPARED]
    small = {image: _thumbnail(evidence, image) for pair in near for image in pair}
    pairs = []
    for look_alike, twin in near:
        first, second = small[look_alike], small[twin]
        if first is None or second is None:
            continue
        difference = np.abs(first - second)
        if difference.mean() <= _MEAN and np.percentile(difference, 99) <= _MAX_DIFFERENCE:
            pairs.append((look_alike, twin))
    return pairs


def similar_hashes(looks: Mapping[str, str]) -> list[tuple[str, str]]:
    """Pairs of images with similar hashes, nearest first.

    Hashes that differ in at most four bits agree in one of five bands; only those are compared.
    """
    names = sorted(looks)
    hashes = [int(looks[name], 16) for name in names]
    bands: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, value in enumerate(hashes):
        for band in range(_BANDS):
            bands[band, value >> (13 * band) & 0x1FFF].append(number)
    distances: dict[tuple[int, int], int] = {}
    for crowd in bands.values():
        nearest = sorted(crowd, key=lambda n: hashes[n])
        for at, first_hash in enumerate(nearest):
            for second_hash in nearest[at + 1 : at + 1 + _MAX_BAND_SIZE]:
                bits = (hashes[first_hash] ^ hashes[second_hash]).bit_count()
                if bits <= _MAX_HASH_DISTANCE:
                    distances[min(first_hash, second_hash), max(first_hash, second_hash)] = bits
    pairs = sorted(distances, key=lambda pair: (distances[pair], pair))
    return [(names[pair], names[other]) for pair, other in pairs]


def _thumbnail(evidence: Evidence, image: str) -> npt.NDArray[np.float32] | None:
    try:
        opened = evidence.open_image(image)
    except ImageError:
        return None
    small = opened.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BILINEAR)
    return np.asarray(small, dtype=np.float32)


def _questions_by_image(questions: Sequence[Question]) -> dict[str, set[str]]:
    """Image -> ids of its questions."""
    question_ids: dict[str, set[str]] = defaultdict(set)
    for question in questions:
        for image in question.images:
            question_ids[image].add(question.question_id)
    return question_ids


def _format_questions(questions: Iterable[str]) -> str:
    return ", ".join(sorted(questions)[:4])


def _shared(evidence: Evidence, by_image: Mapping[str, set[str]]) -> Iterator[Suspect]:
    """Images shared across groups, if that is rare in the benchmark.

    Repeated questions are reported by ``repeated_questions`` instead.
    """
    groups = {
        question.question_id: question.group_id or paraphrase_key(question)
        for question in evidence.questions
    }
    across = {
        image: ids for image, ids in by_image.items() if len({groups[name] for name in ids}) > 1
    }
    if not across or len(across) > _EXCEPTION * len(by_image):
        return
    for image, ids in across.items():
        reason = f"is shown by {_format_questions(ids)}, while hardly any other image is shared"
        yield Suspect(image, reason)
