"""Image files as a shortcut: file size, dimensions, format and metadata (EXIF, text chunks)."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import TypeAlias

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    audit_check,
)
from bench_assets.audit.framework.text_normalization import with_key_index
from bench_assets.audit.shortcuts.answer_leaks import leak_finding
from bench_assets.audit.shortcuts.guessable_keys import (
    GuessResults,
    Keyed,
    Weigh,
    best_guess,
    option_guess,
)
from bench_assets.audit.shortcuts.image_cues import (
    MIN_QUESTIONS,
    cue_guesses,
    group_guesses,
    n_question_images,
    tercile_indices,
)
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.core.stats.paired_tests import cluster_questions

Metadata: TypeAlias = Mapping[str, Mapping[str, str]]  # by image


@audit_check("image_files", "Do sizes or formats of image files reveal the answer?")
def image_files(evidence: Evidence) -> AuditFinding:
    """Guess the key from file properties of image options, and of the first image."""
    stored = evidence.stored
    keyed = _with_metadata(evidence, stored)
    first = [stored[one.images[0]] for one, _ in keyed]
    groups = {
        "images of the same shape": _index_names([_shape(one) for one in first]),
        "images of the same measures": _index_names([f"{p.width} {p.height}" for p in first]),
        "files of the same format": _index_names([one.format for one in first]),
    }
    facts = {
        "file size": {name: float(one.n_bytes) for name, one in stored.items()},
        "image area": {name: float(one.width * one.height) for name, one in stored.items()},
    }
    guesses = [*cue_guesses(evidence.questions, facts), *group_guesses(keyed, groups)]
    if not guesses:
        raise SkippedCheckError("all image files are alike")
    return best_guess(guesses, "a property of the image files")


@audit_check("image_statistics", "Does image brightness, contrast or sharpness reveal the answer?")
def image_statistics(evidence: Evidence) -> AuditFinding:
    """Guess the key from pixel statistics."""
    images = list(dict.fromkeys(image for one in evidence.questions for image in one.images))
    measured = evidence.statistics(images)
    facts = {
        name: {image: float(getattr(of, name)) for image, of in measured.items()}
        for name in ("brightness", "contrast", "sharpness")
    }
    guesses = cue_guesses(evidence.questions, facts)
    if not guesses:
        raise SkippedCheckError(
            f"fewer than {MIN_QUESTIONS} questions with images and answers to guess"
        )
    return best_guess(guesses, "a statistic of the images")


def _with_metadata(evidence: Evidence, known: Container[str]) -> Keyed:
    keyed = [
        (one, key)
        for one, key in with_key_index(evidence.questions)
        if one.images and all(image in known for image in one.images)
    ]
    if len(keyed) < MIN_QUESTIONS:
        raise SkippedCheckError(f"{len(keyed)} questions with options and image files")
    return keyed


@audit_check("image_metadata", "Does the metadata of images reveal the answer?")
def image_metadata(evidence: Evidence) -> AuditFinding:
    """Find answers in metadata, and guess the key from each of its entries."""
    questions = evidence.questions
    metadata = evidence.metadata(list(dict.fromkeys(i for one in questions for i in one.images)))
    texts = {
        one.question_id: list(
            dict.fromkeys(
                v for i in one.images for v in metadata.get(i, {}).values() if _is_text(v)
            )
        )
        for one in questions
    }
    if not any(metadata.values()):
        raise SkippedCheckError("no image has metadata")
    leaked = leak_finding(questions, texts, "the metadata of an image")
    keyed = [(one, key) for one, key in with_key_index(questions) if one.images]
    tried = [*_guess_by_entry(keyed, metadata), *_guess_image_options(keyed, metadata)]
    if len(keyed) < MIN_QUESTIONS or not tried:
        return leaked
    guess = best_guess(tried, "the metadata of images")
    return AuditFinding(
        f"{leaked.sentence} {guess.sentence}", leaked.n, [*guess.suspects, *leaked.suspects]
    )


def _guess_by_entry(keyed: Keyed, metadata: Metadata) -> GuessResults:
    """Group questions by each metadata entry of their first image, and by its order."""
    if not keyed:
        return []
    first = [metadata.get(one.images[0], {}) for one, _ in keyed]
    names = dict.fromkeys(name for one in first for name in one)
    groups = {}
    for name in names:
        values = [one.get(name, "") for one in first]
        groups[f"images of the same {name}"] = _index_names(values)
        ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
        if len(ranks) > len(keyed) / 2:
            groups[f"images of like {name}"] = tercile_indices([ranks[value] for value in values])
    return group_guesses(keyed, groups)


def _guess_image_options(keyed: Keyed, metadata: Metadata) -> GuessResults:
    """Guess, among options that are images, the value that is right most often elsewhere."""
    fitting = [(one, key) for one, key in keyed if n_question_images(one) >= 0]
    names = dict.fromkeys(
        name for one, _ in fitting for image in one.images for name in metadata.get(image, {})
    )
    if len(fitting) < MIN_QUESTIONS:
        return []
    clusters = cluster_questions([one for one, _ in fitting])
    return [
        (
            f"the image by its {name}",
            option_guess(fitting, _value_weights(fitting, metadata, name), clusters, len(names)),
            (),
        )
        for name in names
    ]


def _value_weights(fitting: Keyed, metadata: Metadata, name: str) -> Weigh:
    """Weigh image options by how often others with their value of an entry are right."""
    values = {
        one.question_id: [
            metadata.get(image, {}).get(name, "") for image in one.images[n_question_images(one) :]
        ]
        for one, _ in fitting
    }
    offered = Counter(value for of in values.values() for value in of)
    gold = {one.question_id: values[one.question_id][key] for one, key in fitting}
    right = Counter(gold.values())

    def weigh(question: Question) -> list[float]:
        own = values[question.question_id]
        return [
            (right[value] - (value == gold[question.question_id]))
            / max(1, offered[value] - own.count(value))
            for value in own
        ]

    return weigh


def _is_text(value: str) -> bool:
    return any(map(str.isalpha, value))


def _shape(image: StoredImage) -> str:
    ratio = image.width / max(1, image.height)
    return "wide" if ratio > 1.05 else "high" if ratio < 0.95 else "square"


def _index_names(names: Sequence[str]) -> list[int]:
    numbers = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return [numbers[name] for name in names]
