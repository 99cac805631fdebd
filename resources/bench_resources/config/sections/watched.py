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
    """Watched recursively; a checkpoint is named ``run/step``, so watch the folder above the
    runs."""
    settle_seconds: float = Field(60.0, ge=0)
    """Seconds without a change after which a checkpoint is complete."""
    like: str = ""
    """The model whose settings checkpoints use: transformers, vllm, or a server with ``serve``."""
    serve: Annotated[str, AfterValidator(validate_command)] = ""
    """The command that serves a checkpoint, as ``serve`` of a model."""
    suites: list[str] = Field(default_factory=list)
    """Suites to evaluate; default: all."""
    first: int = Field(0, ge=0)
    """Questions per task of a quick evaluation before the full one; 0: none."""
    attempts_a_day: int = Field(5, ge=1)
    """Runs in 24 hours for a checkpoint without a number; pauses between them double, from 10
    minutes."""
    baseline: str = ""
    """A model that each checkpoint is compared with, besides the previous checkpoint."""
    smallest_change: float = Field(0.05, gt=0, lt=1)
    """The difference, as a share of points, that the questions should detect."""
    severity: Literal["WARN", "ERROR"] = "WARN"
    """Severity of a failed regression check."""
    webhook_env: str = ""
    """Environment variable with the address that failed checks, runs and sensors are posted to."""


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
