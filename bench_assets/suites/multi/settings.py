"""Settings of MULTI: ``[suites.multi]`` of bench.toml."""

from pathlib import Path

from pydantic import Field, field_validator

from bench_assets.evaluation.suite import SuiteSettings


class MultiSettings(SuiteSettings):
    """Settings of every suite, and of MULTI's built route and ablations."""

    captioner: str = ""
    """Model that describes images, if the source has no captions (4.5)."""
    writer: str = ""
    """Model that proposes distillations and deepenings; default: annotators do (3.2)."""
    solvers: tuple[str, ...] = ()
    """Two or more models. A transformed question is applied if all of them find the new key;
    otherwise it waits for review (3.2)."""
    font: Path | None = None
    """Font with Chinese characters for drawn tables; default: a font of the system."""
    elite_weights: dict[str, float] = Field(default_factory=dict)
    """Model to its weight for MULTI-Elite, if the source has no hard list (3.3)."""

    @field_validator("solvers")
    @classmethod
    def _two_or_none(cls, solvers: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(solvers)) == 1:
            raise ValueError("expected two different models or more, got one; add another")
        return solvers
