"""Settings of MULTI: ``[suites.multi]`` of bench.toml."""

from pathlib import Path

from bench_assets.evaluation.suite import SolverSettings


class MultiSettings(SolverSettings):
    """Settings of every suite, and of MULTI's built route and ablations."""

    captioner: str = ""
    """Model that describes images, if the source has no captions (4.5)."""
    writer: str = ""
    """Model that proposes distillations and deepenings; default: annotators do (3.2)."""
    font: Path | None = None
    """Font with Chinese characters for drawn tables; default: a font of the system."""
