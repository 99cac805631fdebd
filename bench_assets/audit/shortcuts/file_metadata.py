"""Image files as a shortcut: their size, measures, format and metadata (EXIF, text chunks)."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    audit_check,
)
from bench_assets.audit.framework.significance import guessed
from bench_assets.audit.framework.text_normalization import keyed
from bench_assets.audit.shortcuts.answer_leaks import leaked_by
from bench_assets.audit.shortcuts.guessable_keys import (
    Keyed,
    Tried,
    Weigh,
    best_guess,
    by_category,
    learned,
    option_guess,
)
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.core.stats.paired_tests import clusters_of

_LEAST = 12  # questions
_FACTS: Mapping[str, Callable[[StoredImage], float]] = {
    "file": lambda one: one.n_bytes,
    "image": lambda one: one.width * one.height,
}

Metadata: TypeAlias = Mapping[str, Mapping[str, str]]  # by image


@audit_check("image_files", "Do sizes of images tell the answer?")
def image_files(evidence: Evidence) -> AuditFinding:
    """Guess by files: among options that are images, and from what first images have in common."""
    stored = evidence.stored
    some = [
        (one, key)
        for one, key in keyed(evidence.questions)
        if one.images and all(image in stored for image in one.images)
    ]
    if len(some) < _LEAST:
        raise SkippedCheckError(f"{len(some)} questions with options and image files")
    first = [stored[one.images[0]] for one, _ in some]
    alike = {
        "files of like size": _thirds([one.n_bytes for one in first]),
        "images of like size": _thirds([one.width * one.height for one in first]),
        "images of the same shape": _numbered([_shape(one) for one in first]),
        "images of the same measures": _numbered([f"{p.width} {p.height}" for p in first]),
        "files of the same format": _numbered([one.format for one in first]),
    }
    return best_guess([*_by_size(some, stored), *_by_groups(some, alike)], "the image files")


@audit_check("image_metadata", "Does the metadata of images tell the answer?")
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
    if len(some) < _LEAST or not tried:
        return leaked
    guess = best_guess(tried, "the metadata of images")
    return AuditFinding(
        f"{leaked.sentence} {guess.sentence}", leaked.n, [*guess.suspects, *leaked.suspects]
    )


def _by_size(some: Keyed, stored: Mapping[str, StoredImage]) -> Tried:
    """Guess the largest, the smallest, and the image like the first one or unlike it."""
    tried = []
    clusters = clusters_of([one for one, _ in some])
    for before in (0, 1):
        fitting = [(one, key) for one, key in some if _n_before(one) == before]
        if len(fitting) < _LEAST:
            continue
        parts = by_category(fitting)
        ways = {
            way: weigh
            for name, fact in _FACTS.items()
            for way, weigh in _ways(name, fact, stored, before).items()
        }
        tried += [
            (f"{way}{part}", option_guess(chosen, weigh, clusters, len(ways) * len(parts)), ())
            for part, chosen in parts.items()
            for way, weigh in ways.items()
        ]
    return tried


def _n_before(question: Question) -> int:
    """Images before those that are the options; -1 if the options are no images."""
    before = len(question.images) - len(question.options)
    return before if before in (0, 1) else -1


def _ways(
    name: str, fact: Callable[[StoredImage], float], stored: Mapping[str, StoredImage], before: int
) -> dict[str, Weigh]:
    def facts(question: Question) -> list[float]:
        return [fact(stored[image]) for image in question.images]

    def unlike(question: Question) -> list[float]:
        first, *others = facts(question)
        return [abs(one - first) for one in others]

    ways: dict[str, Weigh] = {
        f"the largest {name}": lambda q: facts(q)[before:],
        f"the smallest {name}": lambda q: [-one for one in facts(q)[before:]],
    }
    if before:
        ways[f"the {name} most unlike the first in size"] = unlike
        ways[f"the {name} most like the first in size"] = lambda q: [-one for one in unlike(q)]
    return ways


def _by_groups(some: Keyed, groups: Mapping[str, Sequence[int]]) -> Tried:
    """Guess the key of other questions of the same group, for each grouping."""
    keys = [key for _, key in some]
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    for one, key in some:
        counts[len(one.options)][key] += 1
    most = sum(max(of.values()) for of in counts.values()) / len(some)
    luck = [max(1 / len(one.options), most) for one, _ in some]
    clusters = clusters_of([one for one, _ in some])
    names = [clusters[one.question_id] for one, _ in some]
    return [
        (name, guessed(learned(keys, of), luck, names, tries=len(groups)), ())
        for name, of in groups.items()
    ]


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
            groups[f"images of like {name}"] = _thirds([ranks[value] for value in values])
    return _by_groups(some, groups)


def _among_options(some: Keyed, metadata: Metadata) -> Tried:
    """Guess, among options that are images, the value that is right most often elsewhere."""
    fitting = [(one, key) for one, key in some if _n_before(one) >= 0]
    names = dict.fromkeys(
        name for one, _ in fitting for image in one.images for name in metadata.get(image, {})
    )
    if len(fitting) < _LEAST:
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
            metadata.get(image, {}).get(name, "") for image in one.images[_n_before(one) :]
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


def _thirds(values: Sequence[float]) -> list[int]:
    edges = np.quantile(np.asarray(values, float), [1 / 3, 2 / 3])
    return [int(np.searchsorted(edges, value)) for value in values]


def _shape(image: StoredImage) -> str:
    ratio = image.width / max(1, image.height)
    return "wide" if ratio > 1.05 else "high" if ratio < 0.95 else "square"


def _numbered(names: Sequence[str]) -> list[int]:
    numbers = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return [numbers[name] for name in names]
