"""The section ``[audit]`` of bench.toml: what benchmarks are held against."""

from pydantic import Field

from resources.config.sections.base import Strict


class AuditSettings(Strict):
    """What ``bench audit`` looks at besides the tables."""

    training: list[str] = Field(default_factory=list)
    """What models were trained on: folders of images and texts, files with a digest a line
    (SHA-256, or a look of 16 hexadecimal digits), files of texts (.jsonl, .json, .txt, .md)."""
