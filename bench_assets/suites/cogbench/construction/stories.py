"""Stories and chains of merged annotations, and the funnel of the dataset build (section 2.2).

An image is dropped unless two annotators understand it alike; of their descriptions, the one that
mentions most accepted items is kept. In the paper people decide; here cosines decide whether two
descriptions tell one story, and shared words whether an item is mentioned. A review of a
description overrules both.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from bench_assets.core.schema.chat import TextEncoder, Vectors
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import FunnelStep
from bench_assets.suites.cogbench.construction.annotation_files import (
    DESCRIPTION,
    ENTITIES,
    AnnotatedItem,
    Review,
    decisions,
)
from bench_assets.suites.cogbench.construction.merging import MergedItem
from bench_assets.suites.cogbench.construction.selection import image_id
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, content_words, word_share
from bench_assets.suites.cogbench.dataset.source import Story, StoryChain

_MIN_MENTIONED_SHARE = 0.5  # share of an item's words that a description has to mention


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageUnderstanding:
    """Agreement of the annotators on an image, and the description that is kept."""

    image: str
    n_annotators: int
    alike: tuple[str, ...] = ()  # largest group that understands it alike, or the selected author
    closeness: float  # mean cosine in that group, 1 for one author; else the highest of any two
    author: str = ""  # annotator of the kept description; "" if the image is dropped
    description: str = ""
    by_review: bool = False  # whether a review selected it

    @property
    def disagreement(self) -> str:
        """Why no description of a dropped image is kept."""
        if self.n_annotators < 2:
            return "fewer than two descriptions"
        cosine = f"the closest have a cosine of {self.closeness:.2f}"
        return f"no two of {self.n_annotators} descriptions tell one story: {cosine}"


def compare_descriptions(
    items: Sequence[AnnotatedItem],
    merged: Iterable[MergedItem],
    encoder: TextEncoder,
    *,
    same_story: float,
    reviews: Iterable[Review] = (),
) -> list[ImageUnderstanding]:
    """For each image, find the annotators who understand it alike, and the best description.

    Args:
        items: As annotated.
        merged: Entities and chains; the best description contains the most accepted ones.
        encoder: Embeds the descriptions.
        same_story: Least cosine of two descriptions of one story.
        reviews: Decisions of reviewers; those about descriptions count.
    """
    descriptions, selected = _reviewed_descriptions(items, reviews)
    accepted: dict[str, list[str]] = defaultdict(list)
    for merged_item in merged:
        if merged_item.outcome == "accepted":
            accepted[merged_item.image].append(merged_item.text)
    vectors = encoder.encode_texts([item.text for item in descriptions])
    understandings = []
    for image in dict.fromkeys(item.image for item in items):
        rows = [row for row, item in enumerate(descriptions) if item.image == image]
        if image in selected:
            understanding = _reviewed_understanding(selected[image], len(rows))
        else:
            image_descriptions = [descriptions[row] for row in rows]
            cosines = vectors[rows] @ vectors[rows].T
            understanding = _understanding(
                image, image_descriptions, cosines, same_story, accepted[image]
            )
        understandings.append(understanding)
    return understandings


def descriptions_to_review(
    items: Iterable[AnnotatedItem], understood: Iterable[ImageUnderstanding]
) -> list[MergedItem]:
    """List the descriptions of dropped images for review, each with the others of its image."""
    dropped = {row.image: row for row in understood if not row.author}
    descriptions = [item for item in items if item.field == DESCRIPTION and item.image in dropped]
    return [
        MergedItem(
            image=item.image,
            field=DESCRIPTION,
            text=item.text,
            variants=(item.text,),
            annotators=(item.annotator,),
            outcome="waiting",
            reason=dropped[item.image].disagreement,
            near=tuple(
                description.text
                for description in descriptions
                if description.image == item.image and description is not item
            ),
        )
        for item in descriptions
    ]


def _reviewed_descriptions(
    items: Iterable[AnnotatedItem], reviews: Iterable[Review]
) -> tuple[list[AnnotatedItem], dict[str, AnnotatedItem]]:
    """Descriptions that no review excluded, and those that a review selected, by image."""
    decided = decisions(reviews)
    verdicts = [(item, decided.get(item.key)) for item in items if item.field == DESCRIPTION]
    descriptions = [item for item, accept in verdicts if accept is not False]
    selected = {item.image: item for item, accept in reversed(verdicts) if accept}  # the first
    return descriptions, selected


def _reviewed_understanding(selected: AnnotatedItem, n_annotators: int) -> ImageUnderstanding:
    return ImageUnderstanding(
        image=selected.image,
        n_annotators=n_annotators,
        alike=(selected.annotator,),
        closeness=1.0,
        author=selected.annotator,
        description=selected.text,
        by_review=True,
    )


class _Group(NamedTuple):
    """Annotators of an image who understand it alike; the maximum is the largest and closest."""

    size: int
    closeness: float  # mean cosine of any two descriptions
    members: tuple[int, ...]  # indices of the descriptions


def _groups(cosines: Vectors, same_story: float) -> list[_Group]:
    """All groups in which any two descriptions tell one story."""
    groups = []
    for size in range(2, len(cosines) + 1):
        for members in combinations(range(len(cosines)), size):
            pairs = [float(cosines[pair]) for pair in combinations(members, 2)]
            if min(pairs) >= same_story:
                closeness = sum(pairs) / len(pairs)
                groups.append(_Group(size=size, closeness=closeness, members=members))
    return groups


def _understanding(
    image: str,
    descriptions: Sequence[AnnotatedItem],
    cosines: Vectors,
    same_story: float,
    accepted: Sequence[str],
) -> ImageUnderstanding:
    """Keep the best description of the largest group; ``accepted`` are texts of its image."""
    groups = _groups(cosines, same_story)
    if not groups:
        pairs = combinations(range(len(descriptions)), 2)
        return ImageUnderstanding(
            image=image,
            n_annotators=len(descriptions),
            closeness=max((float(cosines[pair]) for pair in pairs), default=0),
        )
    largest = max(groups)
    alike = [descriptions[index] for index in largest.members]
    best = max(alike, key=lambda item: _n_mentioned(item.text, accepted))
    return ImageUnderstanding(
        image=image,
        n_annotators=len(descriptions),
        alike=tuple(item.annotator for item in alike),
        closeness=largest.closeness,
        author=best.annotator,
        description=best.text,
    )


def _n_mentioned(description: str, accepted: Sequence[str]) -> int:
    words = content_words(description)
    return sum(word_share(text, words) >= _MIN_MENTIONED_SHARE for text in accepted)


_PAPER_COUNTS = {  # chains of each kind (Table 1)
    "Time": 47,
    "Location": 179,
    "Character": 106,
    "Character Relationship": 263,
    "Event": 701,
    "Event Relationship": 425,
    "Next Moment Event": 107,
    "Mental State": 417,
}


def merged_stories(
    items: Iterable[MergedItem], understood: Iterable[ImageUnderstanding]
) -> list[Story]:
    """Make a story of each image that is understood alike, with its accepted entities."""
    entities: dict[str, list[str]] = defaultdict(list)
    for item in items:
        if item.field == ENTITIES and item.outcome == "accepted":
            entities[item.image].append(item.text)
    return [
        Story(
            image_id=image_id(understanding.image),
            image=understanding.image,
            entities=tuple(entities[understanding.image]),
            description=understanding.description,
        )
        for understanding in understood
        if understanding.author
    ]


def merged_chains(items: Iterable[MergedItem]) -> list[StoryChain]:
    """Number the accepted chains within image and kind, in their order."""
    n_chains: Counter[tuple[str, str]] = Counter()
    kinds = {kind.field: kind.name for kind in KINDS}
    rows = []
    for item in items:
        if item.field in kinds and item.outcome == "accepted":
            n_chains[item.image, item.field] += 1
            rows.append(
                StoryChain(
                    image_id=image_id(item.image),
                    kind=kinds[item.field],
                    number=n_chains[item.image, item.field],
                    text=item.text,
                )
            )
    return rows


def dropped_images(understood: Iterable[ImageUnderstanding]) -> list[Rejection]:
    """Rejections of images that no two annotators understand alike (section 2.2)."""
    return [
        Rejection(entry=f"image {understanding.image}", reason=understanding.disagreement)
        for understanding in understood
        if not understanding.author
    ]


def count_funnel(
    annotations: Collection[AnnotatedItem],
    items: Sequence[MergedItem],
    stories: Sequence[Story],
    chains: Sequence[StoryChain],
) -> list[FunnelStep]:
    """Count items at each step; the first steps are 0 for the published edition."""
    outcomes = [item.outcome for item in items]
    n_entities = sum(len(story.entities) for story in stories)
    kinds = [chain.kind for chain in chains]
    return [
        FunnelStep(step="images annotated", n=len({item.image for item in annotations})),
        FunnelStep(step="entities, chains and descriptions noted", n=len(annotations)),
        FunnelStep(step="entities and chains after merging", n=len(items)),
        FunnelStep(step="accepted", n=outcomes.count("accepted")),
        FunnelStep(step="rejected by review", n=outcomes.count("rejected")),
        FunnelStep(step="waiting for review", n=outcomes.count("waiting")),
        FunnelStep(step="images kept", n=len(stories), paper=251),
        FunnelStep(step="entities", n=n_entities, paper=2670),
        FunnelStep(step="chains", n=len(chains), paper=sum(_PAPER_COUNTS.values())),
        *(
            FunnelStep(step=f"chains: {name}", n=kinds.count(name), paper=paper)
            for name, paper in _PAPER_COUNTS.items()
        ),
    ]
