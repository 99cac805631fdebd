"""Section ``[annotation]``: annotation backend and tasks."""

from datetime import date, datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from bench_assets.annotation.tasks import AnnotationTerms, deadline_end
from bench_resources.config.addresses import Address
from bench_resources.config.sections.base import StrictSection


class AnnotationTaskSettings(StrictSection):
    """Section ``[annotation.tasks."suite/task"]``: an active task and its terms."""

    needed: int | None = Field(None, ge=1)
    """Answers per unit, each by another annotator; default: the paper's."""
    until: datetime | date | None = None
    """Deadline; a date ends at midnight UTC. Units without a decision are expired then."""
    least_decided: float = Field(0.5, ge=0, le=1)
    """Share of units that must be decided at the deadline; otherwise no questions are built."""
    publish: Literal["complete", "partial"] = "complete"
    """Wait until no unit is open, or build questions of the decided units."""
    most_answers: int | None = Field(None, ge=1)
    """Most answers per annotator; the first ones count."""
    gold: Path | None = None
    """Attention checks: JSON lines of ``{unit, values}``."""
    least_gold: float = Field(0.0, ge=0, le=1)
    """Share of attention checks that an annotator must pass."""
    propose: str = ""
    """A model that fills units in before annotators see them."""
    unproposed: float = Field(0.25, ge=0, le=1)
    """Share of units without a proposal."""

    @property
    def terms(self) -> AnnotationTerms:
        """The terms, for counting answers."""
        return AnnotationTerms(
            needed=self.needed,
            until=deadline_end(self.until) if self.until else "",
            most_answers=self.most_answers,
            least_gold=self.least_gold,
            least_decided=self.least_decided,
        )


class AnnotationSettings(StrictSection):
    """A section ``[annotation]``."""

    kind: Literal["files", "pages"] = "files"
    """Backend: files in ``annotation/`` of the home, or the pages of ``bench annotate serve``."""
    url: Address = ""
    """Public address of the pages."""
    every: int = Field(60, ge=5)
    """Seconds between two polls for answers."""
    names: dict[str, str] = Field(default_factory=dict)
    """Pseudonym of each annotator, by name, e-mail address or number of an account."""
    tasks: dict[str, AnnotationTaskSettings] = Field(default_factory=dict)
    """Active tasks, by ``"suite/task"``; ``bench annotate tasks`` lists all."""
