"""The threshold of the Recognition Score belongs to the encoder that it cuts.

0.6 is the paper's, for all-mpnet-base-v2 (section 3.2); another encoder spreads its cosines
otherwise. So it is chosen on ``entity_pairs.txt``, a list of entities and nouns that name them or
do not: the lowest cosine that lets at most one in twenty wrong nouns through, on one half of the
pairs. A description has many nouns, each of which may be taken for something that it is not.
Recall and false positives are reported on the other half.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.schema.chat import TextEncoder

MAX_FALSE_POSITIVES = 0.05  # of the nouns that name something else
_PAIRS = Path(__file__).with_name("entity_pairs.txt")
KNOWN = {("all-MiniLM-L6-v2@sha256:1796dd706fccb36d", "90af9910"): 0.6604}
"""By encoder and digest of the pairs; others are chosen when they are used, which takes seconds."""


class EntityPair(NamedTuple):
    """An annotated entity, a noun of a description, and whether the noun names the entity."""

    entity: str
    noun: str
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A threshold, and how it does on pairs that it was not chosen on."""

    threshold: float  # a cosine above it recognises
    recall: float  # share of the nouns that name their entity and are recognised
    false_positives: float  # share of the nouns that do not and are recognised all the same
    n_chosen_on: int
    n_tested_on: int


@cache
def entity_pairs() -> tuple[EntityPair, ...]:
    """Read the list that ships, in order."""
    rows = []
    for line in _PAIRS.read_text(encoding="utf-8").splitlines():
        if line[:1] in ("+", "-"):
            entity, _, nouns = line[2:].partition(": ")
            rows += [EntityPair(entity, noun, line[0] == "+") for noun in nouns.split()]
    return tuple(rows)


def threshold_of(encoder: TextEncoder) -> tuple[float, str]:
    """The threshold of an encoder and where it comes from; chosen anew if it is not a known one."""
    digest = sha256(_PAIRS.read_bytes()).hexdigest()[:8]
    known = KNOWN.get((encoder.name, digest))
    threshold = choose_threshold(encoder).threshold if known is None else known
    return threshold, f"{threshold:.4f} by pairs:{digest}"


def choose_threshold(encoder: TextEncoder) -> Chosen:
    """Choose the threshold of an encoder on the pairs with even numbers."""
    pairs = entity_pairs()
    entities = encoder.encode_texts([pair.entity for pair in pairs])
    nouns = encoder.encode_texts([pair.noun for pair in pairs])
    cosines = [float(cosine) for cosine in (entities * nouns).sum(axis=1)]
    labelled = list(zip(cosines, [pair.same for pair in pairs], strict=True))
    threshold = best_cut(labelled[::2])
    tested = labelled[1::2]
    return Chosen(
        threshold=threshold,
        recall=_share(tested, threshold, same=True),
        false_positives=_share(tested, threshold, same=False),
        n_chosen_on=len(labelled[::2]),
        n_tested_on=len(tested),
    )


def best_cut(labelled: Sequence[tuple[float, bool]]) -> float:
    """Find the lowest cut, half-way between two cosines, that few wrong pairs are above.

    >>> best_cut([(0.25, False), (0.5, False), (0.75, True)])
    0.625
    """
    cosines = sorted({cosine for cosine, _ in labelled})
    cuts = [(low + high) / 2 for low, high in pairwise(cosines)]
    return next(cut for cut in cuts if _share(labelled, cut, same=False) <= MAX_FALSE_POSITIVES)


def _share(labelled: Sequence[tuple[float, bool]], threshold: float, *, same: bool) -> float:
    found = [cosine > threshold for cosine, is_same in labelled if is_same is same]
    return sum(found) / len(found)
