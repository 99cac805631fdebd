"""Settings of CODIS: ``[suites.codis]`` of bench.toml."""

from pathlib import Path

from bench_assets.evaluation.suite import SuiteSettings


class CodisSettings(SuiteSettings):
    """Settings of every suite, and of the analyses of CODIS."""

    captions: Path | None = None
    """JSON lines with ``image_id`` and ``caption``; default: the source's (section 5.1)."""
    captioner: str = ""
    """Model that writes captions, unless ``captions`` is set."""
