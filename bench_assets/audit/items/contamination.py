"""Contamination: questions and images found in training data.

The benchmark is indexed, and the training data, which may be large, is read once: images are
matched by digest and perceptual hash, texts by 13-grams of words (GPT-3, appendix C), or of
characters in Chinese, Japanese and Korean.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bench_assets.audit.framework.evidence import Evidence, TrainingData
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.framework.text_normalization import count_phrase, split_words

_GRAM_LENGTH = 13  # words in a row
_MIN_WORDS = 6  # fewest words of a text that is searched as a whole; shorter ones are common
_MAX_QUESTION_SHARE = 0.05  # share of the questions; more matches of short texts are no accident
_SHARE = 0.5  # of a text's rare grams; more matches are no accident
_MAX_HASH_DISTANCE = 3  # bits of 64 in which the hashes of one image may differ
_BANDS = 4  # hashes that differ in three bits agree in one of four bands
_DETAIL = 16  # of 64 bits, 32 of which are set unless an image hardly varies

_Gram = tuple[str, ...]


@audit_check("training_images", "Are its images in the training data?")
def training_images(evidence: Evidence) -> AuditFinding:
    """Find the benchmark's images in the training data."""
    training = evidence.training
    images = list(
        dict.fromkeys(image for question in evidence.questions for image in question.images)
    )
    if training is None or not images:
        raise SkippedCheckError(_skip_reason(training, "no question has an image"))
    known = set(images)
    matches = {
        item.content: f"{item.name} is this image"
        for item in training.images()
        if item.content in known
    }
    for image, where in _match_hashes(evidence.image_hashes(images), training):
        matches.setdefault(image, f"{where} looks like this image")
    suspects = [Suspect(image, reason) for image, reason in matches.items()]
    return _make_finding(suspects, len(images), "image")


@audit_check("training_texts", "Are its questions in the training data?")
def training_texts(evidence: Evidence) -> AuditFinding:
    """Find the questions' words in the training data."""
    training = evidence.training
    if training is None or not evidence.questions:
        raise SkippedCheckError(_skip_reason(training, "there are no questions"))
    question_grams = [
        (question.question_id, _grams(split_words(part)))
        for question in evidence.questions
        for part in (question.text, question.context)
    ]
    times = Counter(gram for _, grams in question_grams for gram in grams)
    max_questions = max(5, len(evidence.questions) // 50)  # grams of more questions are a template
    question_grams = [
        (name, {gram for gram in grams if times[gram] <= max_questions})
        for name, grams in question_grams
    ]
    looked_for = {name for name, grams in question_grams if grams}
    if not looked_for:
        raise SkippedCheckError(f"no question has {_MIN_WORDS} words that no other question has")
    sources = _find_ngrams({gram for _, grams in question_grams for gram in grams}, training)
    suspects: dict[str, Suspect] = {}
    for name, grams in question_grams:
        matched = sorted(gram for gram in grams if gram in sources)
        if matched and len(matched) >= _SHARE * len(grams):
            share = f"{len(matched)} of {len(grams)} runs of {len(matched[0])} words"
            suspect = Suspect(
                name, f"{share} are in {sources[matched[0]]}", len(matched[0]) * len(matched)
            )
            suspects[name] = max(
                suspect, suspects.get(name, suspect), key=lambda found: found.weight
            )
    finding = _make_finding(list(suspects.values()), len(looked_for), "question")
    is_plain = any(suspect.weight >= _GRAM_LENGTH for suspect in suspects.values())
    return replace(
        finding, failed=is_plain or len(suspects) > _MAX_QUESTION_SHARE * len(looked_for)
    )


def _skip_reason(training: TrainingData | None, otherwise: str) -> str:
    return otherwise if training else "no training data is configured ([audit] training)"


def _make_finding(suspects: Sequence[Suspect], n: int, what: str) -> AuditFinding:
    sentence = f"{count_phrase(len(suspects), what)} in the training data, of {n}."
    return AuditFinding(sentence, n, suspects)


def _match_hashes(looks: Mapping[str, str], training: TrainingData) -> Iterator[tuple[str, str]]:
    """Match images by perceptual hash: hashes that differ in three bits share one of four bands.

    Hashes with hardly any detail match many images, and are left out.
    """
    bands: dict[tuple[int, int], list[tuple[str, int]]] = defaultdict(list)
    for image, look in looks.items():
        value = int(look, 16)
        for band in range(_BANDS) if value.bit_count() >= _DETAIL else ():
            bands[band, value >> (16 * band) & 0xFFFF].append((image, value))
    for item in training.image_hashes():
        value = int(item.content, 16)
        for band in range(_BANDS):
            for image, image_hash in bands.get((band, value >> (16 * band) & 0xFFFF), ()):
                if (image_hash ^ value).bit_count() <= _MAX_HASH_DISTANCE:
                    yield image, item.name


def _grams(text: Sequence[str]) -> set[_Gram]:
    """13-grams of a text; a shorter text is one gram, a very short one none."""
    if len(text) < _GRAM_LENGTH:
        return {tuple(text)} if len(text) >= _MIN_WORDS else set()
    return {tuple(text[at : at + _GRAM_LENGTH]) for at in range(len(text) - _GRAM_LENGTH + 1)}


def _find_ngrams(wanted: set[_Gram], training: TrainingData) -> dict[_Gram, str]:
    """Find the grams that occur in the texts, and where, in one pass."""
    sizes = sorted({len(gram) for gram in wanted})
    starts = {gram[:_MIN_WORDS] for gram in wanted}
    sources: dict[_Gram, str] = {}
    for item in training.texts():
        text = split_words(item.content)
        for at in range(len(text) - _MIN_WORDS + 1):
            if tuple(text[at : at + _MIN_WORDS]) in starts:
                for size in sizes:
                    gram = tuple(text[at : at + size])
                    if gram in wanted:
                        sources.setdefault(gram, item.name)
    return sources
