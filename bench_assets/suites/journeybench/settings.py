"""Settings of JourneyBench: ``[suites.journeybench]`` of bench.toml."""

import json
from pathlib import Path

from pydantic import Field

from bench_assets.evaluation.suite import SolverSettings
from bench_resources.config.sections.models import ModelName
from bench_resources.encoders.dual_encoder import EncoderSpec
from bench_resources.encoders.sentence_encoder import EMBEDDED_ENCODER

_WORDS = json.loads(Path(__file__).with_name("query_words.json").read_text(encoding="utf-8"))


class JourneyBenchSettings(SolverSettings):
    """Settings of every suite, of the built route, and of the five tasks."""

    writer: str = ""
    """Language model of the built route; default: responses of the source's ``responses.jsonl``."""
    answerer: str = ""
    """Vision-language model of the built route; default: the model of ``writer``."""
    topics: tuple[str, ...] = tuple(_WORDS["topics"])
    """Topic words of queries; default: 17 words of our own, because the paper prints none of its
    17."""
    attributes: tuple[str, ...] = tuple(_WORDS["attributes"])
    """Attribute words of queries; default: 15 words of our own, because the paper prints none of
    its 15."""
    rounds: int = Field(4, gt=0)
    """Maximum number of rounds of a dialogue; the default is that of IdealGPT."""
    tries: int = Field(3, gt=0)
    """Attempts to get a readable response."""
    text_encoder: str = EMBEDDED_ENCODER
    """Sentence encoder of captions and statements: folder or hub id."""
    generated: Path | None = None
    """Folder of images that another program generated from the planned prompts; default: images are
    drawn."""
    solution_judge: str = "rules"
    """Judge of solutions: a model, or ``"rules"``."""
    encoders: dict[ModelName, EncoderSpec] = Field(default_factory=dict)
    """Encoders of texts and images for retrieval, by name. The encoder ``random`` always exists."""
