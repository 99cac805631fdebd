"""Funnel of proposed questions: the yield of each construction beside its errors."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    after = {row.id: row for row in decided}
    names = dict.fromkeys(row.construction for row in voted)
    return [
        _count(name, [(row, after.get(row.id, row)) for row in voted if row.construction == name])
        for name in names
    ]


def low_yields(rows: Iterable[GoldFunnel]) -> list[str]:
    """Constructions of which hardly any proposal is accepted."""
    return [
        f"{row.construction}: {row.accepted} of {row.proposed} proposals are accepted"
        for row in rows
        if row.accepted < MIN_ACCEPTED * row.proposed
    ]


def _count(name: str, rows: Sequence[tuple[DecidedProposal, DecidedProposal]]) -> GoldFunnel:
    decisions = [after.decision for _, after in rows]
    checked = [
        after.decision == "accepted"
        for before, after in rows
        if before.decision == "accepted" and before.by != after.by == "people" and not before.doubt
    ]
    n_wrong = checked.count(False)
    share = n_wrong / len(checked) if checked else None
    low, high = (None, None) if share is None else share_interval(share, len(checked))
    return GoldFunnel(
        construction=name,
        proposed=len(rows),
        by_form=sum(bool(before.form) for before, _ in rows),
        agreed=sum(before.decision == "accepted" and before.by == "solvers" for before, _ in rows),
        open=decisions.count("open"),
        rejected=decisions.count("rejected"),
        decided_by_people=sum(after.by == "people" for _, after in rows),
        accepted=decisions.count("accepted"),
        checked=len(checked),
        wrong=n_wrong,
        wrong_share=share,
        wrong_low=low,
        wrong_high=high,
    )
