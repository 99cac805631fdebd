"""What a user chooses for CODIS, in ``[suites.codis]`` of bench.toml."""

from pathlib import Path

from bench_assets.evaluation.suite import SuiteSettings


class CodisSettings(SuiteSettings):
    """The choices of every suite, and those of CODIS' analyses."""

    captions: Path | None = None
    """JSON lines with ``image_id`` and ``caption``, instead of the source's own (section 5.1)."""
    captioner: str = ""
    """A model of bench.toml that writes the captions, where no file has them."""
    second_judge: str = ""
    """A model of bench.toml, or "rules", whose verdicts are compared with the judge's (5.3)."""
    human_labels: Path | None = None
    """JSON lines with people's verdicts on the predictions (5.3 and appendix A)."""
    word_pairs: tuple[tuple[str, str], ...] = (
        ("up", "down"),
        ("morning", "afternoon"),
        ("appropriate", "not appropriate"),
    )
    """Opposite words whose frequencies are compared; by default those of Table 6."""
