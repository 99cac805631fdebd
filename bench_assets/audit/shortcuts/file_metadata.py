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
from bench_assets.audit.framework.text_normalization import keyed
from bench_assets.audit.shortcuts.answer_leaks import leaked_by
from bench_assets.audit.shortcuts.guessable_keys import (
    Keyed,
    Tried,
    Weigh,
    best_guess,
    option_guess,
)
from bench_assets.audit.shortcuts.image_cues import LEAST, by_groups, cue_guesses, n_before, thirds
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.core.stats.paired_tests import clusters_of

Metadata: TypeAlias = Mapping[str, Mapping[str, str]]  # by image


@audit_check("image_files", "Do sizes or formats of image files reveal the answer?")
def image_files(evidence: Evidence) -> AuditFinding:
    """Guess the key from file properties of image options, and of the first image."""
    stored = evidence.stored
    some = _with_images(evidence, stored)
    first = [stored[one.images[0]] for one, _ in some]
    alike = {
        "images of the same shape": _numbered([_shape(one) for one in first]),
        "images of the same measures": _numbered([f"{p.width} {p.height}" for p in first]),
        "files of the same format": _numbered([one.format for one in first]),
    }
    facts = {
        "file size": {name: float(one.n_bytes) for name, one in stored.items()},
        "image area": {name: float(one.width * one.height) for name, one in stored.items()},
    }
    guesses = [*cue_guesses(evidence.questions, facts), *by_groups(some, alike)]
    if not guesses:
        raise SkippedCheckError("all image files are alike")
    return best_guess(guesses, "a property of the image files")


@audit_check("image_statistics", "Does image brightness, contrast or sharpness reveal the answer?")
def image_statistics(evidence: Evidence) -> AuditFinding:
    """Guess the key from pixel statistics."""
    shown = list(dict.fromkeys(image for one in evidence.questions for image in one.images))
    measured = evidence.statistics(shown)
    facts = {
        name: {image: float(getattr(of, name)) for image, of in measured.items()}
        for name in ("brightness", "contrast", "sharpness")
    }
    guesses = cue_guesses(evidence.questions, facts)
    if not guesses:
        raise SkippedCheckError(f"fewer than {LEAST} questions with images and answers to guess")
    return best_guess(guesses, "a statistic of the images")


def _with_images(evidence: Evidence, known: Container[str]) -> Keyed:
    some = [
        (one, key)
        for one, key in keyed(evidence.questions)
        if one.images and all(image in known for image in one.images)
    ]
    if len(some) < LEAST:
        raise SkippedCheckError(f"{len(some)} questions with options and image files")
    return some


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
    leaked = leaked_by(questions, texts, "the metadata of an image")
    some = [(one, key) for one, key in keyed(questions) if one.images]
    tried = [*_by_entries(some, metadata), *_among_options(some, metadata)]
    if len(some) < LEAST or not tried:
        return leaked
    guess = best_guess(tried, "the metadata of images")
    return AuditFinding(
        f"{leaked.sentence} {guess.sentence}", leaked.n, [*guess.suspects, *leaked.suspects]
    )


def _by_entries(some: Keyed, metadata: Metadata) -> Tried:
    """Group questions by each metadata entry of their first image, and by its order."""
    if not some:
        return []
    first = [metadata.get(one.images[0], {}) for one, _ in some]
    names = dict.fromkeys(name for one in first for name in one)
    groups = {}
    for name in names:
        values = [one.get(name, "") for one in first]
        groups[f"images of the same {name}"] = _numbered(values)
        ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
        if len(ranks) > len(some) / 2:
            groups[f"images of like {name}"] = thirds([ranks[value] for value in values])
    return by_groups(some, groups)


def _among_options(some: Keyed, metadata: Metadata) -> Tried:
    """Guess, among options that are images, the value that is right most often elsewhere."""
    fitting = [(one, key) for one, key in some if n_before(one) >= 0]
    names = dict.fromkeys(
        name for one, _ in fitting for image in one.images for name in metadata.get(image, {})
    )
    if len(fitting) < LEAST:
        return []
    clusters = clusters_of([one for one, _ in fitting])
    return [
        (
            f"the image by its {name}",
            option_guess(fitting, _by_value(fitting, metadata, name), clusters, len(names)),
            (),
        )
        for name in names
    ]


def _by_value(fitting: Keyed, metadata: Metadata, name: str) -> Weigh:
    """Weigh image options by how often others with their value of an entry are right."""
    values = {
        one.question_id: [
            metadata.get(image, {}).get(name, "") for image in one.images[n_before(one) :]
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


def _numbered(names: Sequence[str]) -> list[int]:
    numbers = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return [numbers[name] for name in names]
