"""Whether the files of the images tell the key: their sizes, their measures, their format."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.audit.framework.findings import AuditFinding
from bench_assets.audit.framework.significance import guessed
from bench_assets.audit.framework.text_normalization import keyed
from bench_assets.audit.shortcuts.guessable_keys import (
    Keyed,
    Tried,
    by_category,
    learned,
    option_guess,
    told,
)
from bench_assets.core.schema.rows import Question, StoredImage
from bench_assets.core.stats.paired_tests import clusters_of

_LEAST = 12  # questions
_Fact: TypeAlias = Callable[[StoredImage], float]

_FACTS: Mapping[str, _Fact] = {
    "file": lambda one: one.n_bytes,
    "image": lambda one: one.width * one.height,
}


def image_files(evidence: Evidence) -> AuditFinding:
    """Guess by files: among options that are images, and from what files have in common."""
    stored = evidence.stored
    some = [
        (one, key)
        for one, key in keyed(evidence.questions)
        if one.images and all(image in stored for image in one.images)
    ]
    if len(some) < _LEAST:
        return AuditFinding.not_looked_at(f"{len(some)} questions with options and files of images")
    return told([*_among(some, stored), *_by_facts(some, stored)], "what the image files are")


def _among(some: Keyed, stored: Mapping[str, StoredImage]) -> Tried:
    """Guess the largest, the smallest, and the image like the first one or unlike it."""
    tried = []
    clusters = clusters_of([one for one, _ in some])
    for before in (0, 1):
        fitting = [(one, key) for one, key in some if _n_before(one) == before]
        if len(fitting) < _LEAST:
            continue
        parts = by_category(fitting)
        for name, fact in _FACTS.items():
            ways = _ways(name, fact, stored, before)
            tries = len(_FACTS) * len(ways) * len(parts)
            tried += [
                (f"{way}{part}", option_guess(chosen, weigh, clusters, tries), ())
                for part, chosen in parts.items()
                for way, weigh in ways.items()
            ]
    return tried


def _n_before(question: Question) -> int:
    """Images before those that are the options; -1 where options are no images."""
    before = len(question.images) - len(question.options)
    return before if before in (0, 1) else -1


def _ways(
    name: str, fact: _Fact, stored: Mapping[str, StoredImage], before: int
) -> dict[str, Callable[[Question], Sequence[float]]]:
    def facts(question: Question) -> list[float]:
        return [fact(stored[image]) for image in question.images]

    def unlike(question: Question) -> list[float]:
        first, *others = facts(question)
        return [abs(one - first) for one in others]

    ways: dict[str, Callable[[Question], Sequence[float]]] = {
        f"the largest {name}": lambda q: facts(q)[before:],
        f"the smallest {name}": lambda q: [-one for one in facts(q)[before:]],
    }
    if before:
        ways[f"the {name} most unlike the first in size"] = unlike
        ways[f"the {name} most like the first in size"] = lambda q: [-one for one in unlike(q)]
    return ways


def _by_facts(some: Keyed, stored: Mapping[str, StoredImage]) -> Tried:
    """Guess what is right of other questions whose first image is like this one."""
    first = [stored[one.images[0]] for one, _ in some]
    keys = [key for _, key in some]
    luck = _luck(some)
    clusters = clusters_of([one for one, _ in some])
    names = [clusters[one.question_id] for one, _ in some]
    alike = {
        "files of like size": _thirds([one.n_bytes for one in first]),
        "images of like size": _thirds([one.width * one.height for one in first]),
        "images of the same shape": _numbered([_shape(one) for one in first]),
        "images of the same measures": _numbered([f"{p.width} {p.height}" for p in first]),
        "files of the same format": _numbered([one.format for one in first]),
    }
    return [
        (name, guessed(learned(keys, groups), luck, names, tries=len(alike)), ())
        for name, groups in alike.items()
    ]


def _luck(some: Keyed) -> list[float]:
    """The better of a random option and of the most frequent one among as many."""
    counts: dict[int, Counter[int]] = defaultdict(Counter)
    for one, key in some:
        counts[len(one.options)][key] += 1
    most = sum(max(of.values()) for of in counts.values()) / len(some)
    return [max(1 / len(one.options), most) for one, _ in some]


def _thirds(values: Sequence[float]) -> list[int]:
    edges = np.quantile(np.asarray(values, float), [1 / 3, 2 / 3])
    return [int(np.searchsorted(edges, value)) for value in values]


def _shape(image: StoredImage) -> str:
    ratio = image.width / max(1, image.height)
    return "wide" if ratio > 1.05 else "high" if ratio < 0.95 else "square"


def _numbered(names: Sequence[str]) -> list[int]:
    numbers = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return [numbers[name] for name in names]
