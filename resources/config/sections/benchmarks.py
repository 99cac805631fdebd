"""Sections ``[benchmarks.<name>]`` (a file of questions) and ``[audit]``.

The section ``[audit]`` of bench.toml: what benchmarks are held against.
"""

from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from resources.config.sections.base import StrictSection

Column: TypeAlias = Literal[
    "question", "images", "options", "answer", "group", "id", "context", "category"
]
Metric: TypeAlias = Literal[
    "accuracy", "macro_accuracy", "group_accuracy", "exact_match", "anls", "relaxed_accuracy"
]
AnswerFormat: TypeAlias = Literal["", "letters", "indices", "indices from 1", "texts"]
BenchmarkName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""A folder, a part of asset keys and of question ids: small letters, digits and underscores."""

JUDGEABLE_METRICS: frozenset[Metric] = frozenset({"accuracy", "macro_accuracy", "group_accuracy"})
"""The metrics that ask whether a response is right; the others measure how near it comes."""
_IN_SEVERAL: frozenset[Column] = frozenset({"images", "options"})


class FileBenchmarkSettings(StrictSection):
    """A benchmark without a line of Python."""

    file: Path
    """JSON lines, JSON, CSV, TSV, Parquet or Arrow; or a folder, see ``plain.files``."""
    split: str = ""
    """Which part of a folder that holds several, such as "test"."""
    title: str = ""
    columns: dict[Column, str | tuple[str, ...]] = Field(default_factory=dict)
    """Ours -> the file's: ``{question = "q", images = ["image_1", "image_2"]}``."""
    image_folder: Path | None = None
    """What paths of images start at, and stay in; the folder of the file if none is named."""
    answers: AnswerFormat = ""
    """What the answers of questions with options are; "" tells by the answer, where it can."""
    prompt: str = ""
    """Template with columns in braces: ``"{context}\\n{question}\\n{options}"``."""
    slices: tuple[str, ...] = ()
    """Columns that tables are sliced by, besides ``category``."""
    metric: Metric = "accuracy"
    judge: str = "rules"
    """A model that is asked about the responses that the rules do not read as an answer."""
    seed: int = 0
    """Draws the order of ``options_shuffled``."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        several = [name for name, column in self.columns.items() if not isinstance(column, str)]
        if wrong := sorted(set(several) - _IN_SEVERAL):
            raise ValueError(f"columns: {wrong[0]} is one column, not a list of them")
        if self.judge != "rules" and self.metric not in JUDGEABLE_METRICS:
            raise ValueError(f"judge: {self.metric} is measured without one; take it away")
        return self


class AuditSettings(StrictSection):
    """What ``bench audit run`` looks at besides the tables."""

    training: list[str] = Field(default_factory=list)
    """What models were trained on: folders of images and texts, files with a digest a line
    (SHA-256, or a look of 16 hexadecimal digits), files of texts (.jsonl, .json, .txt, .md)."""
