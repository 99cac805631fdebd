"""Settings of CODIS: ``[suites.codis]`` of bench.toml."""

from pathlib import Path

from bench_assets.evaluation.suite import SuiteSettings


class CodisSettings(SuiteSettings):
    """Settings of every suite, and of the analyses of CODIS."""

    captions: Path | None = None
    """JSON lines with ``image_id`` and ``caption``; default: the source's (section 5.1)."""
    captioner: str = ""
    """Model that writes captions, unless ``captions`` is set."""
    second_judge: str = ""
    """Model, or ``"rules"``, compared with the judge (section 5.3)."""
    human_labels: Path | None = None
    """JSON lines with people's verdicts on responses (section 5.3, appendix A)."""
    word_pairs: tuple[tuple[str, str], ...] = (
        ("up", "down"),
        ("morning", "afternoon"),
        ("appropriate", "not appropriate"),
    )
    """Opposite words whose frequencies are compared; default: Table 6."""
