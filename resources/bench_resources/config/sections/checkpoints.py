"""Section ``[checkpoints]``: watched folders and their evaluation."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bench_resources.config.sections.serving import validate_command


class CheckpointSettings(BaseModel):
    """Watched checkpoints, evaluated as they appear; none without folders or repositories."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folders: list[Path] = Field(default_factory=list)
    """Watched recursively; a checkpoint is named ``run/step``, so watch the folder above the
    runs."""
    repositories: list[str] = Field(default_factory=list)
    """Hub ids; every branch and tag with a model is a checkpoint."""
    settle_seconds: float = Field(60.0, ge=0)
    """Seconds without a change after which a checkpoint is complete."""
    full_digest: bool = False
    """Digest every byte instead of headers and samples of each tensor; changes names. A tick has 60
    s; DAGSTER_SENSOR_GRPC_TIMEOUT_SECONDS extends it."""
    like: str = ""
    """The model whose settings checkpoints use: transformers, vllm, or a server with ``serve``."""
    serve: Annotated[str, AfterValidator(validate_command)] = ""
    """The command that serves a checkpoint, as ``serve`` of a model."""
    suites: list[str] = Field(default_factory=list)
    """Suites to evaluate; default: all."""
    first: int = Field(0, ge=0)
    """Questions per task of a quick evaluation before the full one; 0: none."""
    baseline: str = ""
    """A model that each checkpoint is compared with, besides the previous checkpoint."""
    smallest_change: float = Field(0.05, gt=0, lt=1)
    """The difference, as a share of points, that the questions should detect."""
    severity: Literal["WARN", "ERROR"] = "WARN"
    """Severity of a failed regression check."""
    webhook_env: str = ""
    """Environment variable with the address that failed checks are posted to."""
