"""Captions: eight people write them, four verify them, five are kept (section 3.2)."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from bench_assets.suites.journeybench.raw import CaptionVote, WrittenCaption

KEPT = 5  # captions of a picture, as in the released data


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionDecision:
    """What became of a caption, and why."""

    picture: str
    writer: str
    caption: str
    kept: bool
    reason: str
    n_votes: int
    n_accepting: int


def verify_captions(
    captions: Iterable[WrittenCaption],
    votes: Iterable[CaptionVote],
    pictures: Collection[str],
    most: int = KEPT,
) -> list[CaptionDecision]:
    """Decide on each caption of the pictures that were kept, in order.

    A caption needs more than half of its verifiers. Of those that have them, the most accepted
    are kept; of equals, the first written.

    Args:
        captions: All that were written.
        votes: What verifiers say; nobody verifies a caption of their own.
        pictures: Those that passed the filter.
        most: Captions kept for a picture.
    """
    cast: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for vote in votes:
        if vote.verifier != vote.writer:
            cast[vote.picture, vote.writer].append(vote.accepts)
    by_picture: dict[str, list[WrittenCaption]] = defaultdict(list)
    for caption in captions:
        if caption.picture in pictures:
            by_picture[caption.picture].append(caption)
    return [
        decision
        for written in by_picture.values()
        for decision in _decide(written, [cast[c.picture, c.writer] for c in written], most)
    ]


def kept_captions(decisions: Iterable[CaptionDecision]) -> dict[str, list[str]]:
    """List the kept captions of each picture that has some, in the order they were written."""
    kept: dict[str, list[str]] = defaultdict(list)
    for decision in decisions:
        if decision.kept:
            kept[decision.picture].append(decision.caption)
    return dict(kept)


def plain(text: str) -> str:
    """Make texts comparable: case, blanks and the final stop do not count."""
    return " ".join(text.casefold().split()).rstrip(" .!")


def _decide(
    written: Sequence[WrittenCaption], heard: Sequence[Sequence[bool]], most: int
) -> list[CaptionDecision]:
    faults = [_fault(number, written, heard[number]) for number in range(len(written))]
    passing = [number for number, fault in enumerate(faults) if not fault]
    best = sorted(passing, key=lambda number: -sum(heard[number]))[:most]
    return [
        CaptionDecision(
            picture=caption.picture,
            writer=caption.writer,
            caption=" ".join(caption.caption.split()),
            kept=number in best,
            reason=faults[number] or ("kept" if number in best else f"beyond the best {most}"),
            n_votes=len(heard[number]),
            n_accepting=sum(heard[number]),
        )
        for number, caption in enumerate(written)
    ]


def _fault(number: int, written: Sequence[WrittenCaption], votes: Sequence[bool]) -> str:
    own = plain(written[number].caption)
    if not own:
        return "empty"
    if own in [plain(earlier.caption) for earlier in written[:number]]:
        return "an earlier caption says the same"
    if 2 * sum(votes) <= len(votes) or not votes:
        return f"{sum(votes)} of {len(votes)} verifiers accept it"
    return ""
