"""Settings of ``[suites.blink]``."""

from pathlib import Path

from pydantic import ConfigDict, Field

from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.suites.blink.construction.recipes import BuilderParameters


class BlinkSettings(SuiteSettings):
    """The choices of every suite, and those of BLINK's built route and studies."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0
    """Draws all that is drawn: the built route, the mini edition, samples of the studies."""
    builders: BuilderParameters = BuilderParameters()
    """What the fourteen builders go by."""
    captioner: str = ""
    """A model of bench.toml that sees; its captions stand in for the images (section 4.3)."""
    human_answers: Path | None = None
    """JSON lines with ``question_id``, ``person`` and ``answer`` ("A"), see ``human``."""
    mistakes_per_task: int = Field(10, gt=0)
    """Mistakes drawn for reading (section 4.3 and appendix C.2)."""
