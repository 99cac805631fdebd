"""What a user chooses for JourneyBench, in ``[suites.journeybench]`` of bench.toml."""

from pathlib import Path

from pydantic import ConfigDict, Field

from bench_assets.journeybench.built.settings import BuiltSettings
from resources.dual_encoder import EncoderSpec


class JourneyBenchSettings(BuiltSettings):
    """The choices of every suite, those of the built route, and those of the five tasks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    download: bool = False
    """Fetch the pictures that the published files only name by their address."""
    download_connections: int = Field(8, gt=0, le=32)
    """Pictures under way at once; at most half of them from one host."""
    encoders: dict[str, EncoderSpec] = Field(default_factory=dict)
    """Name -> a model that embeds texts and pictures, for retrieval; ``random`` is always there."""
    map_encoder: str = ""
    """The encoder that pictures are compared by on the map of diversity; "" compares where light
    and colours lie."""
    other_images: Path | None = None
    """Folder with the pictures to compare with on the map."""
    common_sense: Path | None = None
    """Pairs of things that go together, one a line, parted by tabs."""
