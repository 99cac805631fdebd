"""Makes stories and chains of merged annotations, and counts what is left at each step."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from bench_assets.core.rows import Rejection
from bench_assets.suites.cogbench.annotations import ENTITIES, AnnotatedItem
from bench_assets.suites.cogbench.kinds import KINDS
from bench_assets.suites.cogbench.merge import MergedItem
from bench_assets.suites.cogbench.source import Story, StoryChain
from bench_assets.suites.cogbench.understanding import Understanding

_PAPER = {"Time": 47, "Location": 179, "Character": 106, "Character Relationship": 263} | {
    "Event": 701,
    "Event Relationship": 425,
    "Next Moment Event": 107,
    "Mental State": 417,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStep:
    """How many were left at one step from annotations to key points."""

    step: str
    n: int
    paper: int | None = None  # section 2.4 and Table 1; None where they give no number


def merged_stories(items: Iterable[MergedItem], understood: Iterable[Understanding]) -> list[Story]:
    """Make a story of each picture that is understood alike, with its accepted entities."""
    entities: dict[str, list[str]] = {}
    for item in items:
        if item.field == ENTITIES and item.outcome == "accepted":
            entities.setdefault(item.image, []).append(item.text)
    return [
        Story(
            image_id=_image_id(picture.image),
            image=picture.image,
            entities=tuple(entities.get(picture.image, ())),
            description=picture.description,
        )
        for picture in understood
        if picture.author
    ]


def merged_chains(items: Iterable[MergedItem]) -> list[StoryChain]:
    """Number the accepted chains within picture and kind, in the order they stand in."""
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


def dropped_pictures(understood: Iterable[Understanding]) -> list[Rejection]:
    """Name the pictures that no two annotators understand alike (section 2.2)."""
    return [
        Rejection(
            entry=f"picture {picture.image}",
            reason=f"no two of {picture.n_annotators} descriptions tell one story: the closest "
            f"have a cosine of {picture.closeness:.2f}",
        )
        for picture in understood
        if not picture.author
    ]


def count_funnel(
    annotations: Collection[AnnotatedItem],
    items: Sequence[MergedItem],
    stories: Sequence[Story],
    chains: Sequence[StoryChain],
) -> list[FunnelStep]:
    """Count what is left at each step; the first steps are 0 for the published edition."""
    outcomes = [item.outcome for item in items]
    n_entities = sum(len(story.entities) for story in stories)
    kinds = [chain.kind for chain in chains]
    return [
        FunnelStep(step="pictures annotated", n=len({item.image for item in annotations})),
        FunnelStep(step="entities, chains and descriptions noted", n=len(annotations)),
        FunnelStep(step="entities and chains after merging", n=len(items)),
        FunnelStep(step="accepted", n=outcomes.count("accepted")),
        FunnelStep(step="rejected by review", n=outcomes.count("rejected")),
        FunnelStep(step="waiting for review", n=outcomes.count("waiting")),
        FunnelStep(step="pictures kept", n=len(stories), paper=251),
        FunnelStep(step="entities", n=n_entities, paper=2670),
        FunnelStep(step="chains", n=len(chains), paper=sum(_PAPER.values())),
        *(
            FunnelStep(step=f"chains: {name}", n=kinds.count(name), paper=paper)
            for name, paper in _PAPER.items()
        ),
    ]


def _image_id(image: str) -> str:
    return image.split(".", maxsplit=1)[0]
