"""Which entries become questions, and the reason for each that does not (section 3.4)."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench_assets.core.schema.rows import Edition, Rejection
from bench_assets.suites.codis.dataset import ContextPair
from bench_assets.suites.codis.parsing.words import normalised
from bench_assets.suites.codis.votes import VoteDecision

CATEGORIES = (
    "Location and Orientation",
    "Temporal Information",
    "Cultural Background",
    "Attributes",
    "Relationships",
)
"""The taxonomy of section 3.1, in the order of Table 3."""


N_PUBLISHED_PAIRS = 353  # section 3.4: 706 queries


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionFunnelStep:
    """How many were left at one step on the way from images to queries."""

    step: str
    n: int
    paper: int | None = None  # section 3.4; None where it gives no number


class Selection(NamedTuple):
    """The pairs that become questions, and everything that does not."""

    pairs: list[ContextPair]
    rejections: list[Rejection]


def select(
    pairs: Sequence[ContextPair], decisions: Iterable[VoteDecision], images: Collection[str]
) -> Selection:
    """Take the kept pairs that pass the checks a machine can make, in order.

    Args:
        pairs: All entries.
        decisions: One for each of them.
        images: Names of the images that are there and decode.
    """
    selected: list[ContextPair] = []
    seen: set[tuple[str, ...]] = set()
    rejections: list[Rejection] = []
    for pair, decision in zip(pairs, decisions, strict=True):
        faults = _faults(pair, images, seen) if decision.outcome == "kept" else [_fate(decision)]
        rejections += [Rejection(entry=_entry(pair), reason=reason) for reason in faults]
        if not faults:
            selected.append(pair)
            seen.add(_content(pair))
    return Selection(selected, rejections)


def edition_of(pairs: Sequence[ContextPair]) -> Edition:
    """Name the edition that entries make: only the whole release is called published.

    The authors number their 353 pairs from 000 without gaps; a selection of them, or data of
    one's own in their format, is ``"own"``, and what the annotators submitted is ``"built"``.
    """
    if any(pair.annotator for pair in pairs):
        return "built"
    numbers = [f"{number:03}" for number in range(N_PUBLISHED_PAIRS)]
    return "published" if sorted(pair.pair_id for pair in pairs) == numbers else "own"


def funnel(
    collected: Collection[str],
    pairs: Iterable[ContextPair],
    decisions: Iterable[VoteDecision],
    selected: Sequence[ContextPair],
) -> list[SelectionFunnelStep]:
    """Count what is left at each step from images to queries (section 3.4).

    Args:
        collected: Names of all images, those with nothing submitted for them included.
        pairs: All entries.
        decisions: One for each of them.
        selected: The pairs that became questions.
    """
    submitted = [pair.image for pair in pairs]
    n_images = len({pair.image for pair in selected})
    outcomes = Counter(decision.outcome for decision in decisions)
    return [
        SelectionFunnelStep(step="images collected", n=len(collected), paper=377),
        SelectionFunnelStep(step="images with submissions", n=len(set(submitted) & set(collected))),
        SelectionFunnelStep(step="submissions", n=len(submitted)),
        SelectionFunnelStep(step="submissions that a revision replaced", n=outcomes["revised"]),
        SelectionFunnelStep(step="submissions open: votes are missing", n=outcomes["open"]),
        SelectionFunnelStep(step="submissions kept by the votes", n=outcomes["kept"]),
        SelectionFunnelStep(
            step="pairs kept by the checks", n=len(selected), paper=N_PUBLISHED_PAIRS
        ),
        SelectionFunnelStep(step="images kept", n=n_images, paper=216),
        SelectionFunnelStep(step="images excluded", n=len(collected) - n_images, paper=161),
        SelectionFunnelStep(step="queries", n=2 * len(selected), paper=706),
    ]


def _fate(decision: VoteDecision) -> str:
    fate = f"revised as {decision.revised_by}" if decision.revised_by else decision.outcome
    return f"{fate}: {decision.reason}"


def _faults(
    pair: ContextPair, images: Collection[str], seen: Collection[tuple[str, ...]]
) -> list[str]:
    faults = {
        f"id {pair.pair_id!r} is empty or holds blanks or slashes": (
            re.fullmatch(r"[^\s/]+", pair.pair_id) is None
        ),
        "the question is empty": not pair.question.strip(),
        "a context is empty": not all(map(_plain, pair.contexts)),
        "an answer is empty": not all(map(_plain, pair.answers)),
        "the two contexts are the same": len(set(map(_plain, pair.contexts))) == 1,
        "the two answers are the same": len(set(map(normalised, pair.answers))) == 1,
        f"unknown category {pair.category!r}; known: {', '.join(CATEGORIES)}": (
            pair.category not in CATEGORIES
        ),
        f"image {pair.image!r} is missing or does not decode": pair.image not in images,
        "an earlier pair has the same image, question and contexts": _content(pair) in seen,
    }
    return [fault for fault, holds in faults.items() if holds]


def _content(pair: ContextPair) -> tuple[str, ...]:
    return pair.image, _plain(pair.question), *sorted(map(_plain, pair.contexts))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _entry(pair: ContextPair) -> str:
    file = "submissions.json" if pair.annotator else "data.json"
    return f"{file}, id {pair.pair_id}"
