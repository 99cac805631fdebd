"""Section ``[annotation]``: annotation backend and tasks."""

from datetime import date, datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from bench_assets.annotation.answers.resolution import Terms
from bench_assets.annotation.tasks import end_of
from resources.config.sections.base import StrictSection


class AnnotationTaskSettings(StrictSection):
    """A section ``[annotation.tasks."suite/task"]``: a task that is asked, and its terms."""

    needed: int | None = Field(None, ge=1)
    """Answers of a unit by as many people; None: as many as the paper has."""
    until: datetime | date | None = None
    """What is said later does not count; a day without a time ends at midnight, UTC."""
    publish: Literal["complete", "partial"] = "complete"
    """Whether questions wait until no unit is open, or are built of what is decided."""
    most_answers: int | None = Field(None, ge=1)
    """Of one person; their first ones count."""
    gold: Path | None = None
    """Attention checks: JSON lines of ``{unit, values}``, what must be said of which unit."""
    least_gold: float = Field(0.0, ge=0, le=1)
    """Share of attention checks to get right; of who gets fewer right no answer counts."""
    propose: str = ""
    """A model that fills units in before people come; "": none."""
    unproposed: float = Field(0.25, ge=0, le=1)
    """Share of units, drawn by their ids, that are shown without a proposal all the same."""

    @property
    def terms(self) -> Terms:
        """The terms as the rule of counting has them."""
        return Terms(
            needed=self.needed,
            until=end_of(self.until) if self.until else "",
            most_answers=self.most_answers,
            least_gold=self.least_gold,
        )


class AnnotationSettings(StrictSection):
    """A section ``[annotation]``."""

    kind: Literal["files", "pages", "label-studio"] = "files"
    """Backend: files in ``annotation/`` of the home folder, the pages of ``bench annotate serve``,
    or a Label Studio."""
    url: str = ""
    """Where the Label Studio is, or what the pages are called from outside: loopback or https."""
    token_env: str = ""
    """Name of the environment variable with the Label Studio's token."""
    every: int = Field(60, ge=5)
    """s between two looks for new answers."""
    names: dict[str, str] = Field(default_factory=dict)
    """Pseudonym of each person by what the tool calls them, such as an address."""
    tasks: dict[str, AnnotationTaskSettings] = Field(default_factory=dict)
    """The tasks that are asked; ``bench annotate tasks`` lists all there are."""
