"""What a user chooses for MULTI, in ``[suites.multi]`` of bench.toml."""

from pathlib import Path

from pydantic import Field, field_validator

from bench_assets.evaluation.suite import SuiteSettings


class MultiSettings(SuiteSettings):
    """The choices of every suite, and those of MULTI's building and ablations."""

    captioner: str = ""
    """A model of bench.toml that describes images, where the source has no captions (4.5)."""
    writer: str = ""
    """A model of bench.toml that proposes distillations and deepenings; "": people do (3.2)."""
    solvers: tuple[str, ...] = ()
    """Two or more models of bench.toml that answer transformed questions whose gold no rule proves;
    what all of them answer like the new gold is applied, the rest waits for review (3.2)."""
    font: Path | None = None
    """A font with Chinese characters, for tables that are drawn; None looks for one."""
    elite_weights: dict[str, float] = Field(default_factory=dict)
    """Model -> weight of its scores for MULTI-Elite, where the source has no hard list (3.3)."""

    @field_validator("solvers")
    @classmethod
    def _two_or_none(cls, solvers: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(solvers)) == 1:
            raise ValueError("expected two different models or more, got one; add another")
        return solvers
