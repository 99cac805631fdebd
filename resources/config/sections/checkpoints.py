"""Section ``[checkpoints]``: watched folders and their evaluation."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from resources.config.sections.serving import is_command


class CheckpointSettings(BaseModel):
    """Checkpoints that are evaluated as they appear; without folders or repositories, none are."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folders: list[Path] = Field(default_factory=list)
    """Watched with all that lies below; name those above the runs: checkpoints are ``run/step``."""
    repositories: list[str] = Field(default_factory=list)
    """Hub ids; every branch and tag with a model in it is a checkpoint."""
    settle_seconds: float = Field(60.0, ge=0)
    """s; a checkpoint is taken when none of its files changed for so long."""
    full_digest: bool = False
    """Name folders by every byte instead of by headers and samples of each tensor; changes their
    names. A tick has 60 s to read them; DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS gives it more."""
    like: str = ""
    """A transformers or vllm model of this file, or one that a server is started for: its
    precision, decoding ... are theirs."""
    serve: Annotated[str, AfterValidator(is_command)] = ""
    """The command that serves a checkpoint while it is evaluated; as ``serve`` of a model."""
    suites: list[str] = Field(default_factory=list)
    """Suites to evaluate on; none named: all."""
    first: int = Field(0, ge=0)
    """Questions of each task that are asked first; the rest follows when they are answered."""
    baseline: str = ""
    """A model that every checkpoint is compared with, beside the one before it."""
    smallest_change: float = Field(0.05, gt=0, lt=1)
    """A share of the points; whether there are enough questions depends on it."""
    severity: Literal["WARN", "ERROR"] = "WARN"
    """What a checkpoint that got worse is to the regression check."""
    webhook_env: str = ""
    """Environment variable with an address that failed checks are posted to; it may be secret."""
