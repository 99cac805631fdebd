"""Image distractors: images of the gallery that resemble another one (section 3.3).

The paper's experts search a gallery by subject, by composition, or by both. Here the candidates are
the nearest neighbours in an embedding space, one space for each criterion, and people verify them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from bench_assets.core.schema.chat import Vectors
from bench_assets.suites.journeybench.raw_material import (
    LookAlikeDecision,
    LookAlikeVote,
    vote_fault,
)

MAX_LOOK_ALIKES = 5  # distractors per image; 5.32 on average in the released data

_SURPLUS = f"beyond the nearest {MAX_LOOK_ALIKES}"
_VOTE_PHRASE = "confirm it"
_GRID = 12  # cells per side of the grid of a composition


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAlike:
    """An image that may distract from another one."""

    image: str
    candidate: str
    criterion: str  # "subject", "composition" or "both"
    similarity: float  # cosine in that criterion's space


def composition(image: Image.Image) -> Vectors:
    """Embed where light and colours are in an image: a unit vector, or 0 for a uniform grey.

    The image's own mean is subtracted, so that images on different backgrounds can be alike.
    """
    cells = np.asarray(image.convert("RGB").resize((_GRID, _GRID)), dtype=np.float32).ravel()
    centred = cells - cells.mean()
    return np.asarray(centred / max(float(np.linalg.norm(centred)), 1e-6), dtype=np.float32)


def propose_look_alikes(
    names: Sequence[str], subjects: Vectors, compositions: Vectors, n: int = 8
) -> list[LookAlike]:
    """Propose the ``n`` nearest neighbours of every image by each criterion.

    ``subjects`` and ``compositions`` have the unit vector of each name, in order. "both" is the
    mean of the two cosines. Ties are in the order of names.
    """
    order = sorted(range(len(names)), key=names.__getitem__)
    ordered_names = [names[row] for row in order]
    by_subject = subjects[order] @ subjects[order].T
    by_composition = compositions[order] @ compositions[order].T
    by_both = np.asarray((by_subject + by_composition) / 2, dtype=np.float32)
    return [
        *_nearest_images(ordered_names, "subject", by_subject, n),
        *_nearest_images(ordered_names, "composition", by_composition, n),
        *_nearest_images(ordered_names, "both", by_both, n),
    ]


def verify_look_alikes(
    look_alikes: Iterable[LookAlike], votes: Iterable[LookAlikeVote], least_votes: int = 1
) -> list[LookAlikeDecision]:
    """Decide on each proposed image, the nearest first.

    More than half of the annotators must say that it is alike and that the captions of the other
    image do not fit it. Of those, the nearest ``MAX_LOOK_ALIKES`` of an image are accepted. A
    proposal with too few votes is open, unless that many nearer ones are accepted.

    Args:
        look_alikes: Proposals of all criteria; an image proposed by several counts once.
        votes: Annotators' votes on pairs of images.
        least_votes: Votes that decide on a pair.
    """
    votes_by_pair: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for vote in votes:
        votes_by_pair[vote.image, vote.candidate].append(vote.alike and vote.conflicts)
    proposals_by_pair: dict[tuple[str, str], list[LookAlike]] = defaultdict(list)
    for look_alike in look_alikes:
        proposals_by_pair[look_alike.image, look_alike.candidate].append(look_alike)
    n_accepted = Counter[str]()
    decisions = []
    for proposals in sorted(proposals_by_pair.values(), key=_nearest_first):
        image, candidate = proposals[0].image, proposals[0].candidate
        pair_votes = votes_by_pair.get((image, candidate), [])
        surplus = _SURPLUS if n_accepted[image] == MAX_LOOK_ALIKES else ""
        fault = vote_fault(pair_votes, least_votes, _VOTE_PHRASE, surplus)
        is_open = len(pair_votes) < least_votes and not surplus
        if not fault:
            n_accepted[image] += 1
        decisions.append(_decision(proposals, pair_votes, fault, is_open=is_open))
    return decisions


def _nearest_images(
    names: Sequence[str], criterion: str, cosines: Vectors, n: int
) -> list[LookAlike]:
    rounded = np.round(cosines, 3)  # float errors, which differ by machine, must not decide
    np.fill_diagonal(rounded, -np.inf)
    ranked = np.argsort(-rounded, axis=1, kind="stable")[:, : min(n, len(names) - 1)]
    return [
        LookAlike(
            image=names[row],
            candidate=names[neighbour],
            criterion=criterion,
            similarity=round(float(rounded[row, neighbour]), 3),
        )
        for row in range(len(names))
        for neighbour in ranked[row]
    ]


def _nearest_first(proposals: Sequence[LookAlike]) -> tuple[str, float, str]:
    """Sort key of the proposals of a pair: by image, then by similarity."""
    similarity = max(proposal.similarity for proposal in proposals)
    return proposals[0].image, -similarity, proposals[0].candidate


def _decision(
    proposals: Sequence[LookAlike], votes: Sequence[bool], fault: str, *, is_open: bool
) -> LookAlikeDecision:
    """Decide on the pair of images that all ``proposals`` name."""
    return LookAlikeDecision(
        image=proposals[0].image,
        candidate=proposals[0].candidate,
        criteria=tuple(proposal.criterion for proposal in proposals),
        similarity=max(proposal.similarity for proposal in proposals),
        accepted=not fault,
        reason=fault or f"{sum(votes)} of {len(votes)} {_VOTE_PHRASE}",
        n_votes=len(votes),
        n_confirming=sum(votes),
        open=is_open,
    )


def accepted_images(decisions: Iterable[LookAlikeDecision]) -> Mapping[str, list[str]]:
    """List the distractors of each image that has some, nearest first."""
    distractors: dict[str, list[str]] = defaultdict(list)
    for decision in decisions:
        if decision.accepted:
            distractors[decision.image].append(decision.candidate)
    return dict(distractors)
