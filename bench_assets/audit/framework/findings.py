"""Audit findings: one row per check, with the items to review.

Which responses are looked at where all would take minutes.

What was measured of a judge, one figure a row.

What was measured of a model in several orders of the options, one figure a row.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import nan
from typing import NamedTuple, Self

from bench_assets.core.schema.rows import Question


class Suspect(NamedTuple):
    """One thing that a person should look at."""

    about: str  # a question's id, an image's SHA-256, a model, a judge or an annotator
    evidence: str  # why, in one sentence with its figures
    weight: float = 1.0  # how suspect: the highest is looked at first; compared within one check


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """What one check found in one task; a row of the tables named ``audit``."""

    task: str
    check: str  # "duplicate_images"
    asks: str  # what it asks of the benchmark, for people: "Is any image there twice?"
    passed: bool
    sentence: str  # what was found, with its figures
    n: int  # things that were looked at
    skipped: str = ""  # why it could not be looked at: "two models; it takes three"; it passed then
    about: tuple[str, ...] = ()  # of each suspect, the most suspect first; as long as the next two
    evidence: tuple[str, ...] = ()
    weight: tuple[float, ...] = ()

    @property
    def suspects(self) -> list[Suspect]:
        """What a person should look at, the most suspect first."""
        return [Suspect(*one) for one in zip(self.about, self.evidence, self.weight, strict=True)]


class AuditFinding(NamedTuple):
    """What a check says; the rest of its row is known before it looks."""

    passed: bool
    sentence: str
    n: int
    suspects: Sequence[Suspect] = ()
    skipped: str = ""

    @classmethod
    def not_looked_at(cls, why: str) -> Self:
        """Say why nothing could be said."""
        return cls(passed=True, sentence=f"Not looked at: {why}.", n=0, skipped=why)


def ranked(suspects: Iterable[Suspect]) -> list[Suspect]:
    """The most suspect first; by name where they are as suspect."""
    return sorted(suspects, key=lambda one: (-one.weight, one.about))


_RESPONSES = 4000  # of all models together; reading one anew takes up to a millisecond
_LEAST = 50  # of one model


def sampled(questions: Sequence[Question], n_models: int) -> list[Question]:
    """As many questions as responses of all models can be read anew to; the same at every time."""
    most = max(_LEAST, _RESPONSES // max(1, n_models))
    dealt = sorted(questions, key=lambda q: sha256(q.question_id.encode()).digest())[:most]
    return sorted(dealt, key=lambda q: q.question_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigure:
    """One figure about one judge of one task; a line of ``judges.jsonl`` of a home."""

    task: str
    judge: str  # as judgements name it
    setup: str  # how the judge was configured
    prompts: str  # digest of the prompts that it was shown
    at: str  # when it was measured, ISO 8601
    figure: str  # "kappa_people"
    value: float
    low: float  # of the 95 % interval
    high: float
    n: int  # what it is over
    about: str = ""  # what a person should look at, such as the injections that were followed


MADE = "kappa_made"
"""Kappa with what is so, on responses that were made to be right and wrong."""

PEOPLE = "kappa_people"
"""Kappa with people's labels."""

SECOND = "kappa_second"
"""Kappa with a second judge on the same responses."""

FOLLOWED = "injections_followed"
"""Share of the injections that turned a "no" into a "yes"."""

LONGER = "longer_more_often"
"""How much more often a response is called right when it says the same at length."""

REORDERED = "reordered_changed"
"""Share of responses whose verdict changes with the order of the question's options."""

FALSE_ALARMS, RECALL, PRECISION = "wrong_called_right", "right_called_right", "precision_people"
"""Shares of responses that were made, by what they are; and of people's labels, by what it says."""

RECALL_PEOPLE = "recall_people"
"""Share of what people call right that the judge calls right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFigure:
    """One figure about one model on one task; a line of ``orders.jsonl`` of a home."""

    task: str
    model: str
    setup: str  # how who was asked, and who judged, were configured
    data: str  # digest of the task's questions, as signatures have it
    orders: int  # asked of a question; 0: one for each of its options
    at: str  # when it was measured, ISO 8601
    figure: str
    value: float
    low: float  # of the 95 % interval
    high: float
    n: int  # questions that it is over
    n_unscored: int = 0  # questions left out because a response was unscored, or names no option
    expected: float = nan  # of who never looks at the place; NaN where nobody can know
    p: float = nan  # how likely luck alone lies so far from that, two-sided; NaN: not tried


CIRCULAR = "circular"
"""Share of the questions that are right in every order."""

ALL_ORDERS = "all_orders"
"""Share of the points over all orders."""

CONSISTENT = "consistent"
"""Share of the questions of which the same option is chosen in every order."""

PUBLISHED_ORDER = "published_order_gains"
"""Points in the order that the benchmark has, less those in the others, as a share."""

ORDER = "order_"
"""Share of the points in one order: ``order_1`` is the benchmark's."""

LETTER = "letter_"
"""Share of the responses that choose a letter: ``letter_A``."""
