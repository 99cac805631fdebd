"""How many images, captions, statements and look-alikes are left at each step of building."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench_assets.suites.journeybench.decisions import (
    CaptionDecision,
    FilterDecision,
    LookAlikeDecision,
    StatementDecision,
)


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
