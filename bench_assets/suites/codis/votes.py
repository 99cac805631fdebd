"""Votes of annotators on submissions, decisions by votes, and the selection of pairs (3.4)."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bench_assets.annotation.tasks import UndecidedUnits
from bench_assets.core.tables.build import FunnelStep, Table
from bench_assets.suites.codis.answers import normalize_text
from bench_assets.suites.codis.dataset import ContextPair, SubmissionVote

Outcome: TypeAlias = Literal["kept", "revised", "dropped", "open"]
"""``open``: votes are missing, so the submission is neither kept nor dropped."""

CRITERIA = {"correct": "correct", "different": "different", "within_rules": "within the rules"}


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteDecision:
    """Decision by votes on one submission, and its reason."""

    submission: str
    image: str
    annotator: str
    category: str
    n_votes: int
    n_approving: int
    outcome: Outcome
    reason: str
    revised_by: str = ""  # the submission that replaces it


def select_ballots(
    submissions: Sequence[ContextPair], votes: Iterable[SubmissionVote]
) -> Table[SubmissionVote]:
    """Select the votes that count: each annotator's last on each submission of somebody else.

    A vote in a file counts only if its annotator has submitted something, as all five of the paper
    have. An annotation tool admits its own annotators. Other votes are rejected.
    """
    authors: dict[str, str] = {}
    for submission in submissions:
        authors.setdefault(submission.pair_id, submission.annotator)
    all_votes = list(votes)
    last_index = {(vote.submission, vote.annotator): n for n, vote in enumerate(all_votes)}
    counted = Table[SubmissionVote]()
    for index, vote in enumerate(all_votes):
        reason = _vote_fault(vote, authors)
        if not reason and index != last_index[vote.submission, vote.annotator]:
            reason = f"{vote.annotator!r} voted on {vote.submission!r} again; the last vote counts"
        if reason:
            file = vote.tool or "votes.json"
            counted.reject(f"{file}, vote of {vote.annotator!r} on {vote.submission!r}", reason)
        else:
            counted.rows.append(vote)
    return counted


def ballots_by_submission(
    submissions: Sequence[ContextPair], votes: Iterable[SubmissionVote]
) -> dict[str, list[SubmissionVote]]:
    """The votes that count, by submission."""
    by_submission = defaultdict[str, list[SubmissionVote]](list)
    for vote in select_ballots(submissions, votes).rows:
        by_submission[vote.submission].append(vote)
    return by_submission


def decide_submissions(
    submissions: Sequence[ContextPair],
    votes: Iterable[SubmissionVote],
    *,
    needed: int | None = None,
    images: Collection[str] | None = None,
) -> list[VoteDecision]:
    """Decide on each submission by the votes of the other annotators, in order.

    A submission is kept if all votes approve it, that is, call it correct, different from the
    existing data and within the rules. It is open until all needed votes are there. Whatever the
    votes, a revised submission is replaced by its revision, and a repeated id or wrong revision is
    dropped. The authors' release, without annotators, is kept without votes.

    Args:
        submissions: In order of submission.
        votes: All votes; ``select_ballots`` selects those that count.
        needed: Votes that decide; None: one of every other annotator.
        images: Names of the stored images. An open submission about any other is dropped, since
            it cannot be voted on. None: not checked.
    """
    counted = ballots_by_submission(submissions, votes)
    annotators = {submission.annotator for submission in submissions} - {""}
    faults, revisions = _revisions(submissions)
    decisions = []
    for pair, revision_fault in zip(submissions, faults, strict=True):
        ballots = counted.get(pair.pair_id, ())
        n_needed = needed or len(annotators - {pair.annotator})
        outcome, reason = _decide_by_votes(pair, ballots, n_needed)
        fault = revision_fault
        if not fault and outcome == "open" and images is not None and pair.image not in images:
            fault = f"image {pair.image!r} is missing or does not decode"
        revised_by = "" if fault else revisions.get(pair.pair_id, "")
        if fault:
            outcome, reason = "dropped", fault
        elif revised_by:
            outcome = "revised"
        decision = VoteDecision(
            submission=pair.pair_id,
            image=pair.image,
            annotator=pair.annotator,
            category=pair.category,
            n_votes=len(ballots),
            n_approving=sum(vote.approves for vote in ballots),
            outcome=outcome,
            reason=reason,
            revised_by=revised_by,
        )
        decisions.append(decision)
    return decisions


def _vote_fault(vote: SubmissionVote, authors: Mapping[str, str]) -> str:
    """Why a vote does not count; "" if it does. ``authors`` are annotators by submission."""
    if vote.submission not in authors:
        return f"unknown submission {vote.submission!r}"
    if not vote.tool and vote.annotator not in authors.values():
        return f"{vote.annotator!r} is not an annotator: no submission is theirs"
    if vote.annotator == authors[vote.submission]:
        return f"{vote.annotator!r} voted on their own submission, {vote.submission!r}"
    return ""


def _revisions(submissions: Sequence[ContextPair]) -> tuple[list[str], dict[str, str]]:
    """Faults of ids and revisions, "" for none, and the ids of revisions by the id they revise."""
    authors: dict[str, str] = {}
    revisions: dict[str, str] = {}
    faults = []
    for pair in submissions:
        fault = ""
        if pair.pair_id in authors:
            fault = f"an earlier entry has the same id, {pair.pair_id!r}"
        elif pair.revises and authors.get(pair.revises) != pair.annotator:
            fault = (
                f"revises {pair.revises!r}, which is no earlier submission of {pair.annotator!r}"
            )
        elif pair.revises in revisions:
            fault = f"revises {pair.revises!r}, which {revisions[pair.revises]!r} already revises"
        elif pair.revises:
            revisions[pair.revises] = pair.pair_id
        authors.setdefault(pair.pair_id, pair.annotator)
        faults.append(fault)
    return faults, revisions


def _decide_by_votes(
    pair: ContextPair, votes: Sequence[SubmissionVote], n_needed: int
) -> tuple[Outcome, str]:
    """The outcome by the votes alone, and its reason; a published pair is kept without votes."""
    if not pair.annotator:
        return "kept", "published by the authors"
    if len(votes) < max(n_needed, 1):
        return "open", f"{len(votes)} of {n_needed} others voted"
    n_approving = sum(vote.approves for vote in votes)
    reasons = [f"{n_approving} of {len(votes)} others approve"]
    for name, words in CRITERIA.items():
        opponents = [vote.annotator for vote in votes if not getattr(vote, name)]
        if opponents:
            reasons.append(f"not {words}: {', '.join(opponents)}")
    return "kept" if n_approving == len(votes) else "dropped", "; ".join(reasons)


def open_submissions(decisions: Iterable[VoteDecision]) -> dict[str, str]:
    """Submissions with missing votes, each with its reason."""
    return {
        decision.submission: decision.reason for decision in decisions if decision.outcome == "open"
    }


CATEGORIES = (
    "Location and Orientation",
    "Temporal Information",
    "Cultural Background",
    "Attributes",
    "Relationships",
)
"""The taxonomy of section 3.1, in the order of Table 3."""


N_PUBLISHED_PAIRS = 353  # pairs of the release: 706 queries (section 3.4)


def select_pairs(
    pairs: Sequence[ContextPair], decisions: Iterable[VoteDecision], images: Collection[str]
) -> Table[ContextPair]:
    """Select the kept pairs that pass the automatic checks, in order."""
    selected = Table[ContextPair]()
    seen: set[tuple[str, ...]] = set()
    for pair, decision in zip(pairs, decisions, strict=True):
        if decision.outcome == "kept":
            faults = _faults(pair, images, seen)
        else:
            replaced = f"revised as {decision.revised_by}"
            outcome = replaced if decision.revised_by else decision.outcome
            faults = [f"{outcome}: {decision.reason}"]
        for reason in faults:
            file = "submissions.json" if pair.annotator else "data.json"
            selected.reject(f"{file}, id {pair.pair_id}", reason)
        if not faults:
            selected.rows.append(pair)
            seen.add(_content_key(pair))
    return selected


def is_release(pairs: Sequence[ContextPair]) -> bool:
    """Whether the ids are those of the release, whose 353 pairs have the numbers from 000."""
    published_ids = [f"{number:03}" for number in range(N_PUBLISHED_PAIRS)]
    return sorted(pair.pair_id for pair in pairs) == published_ids


def count_steps(
    collected: Collection[str],
    pairs: Iterable[ContextPair],
    decisions: Iterable[VoteDecision],
    selected: Sequence[ContextPair],
    undecided: UndecidedUnits,
) -> list[FunnelStep]:
    """Count the items left at each step from images to queries (section 3.4)."""
    submitted = [pair.image for pair in pairs]
    n_images = len({pair.image for pair in selected})
    outcomes = Counter(decision.outcome for decision in decisions)
    return [
        FunnelStep(step="images collected", n=len(collected), paper=377),
        FunnelStep(step="images with submissions", n=len(set(submitted) & set(collected))),
        FunnelStep(step="submissions", n=len(submitted)),
        FunnelStep(step="submissions that a revision replaced", n=outcomes["revised"]),
        FunnelStep(step="submissions open: votes are missing", n=len(undecided.open)),
        FunnelStep(
            step="submissions expired: votes were missing at the deadline", n=len(undecided.expired)
        ),
        FunnelStep(step="submissions kept by the votes", n=outcomes["kept"]),
        FunnelStep(step="pairs kept by the checks", n=len(selected), paper=N_PUBLISHED_PAIRS),
        FunnelStep(step="images kept", n=n_images, paper=216),
        FunnelStep(step="images excluded", n=len(collected) - n_images, paper=161),
        FunnelStep(step="queries", n=2 * len(selected), paper=706),
    ]


def _faults(
    pair: ContextPair, images: Collection[str], seen: Collection[tuple[str, ...]]
) -> list[str]:
    faults = {
        f"id {pair.pair_id!r} is empty or holds blanks or slashes": (
            re.fullmatch(r"[^\s/]+", pair.pair_id) is None
        ),
        "the question is empty": not pair.question.strip(),
        "a context is empty": not all(map(_fold_case, pair.contexts)),
        "an answer is empty": not all(map(_fold_case, pair.answers)),
        "the two contexts are the same": len(set(map(_fold_case, pair.contexts))) == 1,
        "the two answers are the same": len(set(map(normalize_text, pair.answers))) == 1,
        f"unknown category {pair.category!r}; known: {', '.join(CATEGORIES)}": (
            pair.category not in CATEGORIES
        ),
        f"image {pair.image!r} is missing or does not decode": pair.image not in images,
        "an earlier pair has the same image, question and contexts": _content_key(pair) in seen,
    }
    return [fault for fault, holds in faults.items() if holds]


def _content_key(pair: ContextPair) -> tuple[str, ...]:
    """The identity of a pair: image, question, and contexts in any order."""
    contexts = sorted(map(_fold_case, pair.contexts))
    return pair.image, _fold_case(pair.question), *contexts


def _fold_case(text: str) -> str:
    """Normalize case and blanks; unlike ``normalize_text``, keep punctuation and articles."""
    return " ".join(text.split()).casefold()
