"""The section ``[soundness]`` of bench.toml: what benchmarks are held against."""

from pydantic import Field

from resources.config.sections.base import Strict


class SoundnessSettings(Strict):
    """What ``bench soundness`` looks at besides the tables."""

    training: list[str] = Field(default_factory=list)
    """What models were trained on: folders of pictures and texts, files with a digest a line
    (SHA-256, or a look of 16 hexadecimal digits), files of texts (.jsonl, .json, .txt, .md)."""
