"""Filtering by votes: images of a gallery (section 3.1) and captions (3.2)."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import attrgetter

from bench_assets.annotation.tasks import UndecidedUnits
from bench_assets.core.images.near_duplicates import hash_distance
from bench_assets.core.stats.rater_agreement import CriterionAgreement, agreements
from bench_assets.core.tables.build import FunnelStep
from bench_assets.suites.journeybench.raw_material import (
    CAPTIONS,
    CRITERIA,
    IMAGES,
    LOOK_ALIKES,
    STATEMENTS,
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

_NEAR = 4  # bits of 64 in which the perceptual hashes of near-duplicates may differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A gallery query: a topic word with an attribute word."""

    query: str
    topic: str
    attribute: str


def combine_queries(topics: Sequence[str], attributes: Sequence[str]) -> list[Query]:
    """Combine every topic word with every attribute word; 17 x 15 = 255 in the paper.

    >>> [q.query for q in combine_queries(["cat"], ["giant", "glass"])]
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
    votes_by_image = _group_by_image(votes)
    kept_hashes: dict[str, str] = {}
    decisions = []
    for gallery_image in gallery:
        image = gallery_image.image
        image_votes = votes_by_image.get(image, [])
        decodes = image in hashes
        if decodes:
            duplicate = _near_duplicate(hashes[image], kept_hashes)
            reason = _rejection_reason(image_votes, least_votes, duplicate)
        else:
            duplicate, reason = "", "missing or does not decode"
        if not reason:
            kept_hashes[image] = hashes[image]
        is_open = decodes and not duplicate and len(image_votes) < least_votes
        decision = _decision(image, image_votes, reason)
        decisions.append(replace(decision, duplicate_of=duplicate, open=is_open))
    return decisions


def agreement(votes: Iterable[FilterVote]) -> list[CriterionAgreement]:
    """Measure the agreement on each criterion, and on "all" three at once."""
    value_of = {criterion: attrgetter(criterion) for criterion in CRITERIA}
    value_of["all"] = attrgetter(*CRITERIA)
    votes_by_image = _group_by_image(votes).values()
    ratings: dict[str, list[list[Hashable]]] = {
        criterion: [list(map(value, image_votes)) for image_votes in votes_by_image]
        for criterion, value in value_of.items()
    }
    return agreements(ratings)


def _decision(image: str, votes: Sequence[FilterVote], reason: str) -> FilterDecision:
    return FilterDecision(
        image=image,
        kept=not reason,
        reason=reason or "passes every criterion",
        n_votes=len(votes),
        n_unusual=sum(vote.unusual for vote in votes),
        n_fictional=sum(vote.fictional for vote in votes),
        n_comprehensible=sum(vote.comprehensible for vote in votes),
    )


def _group_by_image(votes: Iterable[FilterVote]) -> dict[str, list[FilterVote]]:
    votes_by_image: dict[str, list[FilterVote]] = defaultdict(list)
    for vote in votes:
        votes_by_image[vote.image].append(vote)
    return votes_by_image


def _rejection_reason(votes: Sequence[FilterVote], least_votes: int, duplicate: str) -> str:
    """Why an image that decodes is not kept; "" if it is."""
    likeness = f"looks like {duplicate}" if duplicate else ""
    if len(votes) < least_votes:
        return likeness or f"{len(votes)} of {least_votes} needed votes"
    failed = []
    for criterion in CRITERIA:
        n_yes = sum(getattr(vote, criterion) for vote in votes)
        if 2 * n_yes <= len(votes):
            failed.append(f"not {criterion}: {len(votes) - n_yes} of {len(votes)}")
    return "; ".join(failed) or likeness


def _near_duplicate(image_hash: str, kept_hashes: Mapping[str, str]) -> str:
    """Name of the first kept image that looks the same; "" if there is none."""
    for name, kept_hash in kept_hashes.items():
        if hash_distance(image_hash, kept_hash) <= _NEAR:
            return name
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VotedStep(FunnelStep):
    """A step whose items people vote on."""

    n_open: int = 0  # of these, undecided: votes are missing
    n_expired: int = 0  # of these, undecided at the deadline


def count_steps(
    images: Sequence[FilterDecision],
    captions: Sequence[CaptionDecision],
    statements: Sequence[StatementDecision],
    look_alikes: Sequence[LookAlikeDecision],
    undecided: Mapping[str, UndecidedUnits],
) -> list[VotedStep]:
    """Count rows, accepted rows and undecided units at each step.

    ``undecided`` has the units of each of the four tables by its annotation task.
    """
    n_statements = sum(row.accepted for row in statements)
    n_look_alikes = sum(row.accepted for row in look_alikes)
    return [
        _voted_step("images of the gallery", len(images), undecided[IMAGES.task]),
        VotedStep(step="images kept", n=sum(row.kept for row in images), paper=1042),
        _voted_step("captions written", len(captions), undecided[CAPTIONS.task]),
        VotedStep(step="captions kept", n=sum(row.kept for row in captions)),
        _voted_step("statements written", len(statements), undecided[STATEMENTS.task]),
        VotedStep(step="statements accepted", n=n_statements, paper=5590),
        _voted_step("look-alikes proposed", len(look_alikes), undecided[LOOK_ALIKES.task]),
        VotedStep(step="look-alikes accepted", n=n_look_alikes, paper=5323),
    ]


def _voted_step(step: str, n: int, undecided: UndecidedUnits) -> VotedStep:
    n_open, n_expired = len(undecided.open), len(undecided.expired)
    return VotedStep(step=step, n=n, n_open=n_open, n_expired=n_expired)


MAX_CAPTIONS = 5  # captions per image, as in the released data


def verify_captions(
    captions: Iterable[WrittenCaption],
    votes: Iterable[CaptionVote],
    images: Collection[str],
    least_votes: int = 1,
) -> list[CaptionDecision]:
    """Decide on each caption of the images that were kept, image by image.

    A caption that is neither empty nor repeated passes if more than half of its verifiers accept
    it, and is open until enough have voted. Of those that pass, the ``MAX_CAPTIONS`` with most
    accepting votes are kept; ties go to the first.

    Args:
        captions: All captions, in the order they were written.
        votes: Votes of verifiers; those on their own captions are ignored.
        images: Images that passed the filter.
        least_votes: Votes that decide on a caption.
    """
    votes_by_caption: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for vote in votes:
        if vote.verifier != vote.writer:
            votes_by_caption[vote.image, vote.writer].append(vote.accepts)
    captions_by_image: dict[str, list[WrittenCaption]] = defaultdict(list)
    for caption in captions:
        if caption.image in images:
            captions_by_image[caption.image].append(caption)
    decisions = []
    for image_captions in captions_by_image.values():
        decisions += _decide_captions(image_captions, votes_by_caption, least_votes)
    return decisions


def kept_captions(decisions: Iterable[CaptionDecision]) -> dict[str, list[str]]:
    """List the kept captions of each image that has some, in the order they were written."""
    kept: dict[str, list[str]] = defaultdict(list)
    for decision in decisions:
        if decision.kept:
            kept[decision.image].append(decision.caption)
    return dict(kept)


def _decide_captions(
    captions: Sequence[WrittenCaption],
    votes_by_caption: Mapping[tuple[str, str], Sequence[bool]],
    least_votes: int,
) -> list[CaptionDecision]:
    decisions = []
    for index, caption in enumerate(captions):
        votes = votes_by_caption.get((caption.image, caption.writer), ())
        text_fault = _text_fault(caption, captions[:index])
        fault = text_fault or vote_fault(votes, least_votes, "verifiers accept it")
        decision = CaptionDecision(
            image=caption.image,
            writer=caption.writer,
            caption=" ".join(caption.caption.split()),
            kept=not fault,
            reason=fault or "kept",
            n_votes=len(votes),
            n_accepting=sum(votes),
            open=not text_fault and len(votes) < least_votes,
        )
        decisions.append(decision)
    passing = [decision for decision in decisions if decision.kept]
    surplus = sorted(passing, key=lambda decision: -decision.n_accepting)[MAX_CAPTIONS:]
    beyond = f"beyond the best {MAX_CAPTIONS}"
    return [replace(row, kept=False, reason=beyond) if row in surplus else row for row in decisions]


def _text_fault(caption: WrittenCaption, earlier_captions: Sequence[WrittenCaption]) -> str:
    """Why a caption is not put to the vote; "" if it is."""
    text = normalize_text(caption.caption)
    if not text:
        return "empty"
    is_repeated = text in [normalize_text(earlier.caption) for earlier in earlier_captions]
    return "an earlier caption says the same" if is_repeated else ""
