"""Audit checks and their findings: one row per check, with the suspects to review."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bench_assets.audit.framework.evidence import Evidence
from bench_assets.core.schema.errors import BenchError


class Suspect(NamedTuple):
    """An item to review."""

    about: str  # a question's id, an image's SHA-256, a model, a judge or an annotator
    evidence: str  # why, in one sentence with figures
    weight: float = 1.0  # the highest is reviewed first; comparable within one check


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """Result of one check on one task; a row of the tables named ``audit``."""

    task: str
    check: str  # "duplicate_images"
    question: str  # "Are any images duplicated?"
    passed: bool
    sentence: str  # with figures
    n: int  # questions, images, models or responses examined
    skipped: str = ""  # why nothing was examined; the check passes if it does not apply
    about: tuple[str, ...] = ()  # of the suspects, the most suspect first; parallel to the next two
    evidence: tuple[str, ...] = ()
    weight: tuple[float, ...] = ()

    @property
    def suspects(self) -> list[Suspect]:
        """The suspects, the most suspect first."""
        return [
            Suspect(about=about, evidence=evidence, weight=weight)
            for about, evidence, weight in zip(self.about, self.evidence, self.weight, strict=True)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFinding:
    """Result of one check."""

    sentence: str
    n: int  # see ``AuditRow.n``
    suspects: Sequence[Suspect] = ()
    failed: bool | None = None  # None: failed if there are suspects
    skipped: str = ""  # see ``AuditRow.skipped``

    @property
    def passed(self) -> bool:
        """Whether the check passed."""
        if self.failed is None:
            return not self.suspects
        return not self.failed


class SkippedCheckError(BenchError):
    """A check does not apply to a task; the message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """An audit check of a benchmark."""

    name: str
    question: str
    examine: Callable[[Evidence], AuditFinding]

    def __call__(self, evidence: Evidence) -> AuditFinding:
        """Run the check on a task; a check that does not apply passes."""
        try:
            return self.examine(evidence)
        except SkippedCheckError as error:
            return AuditFinding(sentence=f"Not examined: {error}.", n=0, skipped=str(error))

    def row(self, evidence: Evidence) -> AuditRow:
        """Run the check and build its row; a check whose input cannot be read fails."""
        try:
            finding = self(evidence)
        except BenchError as error:
            finding = AuditFinding(
                sentence=f"Cannot be examined: {error}", n=0, failed=True, skipped=str(error)
            )
        suspects = sort_suspects(finding.suspects)
        return AuditRow(
            task=evidence.task.name,
            check=self.name,
            question=self.question,
            passed=finding.passed,
            sentence=finding.sentence,
            n=finding.n,
            skipped=finding.skipped,
            about=tuple(suspect.about for suspect in suspects),
            evidence=tuple(suspect.evidence for suspect in suspects),
            weight=tuple(suspect.weight for suspect in suspects),
        )


def audit_check(
    name: str, question: str
) -> Callable[[Callable[[Evidence], AuditFinding]], AuditCheck]:
    """Decorate a function as a check with a name and a question."""
    return lambda examine: AuditCheck(name=name, question=question, examine=examine)


def sort_suspects(suspects: Iterable[Suspect]) -> list[Suspect]:
    """Sort suspects by weight, largest first, then by what they are about."""
    return sorted(suspects, key=lambda suspect: (-suspect.weight, suspect.about))
