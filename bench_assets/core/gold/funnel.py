"""Funnel of proposed questions: the yield of each construction beside its errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.stats.means import share_interval

MIN_ACCEPTED = 0.05
"""Least share of accepted proposals, below which a construction hardly builds anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldFunnel:
    """Outcomes of a construction's proposals, and the errors among accepted ones."""

    construction: str
    proposed: int
    by_form: int  # that a rule proves or recalculates
    agreed: int  # accepted by the votes of solvers
    open: int
    rejected: int
    decided_by_people: int
    accepted: int
    checked: int  # accepted by votes without a doubt, and judged by people
    wrong: int  # of these: another answer, contradictory, or not to be asked
    wrong_share: float | None  # None: none is checked
    wrong_low: float | None  # 95 % interval
    wrong_high: float | None


def gold_funnel(
    voted: Sequence[DecidedProposal], decided: Iterable[DecidedProposal]
) -> list[GoldFunnel]:
    """Count the outcomes of each construction, in order of appearance.

    Args:
        voted: Rows as the votes decide.
        decided: The same rows after people's verdicts; a missing one stays as voted.
    """
    decided_by_id = {row.id: row for row in decided}
    by_construction: dict[str, list[_Outcome]] = {}
    for row in voted:
        outcome = _Outcome(voted=row, final=decided_by_id.get(row.id, row))
        by_construction.setdefault(row.construction, []).append(outcome)
    return [_count(construction, outcomes) for construction, outcomes in by_construction.items()]


def low_yields(rows: Iterable[GoldFunnel]) -> list[str]:
    """Messages about constructions of which hardly any proposal is accepted."""
    return [
        f"{row.construction}: {row.accepted} of {row.proposed} proposals are accepted"
        for row in rows
        if row.accepted < MIN_ACCEPTED * row.proposed
    ]


class _Outcome(NamedTuple):
    """A proposal as its votes decide, and after people's verdicts."""

    voted: DecidedProposal
    final: DecidedProposal

    @property
    def is_checked(self) -> bool:
        """Whether the votes accept it without a doubt, and people judged it nevertheless."""
        is_certain = self.voted.decision == "accepted" and not self.voted.doubt
        return is_certain and self.voted.by != "people" and self.final.by == "people"


def _count(construction: str, outcomes: Sequence[_Outcome]) -> GoldFunnel:
    voted = [outcome.voted for outcome in outcomes]
    decisions = [outcome.final.decision for outcome in outcomes]
    checked = [outcome.final.decision for outcome in outcomes if outcome.is_checked]
    n_wrong = len(checked) - checked.count("accepted")
    share = n_wrong / len(checked) if checked else None
    low, high = (None, None) if share is None else share_interval(share, len(checked))
    return GoldFunnel(
        construction=construction,
        proposed=len(outcomes),
        by_form=sum(bool(row.form) for row in voted),
        agreed=sum(row.decision == "accepted" and row.by == "solvers" for row in voted),
        open=decisions.count("open"),
        rejected=decisions.count("rejected"),
        decided_by_people=sum(outcome.final.by == "people" for outcome in outcomes),
        accepted=decisions.count("accepted"),
        checked=len(checked),
        wrong=n_wrong,
        wrong_share=share,
        wrong_low=low,
        wrong_high=high,
    )
