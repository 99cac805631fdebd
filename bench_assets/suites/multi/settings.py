"""Settings of MULTI: ``[suites.multi]`` of bench.toml."""

from pathlib import Path

from bench_assets.evaluation.suite import SolverSettings


class MultiSettings(SolverSettings):
    """Settings of every suite, and of MULTI's built route and ablations."""

    captioner: str = ""
    """Model that describes images, if the source has no captions (section 4.5 of the paper)."""
    writer: str = ""
    """Model that proposes distilled and deepened questions; default: annotators do (section 3.2 of
    the paper)."""
    font: Path | None = None
    """Font with Chinese characters for tables that are drawn; default: a font of the system."""
