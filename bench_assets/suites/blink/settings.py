"""Settings of ``[suites.blink]``."""

from pathlib import Path

from pydantic import ConfigDict

from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.suites.blink.construction.recipes import BuilderParameters


class BlinkSettings(SuiteSettings):
    """Settings of every suite, and of BLINK's built route and studies."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0
    """Seed of the built route, the mini edition and samples of studies."""
    builders: BuilderParameters = BuilderParameters()
    """Parameters of the fourteen builders."""
    captioner: str = ""
    """Vision-language model whose captions replace the images (section 4.3)."""
    human_answers: Path | None = None
    """File of JSON lines with ``question_id``, ``person`` and ``answer``."""
