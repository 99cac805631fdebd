"""What comes of people's answers about models' replies, as tables: shares with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench_assets.core.rows import Prediction
from bench_assets.people.verdicts import PEOPLE, ReplyVerdict, right_by_people


@dataclass(frozen=True, slots=True, kw_only=True)
class RightByPeople:
    """The share of one model's sampled replies that people call right."""

    model: str
    judge: str
    n: int  # replies that most could judge, and were not divided about
    share: float
    low: float  # of the 95 % interval
    high: float


def right_shares(
    verdicts: Sequence[ReplyVerdict], predictions: Sequence[Prediction]
) -> list[RightByPeople]:
    """Score models by the judge named people, on the sample that people saw."""
    return [
        RightByPeople(
            model=model,
            judge=PEOPLE,
            n=found.n_scored,
            share=found.value,
            low=found.low,
            high=found.high,
        )
        for model, found in right_by_people(verdicts, predictions).items()
    ]
