"""What a user chooses for JourneyBench, in ``[suites.journeybench]`` of bench.toml."""

import json
from pathlib import Path

from pydantic import ConfigDict, Field

from bench_assets.evaluation.suite import SuiteSettings
from resources.encoders.dual_encoder import EncoderSpec
from resources.encoders.sentence_encoder import EMBEDDED_ENCODER
from resources.images.painters import DrawerSpec, PainterSpec

_WORDS = json.loads(Path(__file__).with_name("query_words.json").read_text(encoding="utf-8"))


class JourneyBenchSettings(SuiteSettings):
    """The choices of every suite, those of the built route, and those of the five tasks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    writer: str = ""
    """The language model that asks in dialogues, finds quantities and puts events into images;
    "" takes the responses that came with the source, ``responses.jsonl``."""
    answerer: str = ""
    """The vision-language model that answers in dialogues, and writes statements and questions
    about images that it sees; "" as for ``writer``."""
    topics: tuple[str, ...] = tuple(_WORDS["topics"])
    """Topic words of the queries; the paper has 17 and does not print them."""
    attributes: tuple[str, ...] = tuple(_WORDS["attributes"])
    """Attribute words of the queries; the paper has 15 and does not print them."""
    rounds: int = Field(4, gt=0)
    """Longest dialogue; IdealGPT's default, and the authors'."""
    tries: int = Field(3, gt=0)
    """How often a response that cannot be read is asked for."""
    text_encoder: str = EMBEDDED_ENCODER
    """Folder or hub id of the sentence encoder that compares captions and statements."""
    painter: PainterSpec = DrawerSpec()
    """Who makes images of prompts."""
    gallery: str = ""
    """Address of a gallery to acquire images from; see ``resources/images/gallery.py``."""
    solution_judge: str = "rules"
    """The second, larger judge, which verifies solutions: a model of bench.toml, or "rules"."""
    download: bool = False
    """Fetch the images that the published files only name by their address."""
    download_connections: int = Field(8, gt=0, le=32)
    """Images under way at once; at most half of them from one host."""
    encoders: dict[str, EncoderSpec] = Field(default_factory=dict)
    """Name -> a model that embeds texts and images, for retrieval; ``random`` is always there."""
    map_encoder: str = ""
    """The encoder that images are compared by on the map of diversity; "" compares where light
    and colours lie."""
    other_images: Path | None = None
    """Folder with the images to compare with on the map."""
    common_sense: Path | None = None
    """Pairs of things that go together, one a line, parted by tabs."""
