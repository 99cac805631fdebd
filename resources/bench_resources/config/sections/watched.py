"""Sections ``[checkpoints]`` and ``[annotation]``: what sensors watch while the UI runs."""

from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from bench_assets.annotation.tasks import AnnotationTerms, deadline_end
from bench_resources.config.addresses import Address
from bench_resources.config.sections.base import StrictSection
from bench_resources.config.sections.serving import validate_command


class CheckpointSettings(StrictSection):
    """Watched checkpoints, evaluated as they appear; none without folders."""

    folders: list[Path] = Field(default_factory=list)
    """Folders that are watched recursively. A checkpoint is named ``run/step``, so watch the folder
    above the runs."""
    settle_seconds: float = Field(60.0, ge=0)
    """Seconds without a change after which a checkpoint is complete."""
    like: str = ""
    """Model whose settings the checkpoints use. Its kind is ``transformers`` or ``vllm``, or
    ``server`` with ``serve``."""
    serve: Annotated[str, AfterValidator(validate_command)] = ""
    """Command that serves a checkpoint, as ``serve`` of a model."""
    suites: list[str] = Field(default_factory=list)
    """Suites to evaluate, each from when its questions are built; default: all."""
    first: int = Field(0, ge=0)
    """Number of questions per task of a quick evaluation before the full one; 0: none."""
    attempts_a_day: int = Field(5, ge=1)
    """Maximum number of runs in 24 hours for a checkpoint without metrics. The pauses between them
    begin with 10 minutes, and double."""
    baseline: str = ""
    """Model with which each checkpoint is compared, besides the previous checkpoint."""
    smallest_change: float = Field(0.05, gt=0, lt=1)
    """Smallest difference, as a share of the points, that a comparison should detect."""
    severity: Literal["WARN", "ERROR"] = "WARN"
    """Severity of a failed regression check."""
    webhook_env: str = ""
    """Environment variable with the address to which failed checks, runs and sensors are posted."""


class AnnotationTaskSettings(StrictSection):
    """Section ``[annotation.tasks."suite/task"]``: an active task and its terms."""

    needed: int | None = Field(None, ge=1)
    """Answers per unit, each by another annotator; default: the suite's number."""
    until: datetime | date | None = None
    """Deadline; for a date, the end of the day in UTC. Units without a decision then expire."""
    least_decided: float = Field(0.5, ge=0, le=1)
    """Share of units that must be decided at the deadline; otherwise evaluations do not start."""
    publish: Literal["complete", "partial"] = "complete"
    """``"complete"``: evaluations start when no unit is open. ``"partial"``: they start with the
    questions of the decided units."""
    most_answers: int | None = Field(None, ge=1)
    """Maximum number of answers per annotator. The first ones count."""
    gold: Path | None = None
    """File of attention checks: JSON lines of ``{unit, values}``."""
    least_gold: float = Field(0.0, ge=0, le=1)
    """Share of attention checks that an annotator must pass."""

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
    """Backend: files in the folder ``annotation`` of the home, or the pages of ``bench annotate
    serve``."""
    url: Address = ""
    """Public address of the pages."""
    every: int = Field(60, ge=5)
    """Seconds between two polls for answers."""
    names: dict[str, str] = Field(default_factory=dict)
    """Pseudonym of each annotator, by name, e-mail address or number of an account."""
    tasks: dict[str, AnnotationTaskSettings] = Field(default_factory=dict)
    """Active tasks, by ``"suite/task"``. ``bench annotate tasks`` lists all tasks."""
