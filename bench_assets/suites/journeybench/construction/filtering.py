"""Filtering by votes: images of a gallery (section 3.1) and captions (3.2)."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from bench_assets.annotation.tasks import UndecidedUnits
from bench_assets.core.images.near_duplicates import hash_distance
from bench_assets.core.stats.rater_agreement import CriterionAgreement, agreements
from bench_assets.core.tables.build import FunnelStep
from bench_assets.suites.journeybench.raw_material import (
    CRITERIA,
    CaptionDecision,
    CaptionVote,
    FilterDecision,
    FilterVote,
    GalleryImage,
    LookAlikeDecision,
    StatementDecision,
    WrittenCaption,
    normalize_text,
    vote_fault,
)

_NEAR = 4  # most bits, of 64, in which the perceptual hashes of near-duplicates differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A gallery query: a topic word with an attribute word."""

    query: str
    topic: str
    attribute: str


def queries(topics: Sequence[str], attributes: Sequence[str]) -> list[Query]:
    """Combine every topic word with every attribute word; 17 x 15 = 255 in the paper.

    >>> [q.query for q in queries(["cat"], ["giant", "glass"])]
    ['giant cat', 'glass cat']
    """
    return [
        Query(query=f"{attribute} {topic}", topic=topic, attribute=attribute)
        for topic, attribute in product(topics, attributes)
    ]


def decide_images(
    gallery: Sequence[GalleryImage],
    votes: Iterable[FilterVote],
    hashes: Mapping[str, str],
    least_votes: int = 4,
) -> list[FilterDecision]:
    """Decide on each image of the gallery, in order.

    An image is kept if it decodes, has enough votes, passes every criterion by the majority and is
    no near-duplicate of an image kept before it; an image that lacks only votes is open. The paper
    states no rule.

    Args:
        gallery: All images.
        votes: At most one vote per annotator and image.
        hashes: Perceptual hash of each image that decodes.
        least_votes: Images with fewer votes are open.
    """
    votes_by_image = _by_image(votes)
    kept: dict[str, str] = {}
    decisions = []
    for entry in gallery:
        cast = votes_by_image.get(entry.image, [])
        twin = _near_duplicate(hashes.get(entry.image, ""), kept)
        reason = _rejection_reason(entry.image in hashes, cast, least_votes) or (
            f"looks like {twin}" if twin else ""
        )
        if not reason:
            kept[entry.image] = hashes[entry.image]
        waits = entry.image in hashes and not twin and len(cast) < least_votes
        decisions.append(replace(_decision(entry.image, cast, reason, twin), open=waits))
    return decisions


def agreement(votes: Iterable[FilterVote]) -> list[CriterionAgreement]:
    """Agreement on each criterion, and on "all" three at once."""
    votes_by_image = list(_by_image(votes).values())
    units: dict[str, list[list[Hashable]]] = {
        name: [[getattr(v, name) for v in cast] for cast in votes_by_image] for name in CRITERIA
    }
    return agreements(
        {**units, "all": [[_answers(vote) for vote in cast] for cast in votes_by_image]}
    )


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
    votes_by_image: dict[str, list[FilterVote]] = defaultdict(list)
    for vote in votes:
        votes_by_image[vote.image].append(vote)
    return votes_by_image


def _rejection_reason(decodes: bool, cast: Sequence[FilterVote], least_votes: int) -> str:
    """Why an image is not kept, duplicates aside; "" if it is."""
    if not decodes:
        return "missing or does not decode"
    if len(cast) < least_votes:
        return f"{len(cast)} votes, {least_votes} are needed"
    failed = []
    for name in CRITERIA:
        yes = sum(getattr(vote, name) for vote in cast)
        if 2 * yes <= len(cast):
            failed.append(f"not {name}: {len(cast) - yes} of {len(cast)}")
    return "; ".join(failed)


def _near_duplicate(own: str, kept: Mapping[str, str]) -> str:
    duplicates = (
        name for name, kept_hash in kept.items() if own and hash_distance(own, kept_hash) <= _NEAR
    )
    return next(duplicates, "")


def _answers(vote: FilterVote) -> tuple[bool, ...]:
    return tuple(getattr(vote, name) for name in CRITERIA)


@dataclass(frozen=True, slots=True, kw_only=True)
class VotedStep(FunnelStep):
    """A step whose items people vote on."""

    n_open: int = 0  # of these, undecided: votes are missing
    n_expired: int = 0  # of these, undecided at the deadline


def funnel(
    images: Sequence[FilterDecision],
    captions: Sequence[CaptionDecision],
    statements: Sequence[StatementDecision],
    look_alikes: Sequence[LookAlikeDecision],
    undecided: Sequence[UndecidedUnits],
) -> list[VotedStep]:
    """Count rows, accepted rows and undecided rows at each step.

    ``undecided`` has one element each for images, captions, statements and look-alikes.
    """
    steps: list[tuple[str, str, Sequence[Any], str, int | None]] = [
        ("images of the gallery", "images kept", images, "kept", 1042),
        ("captions written", "captions kept", captions, "kept", None),
        ("statements written", "statements accepted", statements, "accepted", 5590),
        ("look-alikes proposed", "look-alikes accepted", look_alikes, "accepted", 5323),
    ]
    return [
        step
        for (before, after, rows, outcome, paper), waits in zip(steps, undecided, strict=True)
        for step in (
            VotedStep(
                step=before, n=len(rows), n_open=len(waits.open), n_expired=len(waits.expired)
            ),
            VotedStep(step=after, n=sum(getattr(row, outcome) for row in rows), paper=paper),
        )
    ]


MAX_CAPTIONS = 5  # captions per image, as in the released data


def verify_captions(
    captions: Iterable[WrittenCaption],
    votes: Iterable[CaptionVote],
    images: Collection[str],
    least: int = 1,
) -> list[CaptionDecision]:
    """Decide on each caption of the images that were kept, in order.

    A caption passes if more than half of its verifiers accept it, and is open until enough have
    voted. Of those that pass, the ones with most accepting votes are kept; ties go to the first.

    Args:
        captions: All captions, in the order they were written.
        votes: Votes of verifiers; those on their own captions are ignored.
        images: Images that passed the filter.
        least: Votes that decide on a caption.
    """
    cast: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for vote in votes:
        if vote.verifier != vote.writer:
            cast[vote.image, vote.writer].append(vote.accepts)
    by_image: dict[str, list[WrittenCaption]] = defaultdict(list)
    for caption in captions:
        if caption.image in images:
            by_image[caption.image].append(caption)
    return [
        decision
        for written in by_image.values()
        for decision in _decide_captions(written, [cast[c.image, c.writer] for c in written], least)
    ]


def kept_captions(decisions: Iterable[CaptionDecision]) -> dict[str, list[str]]:
    """List the kept captions of each image that has some, in the order they were written."""
    kept: dict[str, list[str]] = defaultdict(list)
    for decision in decisions:
        if decision.kept:
            kept[decision.image].append(decision.caption)
    return dict(kept)


def _decide_captions(
    written: Sequence[WrittenCaption], votes: Sequence[Sequence[bool]], least: int
) -> list[CaptionDecision]:
    own_faults = [_caption_fault(number, written) for number in range(len(written))]
    waits = [not fault and len(cast) < least for fault, cast in zip(own_faults, votes, strict=True)]
    faults = [
        fault or vote_fault(cast, least, "verifiers accept it")
        for fault, cast in zip(own_faults, votes, strict=True)
    ]
    passing = [number for number, fault in enumerate(faults) if not fault]
    best = sorted(passing, key=lambda number: -sum(votes[number]))[:MAX_CAPTIONS]
    return [
        CaptionDecision(
            image=caption.image,
            writer=caption.writer,
            caption=" ".join(caption.caption.split()),
            kept=number in best,
            reason=faults[number]
            or ("kept" if number in best else f"beyond the best {MAX_CAPTIONS}"),
            n_votes=len(votes[number]),
            n_accepting=sum(votes[number]),
            open=waits[number],
        )
        for number, caption in enumerate(written)
    ]


def _caption_fault(number: int, written: Sequence[WrittenCaption]) -> str:
    normalized = normalize_text(written[number].caption)
    if not normalized:
        return "empty"
    if normalized in [normalize_text(earlier.caption) for earlier in written[:number]]:
        return "an earlier caption says the same"
    return ""
