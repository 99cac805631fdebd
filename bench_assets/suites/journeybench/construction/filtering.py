"""Acquisition and filtering: which images are unusual, fictional and comprehensible (3.1).

How many images, captions, statements and look-alikes are left at each step of building.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, TypeAlias

from bench_assets.core.images.near_duplicates import hash_distance
from bench_assets.core.stats.rater_agreement import krippendorff_alpha, unanimous_share
from bench_assets.suites.journeybench.decisions import (
    CaptionDecision,
    FilterDecision,
    LookAlikeDecision,
    StatementDecision,
)
from bench_assets.suites.journeybench.raw_material import CRITERIA, FilterVote, GalleryImage

Rule: TypeAlias = Literal["majority", "unanimous"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a gallery is searched for: a topic word with an attribute word."""

    query: str
    topic: str
    attribute: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionAgreement:
    """How far the annotators agree on one criterion; "all" is all three at once."""

    criterion: str
    n_images: int  # with at least two votes
    unanimous: float  # share of them; over 0.72 in the paper
    alpha: float  # Krippendorff's, nominal


def queries(topics: Sequence[str], attributes: Sequence[str]) -> list[Query]:
    """Combine every topic word with every attribute word; 17 x 15 = 255 in the paper.

    >>> [q.query for q in queries(["cat"], ["giant", "glass"])]
    ['giant cat', 'glass cat']
    """
    return [
        Query(query=f"{attribute} {topic}", topic=topic, attribute=attribute)
        for topic, attribute in product(topics, attributes)
    ]


def decide(
    gallery: Sequence[GalleryImage],
    votes: Iterable[FilterVote],
    hashes: Mapping[str, str],
    *,
    rule: Rule = "majority",
    least_votes: int = 4,
    near: int = 4,
) -> list[FilterDecision]:
    """Decide on each image of the gallery, in order.

    Kept is what decodes, has enough votes, passes every criterion and looks like no image that
    was kept before it; open is what lacks nothing but votes. The paper has at least four annotators
    and names no rule.

    Args:
        gallery: All images.
        votes: At most one of an annotator on an image.
        hashes: Perceptual hash of each image that decodes.
        rule: Whether more than half of the annotators must say yes, or all.
        least_votes: Images with fewer votes are open.
        near: Bits in which the hashes of two images that look the same may differ.
    """
    heard = _by_image(votes)
    kept: dict[str, str] = {}
    decisions = []
    for entry in gallery:
        cast = heard.get(entry.image, [])
        twin = _twin(hashes.get(entry.image, ""), kept, near)
        reason = _reason(entry.image in hashes, cast, rule, least_votes) or (
            f"looks like {twin}" if twin else ""
        )
        if not reason:
            kept[entry.image] = hashes[entry.image]
        waits = entry.image in hashes and not twin and len(cast) < least_votes
        decisions.append(replace(_decision(entry.image, cast, reason, twin), open=waits))
    return decisions


def agreement(votes: Iterable[FilterVote]) -> list[CriterionAgreement]:
    """Say how far the annotators agree; no rows if nobody voted."""
    heard = list(_by_image(votes).values())
    units = {name: [[getattr(v, name) for v in cast] for cast in heard] for name in CRITERIA}
    units["all"] = [[_answers(vote) for vote in cast] for cast in heard]
    return [
        CriterionAgreement(
            criterion=criterion,
            n_images=sum(len(unit) > 1 for unit in rated),
            unanimous=unanimous_share(rated),
            alpha=krippendorff_alpha(rated),
        )
        for criterion, rated in units.items()
        if rated
    ]


def _decision(image: str, cast: Sequence[FilterVote], reason: str, twin: str) -> FilterDecision:
    return FilterDecision(
        image=image,
        kept=not reason,
        reason=reason or "passes every criterion",
        n_votes=len(cast),
        n_unusual=sum(vote.unusual for vote in cast),
        n_fictional=sum(vote.fictional for vote in cast),
        n_comprehensible=sum(vote.comprehensible for vote in cast),
        duplicate_of=twin,
    )


def _by_image(votes: Iterable[FilterVote]) -> dict[str, list[FilterVote]]:
    heard: dict[str, list[FilterVote]] = defaultdict(list)
    for vote in votes:
        heard[vote.image].append(vote)
    return heard


def _reason(decodes: bool, cast: Sequence[FilterVote], rule: Rule, least_votes: int) -> str:
    """Why an image is not kept for its own sake; "" if it is."""
    if not decodes:
        return "missing or does not decode"
    if len(cast) < least_votes:
        return f"{len(cast)} votes, {least_votes} are needed"
    failed = []
    for name in CRITERIA:
        yes = sum(getattr(vote, name) for vote in cast)
        if not (yes == len(cast) if rule == "unanimous" else 2 * yes > len(cast)):
            failed.append(f"not {name}: {len(cast) - yes} of {len(cast)}")
    return "; ".join(failed)


def _twin(own: str, kept: Mapping[str, str], near: int) -> str:
    alike = (name for name, other in kept.items() if own and hash_distance(own, other) <= near)
    return next(alike, "")


def _answers(vote: FilterVote) -> tuple[bool, ...]:
    return tuple(getattr(vote, name) for name in CRITERIA)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildFunnelStep:
    """How many there were at one step on the way from a gallery to captions and distractors."""

    step: str
    n: int
    n_open: int  # that lack votes: neither kept nor dropped
    paper: int | None = None  # sections 3.1 to 3.3; None where it gives no number


def funnel(
    images: Sequence[FilterDecision],
    captions: Sequence[CaptionDecision],
    statements: Sequence[StatementDecision],
    look_alikes: Sequence[LookAlikeDecision],
) -> list[BuildFunnelStep]:
    """Count what there is at each step, what is left, and what is open."""
    return [
        BuildFunnelStep(step="images of the gallery", n=len(images), n_open=_open(images)),
        BuildFunnelStep(step="images kept", n=_n(images, _kept), n_open=0, paper=1042),
        BuildFunnelStep(step="captions written", n=len(captions), n_open=_open(captions)),
        BuildFunnelStep(step="captions kept", n=_n(captions, _kept), n_open=0),
        BuildFunnelStep(step="statements written", n=len(statements), n_open=_open(statements)),
        BuildFunnelStep(
            step="statements accepted", n=_n(statements, _accepted), n_open=0, paper=5590
        ),
        BuildFunnelStep(step="look-alikes proposed", n=len(look_alikes), n_open=_open(look_alikes)),
        BuildFunnelStep(
            step="look-alikes accepted", n=_n(look_alikes, _accepted), n_open=0, paper=5323
        ),
    ]


def _kept(row: FilterDecision | CaptionDecision) -> bool:
    return row.kept


def _accepted(row: StatementDecision | LookAlikeDecision) -> bool:
    return row.accepted


def _n(rows: Sequence[Any], holds: Callable[[Any], bool]) -> int:
    return sum(map(holds, rows))


def _open(rows: Sequence[Any]) -> int:
    return sum(row.open for row in rows)
