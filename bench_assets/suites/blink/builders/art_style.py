"""Art style: which painting shares the style of the first? (section 3.2).

Raw data: WikiArt, ``<Style>/<painting>.jpg``.
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.dataset.draft import (
    SECOND_OR_THIRD,
    Candidates,
    Draft,
    DraftView,
    Marks,
    anywhere,
    placed,
    wording,
)
from bench_assets.suites.blink.raw_formats.image_folders import folders_in, images_in


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtStyleParameters:
    """Which styles are set against each other; not given by the paper."""

    kindred: tuple[tuple[str, ...], ...] = (
        ("Cubism", "Analytical_Cubism", "Synthetic_Cubism"),
        ("Expressionism", "Abstract_Expressionism", "Action_painting"),
        ("Impressionism", "Post_Impressionism", "Pointillism"),
        ("Realism", "New_Realism", "Contemporary_Realism"),
        ("Early_Renaissance", "High_Renaissance", "Northern_Renaissance"),
    )
    """Styles that people confuse; two of one group are never set against each other."""


def build(
    source: Path, rng: Random, parameters: ArtStyleParameters = ArtStyleParameters()
) -> Candidates:
    """Draw paintings without putting back: a reference, one of its style, and one of another.

    Raises:
        SourceError: If there are fewer than two styles with paintings; names the folder.
    """
    paintings = {folder.name: images_in(folder) for folder in folders_in(source)}
    if sum(map(bool, paintings.values())) < 2:
        raise SourceError(f"{source}: expected paintings in folders of two styles or more")
    for style in sorted(paintings):
        rng.shuffle(paintings[style])
    while pairs := _possible(paintings, parameters):
        style, other = rng.choice(pairs)
        reference, alike = paintings[style].pop(), paintings[style].pop()
        yield _draft(reference, alike, paintings[other].pop())


def _possible(
    paintings: dict[str, list[Path]], parameters: ArtStyleParameters
) -> list[tuple[str, str]]:
    return [
        (style, other)
        for style in sorted(paintings)
        for other in sorted(paintings)
        if style != other
        and len(paintings[style]) >= 2
        and paintings[other]
        and not any(style in group and other in group for group in parameters.kindred)
    ]


def _draft(reference: Path, alike: Path, unlike: Path) -> Draft:
    def show(place: int, marks: Marks) -> DraftView:
        images = (reference, *placed(alike, [unlike], place))
        return DraftView(
            asked=wording("Art_Style"),
            images=tuple(image.read_bytes() for image in images),
            options=SECOND_OR_THIRD,
        )

    named = (f"{file.parent.name}/{file.name}" for file in (reference, alike, unlike))
    return Draft(
        entry=", ".join(named),
        originals=(reference, alike, unlike),
        n_options=2,
        places=anywhere(2),
        show=show,
    )
