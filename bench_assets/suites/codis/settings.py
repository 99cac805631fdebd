"""Settings of CODIS: ``[suites.codis]`` of bench.toml."""

from pathlib import Path

from bench_assets.evaluation.suite import SuiteSettings


class CodisSettings(SuiteSettings):
    """Settings of every suite, and of the analyses of CODIS."""

    captions: Path | None = None
    """File of JSON lines with ``image_id`` and ``caption`` (section 5.1 of the paper); default: the
    source's."""
    captioner: str = ""
    """Model that writes captions, if ``captions`` is not set."""
