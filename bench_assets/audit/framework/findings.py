"""What an examination of a benchmark found: one row a check, with what a person should look at.

Which responses are looked at where all would take minutes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
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
