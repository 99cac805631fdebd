"""Stories and chains of merged annotations, and the funnel of the dataset build (section 2.2).

An image is dropped unless two annotators understand it alike; of their descriptions, the one that
mentions most accepted items is kept. In the paper people decide; here cosines decide whether two
descriptions tell one story, and shared words whether an item is mentioned. A review of a
description overrules both.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from bench_assets.core.schema.chat import TextEncoder, Vectors
from bench_assets.core.schema.rows import Rejection
from bench_assets.core.tables.build import FunnelStep
from bench_assets.suites.cogbench.construction.annotation_files import (
    DESCRIPTION,
    ENTITIES,
    AnnotatedItem,
    Review,
    decisions,
    review_key,
)
from bench_assets.suites.cogbench.construction.merging import MergedItem
from bench_assets.suites.cogbench.construction.selection import image_id
from bench_assets.suites.cogbench.dataset.reasoning import KINDS, content_words, word_share
from bench_assets.suites.cogbench.dataset.source import Story, StoryChain

_MIN_MENTIONED_SHARE = 0.5  # least share of an item's words in a description that mentions it


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageUnderstanding:
    """Agreement of the annotators on an image, and the description that is kept."""

    image: str
    n_annotators: int
    alike: tuple[str, ...]  # the largest group that understands it alike; () if there is none
    closeness: float  # mean cosine of the descriptions of that group, or the highest of any two
    author: str  # annotator of the kept description; "" if the image is dropped
    description: str
    by_review: bool = False  # whether a review selected it


def compare_descriptions(
    items: Sequence[AnnotatedItem],
    merged: Iterable[MergedItem],
    encoder: TextEncoder,
    similarity: float,
    reviews: Iterable[Review] = (),
) -> list[ImageUnderstanding]:
    """For each image, find the annotators who understand it alike, and the best description.

    Args:
        items: As annotated.
        merged: Entities and chains; the best description contains the most accepted ones.
        encoder: Embeds the descriptions.
        similarity: Least cosine of two descriptions of one story.
        reviews: Decisions of reviewers; those about descriptions count.
    """
    descriptions, selected = _reviewed_descriptions(items, reviews)
    accepted: dict[str, list[str]] = {}
    for merged_item in merged:
        if merged_item.outcome == "accepted":
            accepted.setdefault(merged_item.image, []).append(merged_item.text)
    vectors = encoder.encode_texts([item.text for item in descriptions])
    return [
        _reviewed_understanding(selected[image], len(rows))
        if image in selected
        else _understanding(
            image,
            [descriptions[row] for row in rows],
            vectors[rows] @ vectors[rows].T,
            similarity,
            accepted.get(image, []),
        )
        for image in dict.fromkeys(item.image for item in items)
        for rows in [[row for row, item in enumerate(descriptions) if item.image == image]]
    ]


def descriptions_to_review(
    items: Iterable[AnnotatedItem], understood: Iterable[ImageUnderstanding]
) -> list[MergedItem]:
    """List the descriptions of dropped images for review, each with the others of its image."""
    dropped = {
        description.image: description for description in understood if not description.author
    }
    descriptions = [item for item in items if item.field == DESCRIPTION and item.image in dropped]
    return [
        MergedItem(
            image=item.image,
            field=DESCRIPTION,
            text=item.text,
            variants=(item.text,),
            annotators=(item.annotator,),
            outcome="waiting",
            reason=f"no two tell one story; the closest: {dropped[item.image].closeness:.2f}",
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
    verdicts = [
        (item, decided.get(review_key(item))) for item in items if item.field == DESCRIPTION
    ]
    descriptions = [item for item, accept in verdicts if accept is not False]
    return descriptions, {item.image: item for item, accept in reversed(verdicts) if accept}


def _reviewed_understanding(taken: AnnotatedItem, n_annotators: int) -> ImageUnderstanding:
    return ImageUnderstanding(
        image=taken.image,
        n_annotators=n_annotators,
        alike=(taken.annotator,),
        closeness=1.0,
        author=taken.annotator,
        description=taken.text,
        by_review=True,
    )


def _understanding(
    image: str,
    stories: Sequence[AnnotatedItem],
    cosines: Vectors,
    similarity: float,
    accepted: Sequence[str],
) -> ImageUnderstanding:
    groups = [
        (len(group), closeness, group)
        for size in range(2, len(stories) + 1)
        for group in combinations(range(len(stories)), size)
        for pairs in [[float(cosines[i, j]) for i, j in combinations(group, 2)]]
        for closeness in [sum(pairs) / len(pairs)]
        if min(pairs) >= similarity
    ]
    if not groups:
        nearest = max(
            (float(cosines[i, j]) for i, j in combinations(range(len(stories)), 2)), default=0
        )
        return ImageUnderstanding(
            image=image,
            n_annotators=len(stories),
            alike=(),
            closeness=nearest,
            author="",
            description="",
        )
    _, closeness, group = max(groups)
    best = max((stories[i] for i in group), key=lambda item: _n_mentioned(item.text, accepted))
    return ImageUnderstanding(
        image=image,
        n_annotators=len(stories),
        alike=tuple(stories[i].annotator for i in group),
        closeness=closeness,
        author=best.annotator,
        description=best.text,
    )


def _n_mentioned(description: str, accepted: Sequence[str]) -> int:
    words = content_words(description)
    return sum(word_share(text, words) >= _MIN_MENTIONED_SHARE for text in accepted)


_PAPER_COUNTS = {"Time": 47, "Location": 179, "Character": 106, "Character Relationship": 263} | {
    "Event": 701,
    "Event Relationship": 425,
    "Next Moment Event": 107,
    "Mental State": 417,
}


def merged_stories(
    items: Iterable[MergedItem], understood: Iterable[ImageUnderstanding]
) -> list[Story]:
    """Make a story of each image that is understood alike, with its accepted entities."""
    entities: dict[str, list[str]] = {}
    for item in items:
        if item.field == ENTITIES and item.outcome == "accepted":
            entities.setdefault(item.image, []).append(item.text)
    return [
        Story(
            image_id=image_id(image.image),
            image=image.image,
            entities=tuple(entities.get(image.image, ())),
            description=image.description,
        )
        for image in understood
        if image.author
    ]


def merged_chains(items: Iterable[MergedItem]) -> list[StoryChain]:
    """Number the accepted chains within image and kind, in their order."""
    numbers: dict[tuple[str, str], int] = {}
    kinds = {kind.field: kind.name for kind in KINDS}
    rows = []
    for item in items:
        if item.field in kinds and item.outcome == "accepted":
            field_of_image = item.image, item.field
            numbers[field_of_image] = numbers.get(field_of_image, 0) + 1
            rows.append(
                StoryChain(
                    image_id=image_id(item.image),
                    kind=kinds[item.field],
                    number=numbers[field_of_image],
                    text=item.text,
                )
            )
    return rows


def dropped_images(understood: Iterable[ImageUnderstanding]) -> list[Rejection]:
    """Rejections of images that no two annotators understand alike (section 2.2)."""
    return [
        Rejection(
            entry=f"image {image.image}",
            reason=f"no two of {image.n_annotators} descriptions tell one story: the closest "
            f"have a cosine of {image.closeness:.2f}",
        )
        for image in understood
        if not image.author
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
