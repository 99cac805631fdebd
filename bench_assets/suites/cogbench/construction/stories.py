"""Makes stories and chains of merged annotations, and counts what is left at each step."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from bench_assets.core.schema.rows import Rejection
from bench_assets.suites.cogbench.construction.annotation_parsing import ENTITIES, AnnotatedItem
from bench_assets.suites.cogbench.construction.merging import MergedItem
from bench_assets.suites.cogbench.construction.understanding import ImageUnderstanding
from bench_assets.suites.cogbench.dataset.reasoning_kinds import KINDS
from bench_assets.suites.cogbench.dataset.source import Story, StoryChain

_PAPER = {"Time": 47, "Location": 179, "Character": 106, "Character Relationship": 263} | {
    "Event": 701,
    "Event Relationship": 425,
    "Next Moment Event": 107,
    "Mental State": 417,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryFunnelStep:
    """How many were left at one step from annotations to key points."""

    step: str
    n: int
    paper: int | None = None  # section 2.4 and Table 1; None where they give no number


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
            image_id=_image_id(image.image),
            image=image.image,
            entities=tuple(entities.get(image.image, ())),
            description=image.description,
        )
        for image in understood
        if image.author
    ]


def merged_chains(items: Iterable[MergedItem]) -> list[StoryChain]:
    """Number the accepted chains within image and kind, in the order they stand in."""
    numbers: dict[tuple[str, str], int] = {}
    kinds = {kind.field: kind.name for kind in KINDS}
    rows = []
    for item in items:
        if item.field in kinds and item.outcome == "accepted":
            place = item.image, item.field
            numbers[place] = numbers.get(place, 0) + 1
            rows.append(
                StoryChain(
                    image_id=_image_id(item.image),
                    kind=kinds[item.field],
                    number=numbers[place],
                    text=item.text,
                )
            )
    return rows


def dropped_images(understood: Iterable[ImageUnderstanding]) -> list[Rejection]:
    """Name the images that no two annotators understand alike (section 2.2)."""
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
) -> list[StoryFunnelStep]:
    """Count what is left at each step; the first steps are 0 for the published edition."""
    outcomes = [item.outcome for item in items]
    n_entities = sum(len(story.entities) for story in stories)
    kinds = [chain.kind for chain in chains]
    return [
        StoryFunnelStep(step="images annotated", n=len({item.image for item in annotations})),
        StoryFunnelStep(step="entities, chains and descriptions noted", n=len(annotations)),
        StoryFunnelStep(step="entities and chains after merging", n=len(items)),
        StoryFunnelStep(step="accepted", n=outcomes.count("accepted")),
        StoryFunnelStep(step="rejected by review", n=outcomes.count("rejected")),
        StoryFunnelStep(step="waiting for review", n=outcomes.count("waiting")),
        StoryFunnelStep(step="images kept", n=len(stories), paper=251),
        StoryFunnelStep(step="entities", n=n_entities, paper=2670),
        StoryFunnelStep(step="chains", n=len(chains), paper=sum(_PAPER.values())),
        *(
            StoryFunnelStep(step=f"chains: {name}", n=kinds.count(name), paper=paper)
            for name, paper in _PAPER.items()
        ),
    ]


def _image_id(image: str) -> str:
    return image.split(".", maxsplit=1)[0]
