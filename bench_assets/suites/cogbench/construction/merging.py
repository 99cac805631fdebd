"""Merges annotations of an image by majority vote (section 2.2).

Equal and near-equal items are merged. An item of two annotators is accepted; an item of one waits
for a review, listed with its nearest items.

The cosine of two sentences hardly encodes who does what to whom: "The dog chases the cat" and its
reverse have 0.98. So conclusions of chains are compared apart from their premises, and close items
are merged only without a contradiction: a denial, an opposite, another number, exchanged roles, or
one word replaced by another of a different meaning.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, groupby
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.core.schema.chat import TextEncoder, Vectors
from bench_assets.core.tables.build import Table
from bench_assets.suites.cogbench.construction.annotation_files import (
    DESCRIPTION,
    ENTITIES,
    FIELDS,
    AnnotatedItem,
    Name,
    Review,
    decisions,
    ineffective_reviews,
    merged_pairs,
    review_key,
)
from bench_assets.suites.cogbench.construction.selection import normalize_text
from bench_assets.suites.cogbench.dataset.reasoning import (
    EVENT_RELATIONSHIP,
    content_words,
    read_chain,
)

MIN_WORD_COSINE = (
    0.75  # least cosine of a word and the one that replaces it; boy and girl have 0.62
)
_MIN_PREMISE_COSINE = 0.3  # least cosine of the premises of chains with one conclusion
_DENIALS = re.compile(r"\b(?:not|no|never|nobody|nothing|without|cannot|unable)\b|n['’]t\b")
_NUMBERS = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third)\b"
)
_SYMMETRIC = re.compile(r"\b(?:and|by|each other|together)\b")
_OPPOSITES = tuple(
    tuple(frozenset(side.split()) for side in pair.split("|"))
    for pair in (
        "give gives giving hand hands offer offers|take takes taking steal steals grab grabs",
        "open opens opening|close closes closing shut shuts",
        "enter enters arrive arrives come comes coming|leave leaves leaving go goes depart departs",
        "up rise rises climb climbs|down fall falls descend descends sink sinks",
        "push pushes|pull pulls",
        "buy buys|sell sells",
        "win wins won|lose loses lost",
        "start starts begin begins|end ends stop stops finish finishes",
        "before|after",
        "in inside|out outside",
        "happy glad joyful pleased|sad unhappy angry upset",
        "calm relaxed|angry nervous worried afraid frightened",
        "friend friends|stranger strangers enemy enemies",
        "asleep sleeping sleeps|awake waking wakes",
        "alive|dead",
        "old|young",
        "man men boy boys father son brother husband|"
        "woman women girl girls mother daughter sister wife",
        "summer|winter",
        "morning|evening night",
        "hot warm|cold cool",
        "safe|dangerous",
    )
)


class ItemSimilarity(NamedTuple):
    """Similarity of two items, and the objection to merging them."""

    cosine: float  # of entities, or of the conclusions of chains
    objection: str  # "" if nothing speaks against merging them

    @property
    def merge_cosine(self) -> float:
        """The cosine if the two items may be merged; else -1."""
        return -1.0 if self.objection else self.cosine


class SimilarityIndex:
    """Similarity of items; every text is embedded once."""

    def __init__(self, items: Sequence[AnnotatedItem], encoder: TextEncoder) -> None:
        """Embed all texts of the items."""
        texts = [part for item in items for part in _parts(item)]
        texts += [word for item in items for word in _words(_parts(item)[-1])]
        distinct = list(dict.fromkeys(texts))
        self._vectors: Mapping[str, Vectors] = dict(
            zip(distinct, encoder.encode_texts(distinct), strict=True)
        )

    def compare(self, one: AnnotatedItem, other: AnnotatedItem) -> ItemSimilarity:
        """Compare two items of one section of an image."""
        if normalize_text(one.text) == normalize_text(other.text):
            return ItemSimilarity(1.0, "")
        (*clues, first), (*other_clues, second) = _parts(one), _parts(other)
        cosine = self._cosine(first, second)
        if objection := self._objection(first, second):
            return ItemSimilarity(cosine, objection)
        if not clues or not other_clues:
            return ItemSimilarity(cosine, "")
        return ItemSimilarity(cosine, self._premise_objection(one.field, clues[0], other_clues[0]))

    def _objection(self, one: str, other: str) -> str:
        if objection := contradiction(one, other):
            return objection
        words, other_words = _words(one), _words(other)
        removed, added = (
            sorted(set(a) - set(b)) for a, b in ((words, other_words), (other_words, words))
        )
        one_replaced = len(removed) == len(added) == 1 and len(words) > 1
        if one_replaced and self._cosine(removed[0], added[0]) < MIN_WORD_COSINE:
            return f"{removed[0]!r} replaced by {added[0]!r}"
        return ""

    def _premise_objection(self, field: str, clues: str, others: str) -> str:
        """Whether premises differ: event relationships need equal ones, others related ones."""
        if field != EVENT_RELATIONSHIP.field:
            related = self._cosine(clues, others) >= _MIN_PREMISE_COSINE
            return "" if related else "other premises"
        return contradiction(clues, others) or (
            "" if self._cosine(clues, others) >= MIN_WORD_COSINE else "other causes"
        )

    def _cosine(self, one: str, other: str) -> float:
        return float(np.dot(self._vectors[one], self._vectors[other]))


@lru_cache(maxsize=1 << 16)  # the same nouns and entities are compared for every model
def contradiction(one: str, other: str) -> str:
    """Name the contradiction between two texts; "" without one.

    >>> contradiction("The dog chases the cat.", "The cat chases the dog.")
    'the roles are exchanged'
    >>> contradiction("She gives her a flower.", "She takes it away.")
    'one says the opposite'
    """
    texts = one.casefold(), other.casefold()
    denials, numbers = (
        [pattern.findall(text) for text in texts] for pattern in (_DENIALS, _NUMBERS)
    )
    if len(denials[0]) % 2 != len(denials[1]) % 2:
        return "one denies"
    if all(numbers) and sorted(numbers[0]) != sorted(numbers[1]):
        return "other numbers"
    one_words, other_words = (set(re.findall(r"\w+", text)) for text in texts)
    if any(
        _are_opposed(one_words - other_words, other_words - one_words, *pair) for pair in _OPPOSITES
    ):
        return "one says the opposite"
    return "the roles are exchanged" if _is_role_swap(*texts) else ""


def _are_opposed(
    words: set[str], other_words: set[str], side: frozenset[str], other: frozenset[str]
) -> bool:
    return bool((words & side and other_words & other) or (words & other and other_words & side))


def _is_role_swap(one: str, other: str) -> bool:
    """Whether two texts name the same participants in reversed order."""
    if any(_SYMMETRIC.search(text) for text in (one, other)):
        return False
    words, other_words = _words(one), _words(other)
    if not words or not other_words or words[0] == other_words[0]:
        return False
    return words[0] in other_words and other_words[0] in words


@lru_cache(maxsize=4096)  # every text is compared with many others
def _words(text: str) -> tuple[str, ...]:
    """The stems of the content words, in the order of the text."""
    stems = (content_words(word) for word in re.findall(r"\w+", text))
    return tuple(dict.fromkeys(stem for word_stems in stems for stem in word_stems))


def _parts(item: AnnotatedItem) -> list[str]:
    """Compared parts: an entity, or a chain's premises and its conclusion."""
    chain = item.text if item.field == ENTITIES else read_chain(item.text)
    return [item.text] if isinstance(chain, str) else [" ".join(chain.premises), chain.conclusion]


Outcome: TypeAlias = Literal["accepted", "rejected", "waiting"]

_MIN_ANNOTATORS = 2  # annotators who have to give an item


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedItem:
    """An entity or chain of an image, as one or more annotators gave it."""

    image: str
    field: str
    text: str  # the variant that is closest to the others
    variants: tuple[str, ...]  # all, in the order of the annotators
    annotators: tuple[str, ...]  # who gave it
    outcome: Outcome
    reason: str
    near: tuple[str, ...] = ()  # near items for the reviewer: cosine, text and objection


def merge_items(
    items: Sequence[AnnotatedItem],
    reviews: Sequence[Review],
    encoder: TextEncoder,
    similarity: float,
    near: float = 0.5,
) -> Table[MergedItem]:
    """Merge entities and chains, by image and section; reviews without effect are rejected.

    Args:
        items: As annotated.
        reviews: Decisions of reviewers.
        encoder: Embeds the items.
        similarity: Least cosine of items that are merged.
        near: Least cosine of items listed as near.
    """
    ordered = sorted((item for item in items if item.field != DESCRIPTION), key=_section_key)
    comparison = SimilarityIndex(ordered, encoder)
    decided_on = decisions(reviews)
    reviewed_pairs = merged_pairs(reviews)
    merged: list[MergedItem] = []
    for _, group in groupby(ordered, key=_section_key):
        section_items = list(group)
        links = _Links(section_items, comparison, reviewed_pairs, near)
        clusters = _clusters(section_items, links.cosines, similarity, links.joined())
        for cluster in clusters:
            names = {review_key(section_items[number]) for number in cluster}
            verdicts = {decided_on[name] for name in names & decided_on.keys()}
            accept = verdicts.pop() if len(verdicts) == 1 else None
            merged.append(_merge_cluster(section_items, cluster, links, accept))
    return Table(merged, ineffective_reviews(reviews, items))


def _section_key(item: AnnotatedItem) -> tuple[str, int]:
    return item.image, FIELDS.index(item.field)


class _Links:
    """Links between the items of one section of an image."""

    def __init__(
        self,
        items: Sequence[AnnotatedItem],
        comparison: SimilarityIndex,
        joined: Collection[frozenset[Name]],
        near: float,
    ) -> None:
        self._items, self._joined, self._near = items, joined, near
        self._likeness = [
            [comparison.compare(item, other_item) for other_item in items] for item in items
        ]
        self.cosines = np.array(
            [[likeness.merge_cosine for likeness in row] for row in self._likeness]
        )

    def joined(self) -> list[tuple[int, int]]:
        """Pairs that a review merges."""
        names = [review_key(item) for item in self._items]
        pairs = combinations(range(len(names)), 2)
        return [(i, j) for i, j in pairs if frozenset((names[i], names[j])) in self._joined]

    def near(self, cluster: Sequence[int]) -> tuple[str, ...]:
        """Items near a cluster, the closest first."""
        cosines = {
            (max(self._likeness[i][j].cosine for i in cluster), self._items[j].text): reason
            for j in range(len(self._items))
            if j not in cluster
            for reason in [self._likeness[cluster[0]][j].objection]
        }
        return tuple(
            f"{cosine:.2f} {text}" + (f" ({reason})" if reason else "")
            for (cosine, text), reason in sorted(cosines.items(), reverse=True)
            if cosine >= self._near
        )


def _clusters(
    items: Sequence[AnnotatedItem],
    cosines: npt.NDArray[np.float64],
    similarity: float,
    joined: Sequence[tuple[int, int]],
) -> list[tuple[int, ...]]:
    """Join the closest clusters while all their members are close (complete linkage).

    Two different items of one annotator stay apart unless a review merges them.
    """
    clusters = _merge_pairs(_cluster_equal(items), joined)
    while True:
        close = [
            (min(float(cosines[i, j]) for i in combination for j in other), -n, combination, other)
            for n, (combination, other) in enumerate(combinations(clusters, 2))
            if not {items[i].annotator for i in combination} & {items[j].annotator for j in other}
        ]
        if not close or max(close)[0] < similarity:
            return sorted(clusters)
        *_, first, second = max(close)
        clusters = [c for c in clusters if c not in (first, second)]
        clusters.append(tuple(sorted(first + second)))


def _cluster_equal(items: Sequence[AnnotatedItem]) -> list[tuple[int, ...]]:
    by_text: dict[str, tuple[int, ...]] = {}
    for number, item in enumerate(items):
        by_text[normalize_text(item.text)] = (*by_text.get(normalize_text(item.text), ()), number)
    return list(by_text.values())


def _merge_pairs(
    clusters: list[tuple[int, ...]], pairs: Sequence[tuple[int, int]]
) -> list[tuple[int, ...]]:
    for pair in pairs:
        first, second = (next(c for c in clusters if number in c) for number in pair)
        if first != second:
            clusters = [c for c in clusters if c not in (first, second)]
            clusters.append(tuple(sorted(first + second)))
    return sorted(clusters)


def _merge_cluster(
    items: Sequence[AnnotatedItem], cluster: Sequence[int], links: _Links, accept: bool | None
) -> MergedItem:
    members = [items[number] for number in cluster]
    annotators = tuple(dict.fromkeys(member.annotator for member in members))
    outcome: Outcome = "accepted" if len(annotators) >= _MIN_ANNOTATORS else "waiting"
    if accept is not None:
        outcome = "accepted" if accept else "rejected"
    closest = links.cosines[np.ix_(cluster, cluster)].sum(axis=1).argmax()
    return MergedItem(
        image=members[0].image,
        field=members[0].field,
        text=members[int(closest)].text,
        variants=tuple(member.text for member in members),
        annotators=annotators,
        outcome=outcome,
        reason=f"given by {len(annotators)}" + ("" if accept is None else ", decided by review"),
        near=links.near(cluster) if outcome == "waiting" else (),
    )
