"""Captions: eight people write them, four verify them, five are kept (section 3.2)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from bench_assets.suites.journeybench.decisions import CaptionDecision
from bench_assets.suites.journeybench.raw_material import CaptionVote, WrittenCaption

KEPT = 5  # captions of an image, as in the released data


def verify_captions(
    captions: Iterable[WrittenCaption],
    votes: Iterable[CaptionVote],
    images: Collection[str],
    most: int = KEPT,
    least: int = 1,
) -> list[CaptionDecision]:
    """Decide on each caption of the images that were kept, in order.

    A caption needs more than half of its verifiers, and is open until they have voted. Of those
    that have them, the most accepted are kept; of equals, the first written.

    Args:
        captions: All that were written.
        votes: What verifiers say; nobody verifies a caption of their own.
        images: Those that passed the filter.
        most: Captions kept for an image.
        least: Votes that a caption takes.
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
        for decision in _decide(written, [cast[c.image, c.writer] for c in written], most, least)
    ]


def kept_captions(decisions: Iterable[CaptionDecision]) -> dict[str, list[str]]:
    """List the kept captions of each image that has some, in the order they were written."""
    kept: dict[str, list[str]] = defaultdict(list)
    for decision in decisions:
        if decision.kept:
            kept[decision.image].append(decision.caption)
    return dict(kept)


def plain(text: str) -> str:
    """Make texts comparable: case, blanks and the final stop do not count."""
    return " ".join(text.casefold().split()).rstrip(" .!")


def _decide(
    written: Sequence[WrittenCaption], heard: Sequence[Sequence[bool]], most: int, least: int
) -> list[CaptionDecision]:
    own = [_unfit(number, written) for number in range(len(written))]
    waits = [not why and len(cast) < least for why, cast in zip(own, heard, strict=True)]
    faults = [
        why or (_too_few(cast, least) if wait else _voted(cast))
        for why, cast, wait in zip(own, heard, waits, strict=True)
    ]
    passing = [number for number, fault in enumerate(faults) if not fault]
    best = sorted(passing, key=lambda number: -sum(heard[number]))[:most]
    return [
        CaptionDecision(
            image=caption.image,
            writer=caption.writer,
            caption=" ".join(caption.caption.split()),
            kept=number in best,
            reason=faults[number] or ("kept" if number in best else f"beyond the best {most}"),
            n_votes=len(heard[number]),
            n_accepting=sum(heard[number]),
            open=waits[number],
        )
        for number, caption in enumerate(written)
    ]


def _unfit(number: int, written: Sequence[WrittenCaption]) -> str:
    own = plain(written[number].caption)
    if not own:
        return "empty"
    if own in [plain(earlier.caption) for earlier in written[:number]]:
        return "an earlier caption says the same"
    return ""


def _too_few(votes: Sequence[bool], least: int) -> str:
    return f"{len(votes)} votes, {least} are needed" if votes else "nobody verified it"


def _voted(votes: Sequence[bool]) -> str:
    return (
        "" if 2 * sum(votes) > len(votes) else f"{sum(votes)} of {len(votes)} verifiers accept it"
    )
