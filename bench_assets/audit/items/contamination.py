"""Contamination: questions and images found in training data.

The benchmark is indexed, and the training data, which may be large, is read once: images are
matched by digest and perceptual hash, texts by 13-grams of words (GPT-3, appendix C), or of
characters in Chinese, Japanese and Korean.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from bench_assets.audit.framework.evidence import Evidence, TrainingData
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.text_normalization import count_phrase, split_words
from bench_assets.core.schema.rows import Question

_GRAM_LENGTH = 13  # words of a gram, in a row
_MIN_WORDS = 6  # words of a text that is searched as a whole; shorter ones are common
_MAX_QUESTION_SHARE = 0.05  # share of matching questions, above which the check fails
_MIN_GRAM_SHARE = 0.5  # share of a question's rare grams that must match
_MAX_HASH_DISTANCE = 3  # bits of 64 in which the hashes of one image may differ
_BANDS = 4  # bands of a hash: hashes that differ in three bits agree in one of them
_BAND_BITS = 16  # bits of an image hash that are compared at once
_MIN_BITS_SET = 16  # bits of 64 that must be set; about 32 are, unless an image hardly varies

_Gram = tuple[str, ...]


@audit_check("training_images", "Are its images in the training data?")
def training_images(evidence: Evidence) -> AuditFinding:
    """Find the benchmark's images in the training data, by digest or by hash."""
    training = evidence.training
    images = list(
        dict.fromkeys(image for question in evidence.questions for image in question.images)
    )
    if training is None or not images:
        raise SkippedCheckError(_skip_reason(training, "no question has an image"))
    if next(chain(training.images(), training.image_hashes()), None) is None:
        raise SkippedCheckError("the training data has no images, digests or image hashes")
    distinct = set(images)
    reasons = {
        entry.content: f"{entry.name} is this image"
        for entry in training.images()
        if entry.content in distinct
    }
    for image, entry_name in _match_hashes(evidence.image_hashes(images), training):
        reasons.setdefault(image, f"{entry_name} looks like this image")
    suspects = [Suspect(image, reason) for image, reason in reasons.items()]
    return _make_finding(suspects, len(images), "image")


@audit_check("training_texts", "Are its questions in the training data?")
def training_texts(evidence: Evidence) -> AuditFinding:
    """Find the questions whose rare grams are mostly in the training data.

    Fails if a gram of full length matches, or many questions do.
    """
    training = evidence.training
    if training is None or not evidence.questions:
        raise SkippedCheckError(_skip_reason(training, "there are no questions"))
    if next(training.texts(), None) is None:
        raise SkippedCheckError("the training data has no texts (.jsonl, .json, .txt, .md)")
    rare_grams = _rare_grams(evidence.questions)
    searched = {question_id for question_id, grams in rare_grams if grams}
    if not searched:
        raise SkippedCheckError(f"no question has {_MIN_WORDS} words that few others have")
    sources = _find_grams({gram for _, grams in rare_grams for gram in grams}, training)
    suspects: dict[str, Suspect] = {}
    for question_id, grams in rare_grams:
        matched = sorted(gram for gram in grams if gram in sources)
        if not matched or len(matched) < _MIN_GRAM_SHARE * len(grams):
            continue
        n_words = len(matched[0])
        share = f"{len(matched)} of {len(grams)} runs of {n_words} words"
        weight = n_words * len(matched)
        if question_id not in suspects or weight >= suspects[question_id].weight:
            reason = f"{share} are in {sources[matched[0]]}"
            suspects[question_id] = Suspect(question_id, reason, weight=weight)
    finding = _make_finding(list(suspects.values()), len(searched), "question")
    has_long_match = any(suspect.weight >= _GRAM_LENGTH for suspect in suspects.values())
    is_frequent = len(suspects) > _MAX_QUESTION_SHARE * len(searched)
    return replace(finding, failed=has_long_match or is_frequent)


def _skip_reason(training: TrainingData | None, otherwise: str) -> str:
    """Reason of a skipped check: no training data, or ``otherwise``."""
    return otherwise if training else "no training data is configured ([audit] training)"


def _make_finding(suspects: Sequence[Suspect], n: int, noun: str) -> AuditFinding:
    sentence = f"{count_phrase(len(suspects), noun)} in the training data, of {n}."
    return AuditFinding(sentence=sentence, n=n, suspects=suspects)


def _match_hashes(hashes: Mapping[str, str], training: TrainingData) -> Iterator[tuple[str, str]]:
    """Pair images with similar training entries by hash.

    Images without detail are left out, because they would match many others.
    """
    images_by_band: dict[tuple[int, int], list[tuple[str, int]]] = defaultdict(list)
    for image, digits in hashes.items():
        image_hash = int(digits, 16)
        if image_hash.bit_count() >= _MIN_BITS_SET:
            for band in _bands(image_hash):
                images_by_band[band].append((image, image_hash))
    for entry in training.image_hashes():
        training_hash = int(entry.content, 16)
        for band in _bands(training_hash):
            for image, image_hash in images_by_band.get(band, ()):
                if (image_hash ^ training_hash).bit_count() <= _MAX_HASH_DISTANCE:
                    yield image, entry.name


def _bands(image_hash: int) -> list[tuple[int, int]]:
    """Split a hash into bands: (index, bits) of each."""
    mask = (1 << _BAND_BITS) - 1
    return [(band, image_hash >> (_BAND_BITS * band) & mask) for band in range(_BANDS)]


def _rare_grams(questions: Sequence[Question]) -> list[tuple[str, set[_Gram]]]:
    """Grams of each text and each context, by question id, without those of a common template."""
    question_grams = [
        (question.question_id, _grams(split_words(text)))
        for question in questions
        for text in (question.text, question.context)
    ]
    counts = Counter(gram for _, grams in question_grams for gram in grams)
    max_count = max(5, len(questions) // 50)  # grams of more questions are a template
    return [
        (question_id, {gram for gram in grams if counts[gram] <= max_count})
        for question_id, grams in question_grams
    ]


def _grams(words: Sequence[str]) -> set[_Gram]:
    """13-grams of a text; a shorter text is one gram, a very short one has none."""
    if len(words) < _GRAM_LENGTH:
        return {tuple(words)} if len(words) >= _MIN_WORDS else set()
    starts = range(len(words) - _GRAM_LENGTH + 1)
    return {tuple(words[start : start + _GRAM_LENGTH]) for start in starts}


def _find_grams(grams: set[_Gram], training: TrainingData) -> dict[_Gram, str]:
    """Find the grams that occur in training texts, each with the name of its first text."""
    sizes = sorted({len(gram) for gram in grams})
    beginnings = {gram[:_MIN_WORDS] for gram in grams}
    sources: dict[_Gram, str] = {}
    for entry in training.texts():
        words = split_words(entry.content)
        for start in range(len(words) - _MIN_WORDS + 1):
            if tuple(words[start : start + _MIN_WORDS]) not in beginnings:
                continue
            for size in sizes:
                gram = tuple(words[start : start + size])
                if gram in grams:
                    sources.setdefault(gram, entry.name)
    return sources
