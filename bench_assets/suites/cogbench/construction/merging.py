"""Merges annotations of an image by majority vote (section 2.2).

Equal and near-equal items are merged. An item of two annotators is accepted; an item of one waits
for a review, listed with its nearest items.

The cosine of two sentences hardly encodes who does what to whom: "The dog chases the cat" and its
reverse have 0.98. So conclusions of chains are compared apart from their premises, and close items
are merged only without a contradiction: a denial, an opposite, another number, exchanged roles, or
one word replaced by another of a different meaning.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, groupby
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from bench_assets.core.schema.chat import TextEncoder, Vectors
from bench_assets.core.tables.build import Table
from bench_assets.suites.cogbench.construction.annotation_files import (
    DESCRIPTION,
    ENTITIES,
    FIELDS,
    AnnotatedItem,
    ItemKey,
    Review,
    decisions,
    ineffective_reviews,
    merged_pairs,
)
from bench_assets.suites.cogbench.construction.selection import normalize_text
from bench_assets.suites.cogbench.dataset.reasoning import (
    EVENT_RELATIONSHIP,
    content_words,
    read_chain,
)

MIN_WORD_COSINE = 0.75  # minimum cosine of a word and its replacement; "boy" and "girl" have 0.62
_MIN_PREMISE_COSINE = 0.3  # cosine of the premises of chains with one conclusion, at least
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
        compared = [_compared_texts(item) for item in items]
        texts = [text for item_texts in compared for text in item_texts if text]
        texts += [word for item_texts in compared for word in _words(item_texts.conclusion)]
        distinct = list(dict.fromkeys(texts))
        self._vectors: Mapping[str, Vectors] = dict(
            zip(distinct, encoder.encode_texts(distinct), strict=True)
        )

    def compare(self, first: AnnotatedItem, second: AnnotatedItem) -> ItemSimilarity:
        """Compare two items of one section of an image."""
        if normalize_text(first.text) == normalize_text(second.text):
            return ItemSimilarity(1.0, "")
        premises, conclusion = _compared_texts(first)
        other_premises, other_conclusion = _compared_texts(second)
        objection = self._objection(conclusion, other_conclusion)
        if not objection and premises and other_premises:
            objection = self._premise_objection(first.field, premises, other_premises)
        return ItemSimilarity(self._cosine(conclusion, other_conclusion), objection)

    def _objection(self, first: str, second: str) -> str:
        """The contradiction between two texts, or their one different word; "" without either."""
        objection = contradiction(first, second)
        if objection:
            return objection
        words, other_words = _words(first), _words(second)
        removed = [word for word in words if word not in other_words]
        added = [word for word in other_words if word not in words]
        is_one_word_replaced = len(removed) == len(added) == 1 and len(words) > 1
        if is_one_word_replaced and self._cosine(removed[0], added[0]) < MIN_WORD_COSINE:
            return f"{removed[0]!r} replaced by {added[0]!r}"
        return ""

    def _premise_objection(self, field: str, premises: str, other_premises: str) -> str:
        """The objection to different premises; "" if there is none.

        Premises of event relationships have to mean the same, others only to be related.
        """
        cosine = self._cosine(premises, other_premises)
        if field != EVENT_RELATIONSHIP.field:
            return "" if cosine >= _MIN_PREMISE_COSINE else "other premises"
        objection = contradiction(premises, other_premises)
        if not objection and cosine < MIN_WORD_COSINE:
            return "other causes"
        return objection

    def _cosine(self, first: str, second: str) -> float:
        return float(np.dot(self._vectors[first], self._vectors[second]))


@lru_cache(maxsize=1 << 16)  # the same nouns and entities are compared for every model
def contradiction(first: str, second: str) -> str:
    """Name the contradiction between two texts; "" without one.

    >>> contradiction("The dog chases the cat.", "The cat chases the dog.")
    'the roles are exchanged'
    >>> contradiction("She gives her a flower.", "She takes it away.")
    'one says the opposite'
    """
    texts = first.casefold(), second.casefold()
    # A double denial affirms.
    denies, other_denies = (len(_DENIALS.findall(text)) % 2 for text in texts)
    if denies != other_denies:
        return "one denies"
    numbers, other_numbers = (sorted(_NUMBERS.findall(text)) for text in texts)
    if numbers and other_numbers and numbers != other_numbers:
        return "other numbers"
    words, other_words = (set(re.findall(r"\w+", text)) for text in texts)
    removed, added = words - other_words, other_words - words
    if any(_are_opposed(removed, added, side, opposite) for side, opposite in _OPPOSITES):
        return "one says the opposite"
    return "the roles are exchanged" if _is_role_swap(*texts) else ""


def _are_opposed(
    words: set[str], other_words: set[str], side: frozenset[str], opposite: frozenset[str]
) -> bool:
    return bool(
        (words & side and other_words & opposite) or (words & opposite and other_words & side)
    )


def _is_role_swap(first: str, second: str) -> bool:
    """Whether each text has the other one's first content word, but not at its beginning."""
    if _SYMMETRIC.search(first) or _SYMMETRIC.search(second):
        return False
    words, other_words = _words(first), _words(second)
    if not words or not other_words or words[0] == other_words[0]:
        return False
    return words[0] in other_words and other_words[0] in words


@lru_cache(maxsize=4096)  # every text is compared with many others
def _words(text: str) -> tuple[str, ...]:
    """The stems of the content words, in the order of the text."""
    words = re.findall(r"\w+", text)
    return tuple(dict.fromkeys(stem for word in words for stem in content_words(word)))


class _ComparedTexts(NamedTuple):
    """The texts of an item that are compared."""

    premises: str  # of a chain, joined; "" for an entity
    conclusion: str  # of a chain, or an entity


def _compared_texts(item: AnnotatedItem) -> _ComparedTexts:
    whole_text = _ComparedTexts(premises="", conclusion=item.text)
    if item.field == ENTITIES:
        return whole_text
    chain = read_chain(item.text)
    if isinstance(chain, str):  # a format error
        return whole_text
    return _ComparedTexts(premises=" ".join(chain.premises), conclusion=chain.conclusion)


Outcome: TypeAlias = Literal["accepted", "rejected", "waiting"]

_Cluster: TypeAlias = tuple[int, ...]
"""Indices of the items of a section that are merged."""

_MIN_ANNOTATORS = 2  # annotators who have to give an item for it to be accepted


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
    near: tuple[str, ...] = ()  # texts of near items for the reviewer, the closest first
    near_notes: tuple[str, ...] = ()  # cosine of each, and the objection; () for descriptions


def merge_items(
    items: Sequence[AnnotatedItem],
    reviews: Sequence[Review],
    encoder: TextEncoder,
    *,
    same_item: float,
    near_item: float,
) -> Table[MergedItem]:
    """Merge entities and chains, by image and section; reviews without effect are rejected.

    Args:
        items: As annotated.
        reviews: Decisions of reviewers.
        encoder: Embeds the items.
        same_item: Least cosine of items that are merged.
        near_item: Least cosine of items listed as near.
    """
    ordered = sorted((item for item in items if item.field != DESCRIPTION), key=_section_key)
    similarities = SimilarityIndex(ordered, encoder)
    decided = decisions(reviews)
    reviewed_pairs = merged_pairs(reviews)
    merged: list[MergedItem] = []
    for _, group in groupby(ordered, key=_section_key):
        section_items = list(group)
        links = _Links(section_items, similarities, reviewed_pairs, near_item)
        for cluster in _clusters(section_items, links, same_item):
            keys = {section_items[index].key for index in cluster}
            verdicts = {decided[key] for key in keys & decided.keys()}
            accept = verdicts.pop() if len(verdicts) == 1 else None
            merged.append(_merge_cluster(section_items, cluster, links, accept))
    return Table(merged, ineffective_reviews(reviews, items))


def _section_key(item: AnnotatedItem) -> tuple[str, int]:
    return item.image, FIELDS.index(item.field)


class _NearItem(NamedTuple):
    """An item that is similar to a waiting one."""

    text: str
    note: str  # cosine, and the objection in brackets


class _Links:
    """Links between the items of one section of an image."""

    def __init__(
        self,
        items: Sequence[AnnotatedItem],
        similarities: SimilarityIndex,
        reviewed_pairs: Collection[frozenset[ItemKey]],
        min_near_cosine: float,
    ) -> None:
        self._items = items
        self._reviewed_pairs = reviewed_pairs
        self._min_near_cosine = min_near_cosine
        self._similarities = [
            [similarities.compare(item, other_item) for other_item in items] for item in items
        ]
        self.cosines = np.array(
            [[similarity.merge_cosine for similarity in row] for row in self._similarities]
        )

    def joined_pairs(self) -> list[tuple[int, int]]:
        """Indices of each two items that a review merges."""
        keys = [item.key for item in self._items]
        pairs = combinations(range(len(keys)), 2)
        return [(i, j) for i, j in pairs if frozenset((keys[i], keys[j])) in self._reviewed_pairs]

    def near_items(self, cluster: _Cluster) -> list[_NearItem]:
        """Items near a cluster, the closest first.

        A note has the highest cosine with a member, and the objection to merging with the first.
        """
        objections: dict[tuple[float, str], str] = {}
        for index, item in enumerate(self._items):
            cosine = max(self._similarities[member][index].cosine for member in cluster)
            if index not in cluster and cosine >= self._min_near_cosine:
                objections[cosine, item.text] = self._similarities[cluster[0]][index].objection
        return [
            _NearItem(text=text, note=f"{cosine:.2f}" + (f" ({objection})" if objection else ""))
            for (cosine, text), objection in sorted(objections.items(), reverse=True)
        ]


def _clusters(items: Sequence[AnnotatedItem], links: _Links, same_item: float) -> list[_Cluster]:
    """Join the closest clusters while all their members are close (complete linkage).

    Two different items of one annotator stay apart unless a review merges them.
    """
    clusters = _equal_clusters(items)
    for first_index, second_index in links.joined_pairs():
        first = next(cluster for cluster in clusters if first_index in cluster)
        second = next(cluster for cluster in clusters if second_index in cluster)
        if first != second:
            clusters = _join(clusters, first, second)
    clusters.sort()
    while True:
        pairs = [
            (first, second)
            for first, second in combinations(clusters, 2)
            if _annotators(items, first).isdisjoint(_annotators(items, second))
        ]
        # Of equally close pairs, the first is joined.
        closest = max(pairs, key=lambda pair: _lowest_cosine(links, *pair), default=None)
        if closest is None or _lowest_cosine(links, *closest) < same_item:
            return sorted(clusters)
        clusters = _join(clusters, *closest)


def _equal_clusters(items: Sequence[AnnotatedItem]) -> list[_Cluster]:
    indices: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(items):
        indices[normalize_text(item.text)].append(index)
    return [tuple(cluster) for cluster in indices.values()]


def _join(clusters: Sequence[_Cluster], first: _Cluster, second: _Cluster) -> list[_Cluster]:
    """Replace two clusters by one of all their members, at the end."""
    kept = [cluster for cluster in clusters if cluster not in (first, second)]
    return [*kept, tuple(sorted(first + second))]


def _lowest_cosine(links: _Links, first: _Cluster, second: _Cluster) -> float:
    return float(links.cosines[np.ix_(first, second)].min())


def _annotators(items: Sequence[AnnotatedItem], cluster: _Cluster) -> set[str]:
    return {items[index].annotator for index in cluster}


def _merge_cluster(
    items: Sequence[AnnotatedItem], cluster: _Cluster, links: _Links, accept: bool | None
) -> MergedItem:
    """Make an item of a cluster; ``accept`` is the decision of its reviews, None without one."""
    members = [items[index] for index in cluster]
    annotators = tuple(dict.fromkeys(member.annotator for member in members))
    outcome: Outcome = "accepted" if len(annotators) >= _MIN_ANNOTATORS else "waiting"
    if accept is not None:
        outcome = "accepted" if accept else "rejected"
    closest = int(links.cosines[np.ix_(cluster, cluster)].sum(axis=1).argmax())
    near_items = links.near_items(cluster) if outcome == "waiting" else []
    return MergedItem(
        image=members[0].image,
        field=members[0].field,
        text=members[closest].text,
        variants=tuple(member.text for member in members),
        annotators=annotators,
        outcome=outcome,
        reason=f"given by {len(annotators)}" + ("" if accept is None else ", decided by review"),
        near=tuple(near_item.text for near_item in near_items),
        near_notes=tuple(near_item.note for near_item in near_items),
    )
