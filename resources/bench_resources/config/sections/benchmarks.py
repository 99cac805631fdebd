"""Sections ``[benchmarks.<name>]`` (a file of questions) and ``[audit]``."""

from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias, get_args

from pydantic import Field, field_validator, model_validator

from bench_assets.core.answer_types.definition import AnswerFormat, AnswerSettings, AnswerTypeName
from bench_assets.core.metrics.official_rules import OfficialRule
from bench_assets.core.schema.errors import did_you_mean
from bench_resources.config.sections.base import StrictSection

Column: TypeAlias = Literal[
    "question",
    "turns",
    "images",
    "options",
    "answer",
    "group",
    "id",
    "context",
    "category",
    "unit",
    "decimals",
]
BenchmarkName: TypeAlias = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""Names a folder, and is part of asset keys and question ids: a-z, digits and underscores."""

MetricName: TypeAlias = Literal[
    "accuracy",
    "macro_accuracy",
    "group_accuracy",
    "exact_match",
    "f1",
    "anls",
    "relaxed_accuracy",
    "vqa_accuracy",
    "mean_iou",
    "accuracy_at_50",
    "numeric",
    "bleu",
    "rouge_l",
    "cider",
    "wer",
    "mean_grade",
]
PointsFunction: TypeAlias = Annotated[str, Field(pattern=r"^[\w.]+:\w+$")]
_COLUMN_ALIASES = {"image": "images", "choices": "options", "answers": "answer", "index": "id"}
_LIST_COLUMNS: frozenset[Column] = frozenset({"images", "options", "turns"})


class AnswersFileSettings(StrictSection):
    """A second file with the answers."""

    file: Path
    """Beside the questions, or relative to bench.toml."""
    id: str = "id"
    """Column with the id of the question."""
    answer: str = "answer"
    """Column with the answer."""


class FileBenchmarkSettings(StrictSection):
    """A benchmark defined by a file of questions, without Python."""

    file: Path | str
    """A file of rows, a folder of ``datasets``, or a release as in ``[sources]``."""
    split: str = ""
    """Split of a folder, such as ``"test"``."""
    title: str = ""
    """Title in the report."""
    published_questions: int = Field(0, ge=0)
    """Number of questions of the published release: with fewer, numbers are PARTIAL and have no
    rank."""
    expect: dict[str, int] = Field(default_factory=dict)
    """Rows that a table must have, ``{questions = 400}``; with 5 % fewer (`drift`) it is not
    written."""
    columns: dict[Column, str | tuple[str, ...]] = Field(default_factory=dict)
    """Our column to the file's: ``{question = "q", images = ["image_1", "image_2"]}``; also a
    template, ``{images = "{Index}.jpg"}``, or a path into objects, ``{question = "q.stem"}``;
    options inside the question: ``{options = "q"}``."""
    header: tuple[str, ...] = ()
    """Columns of a CSV or TSV file without a header: ``["question", "answer"]``."""
    images: Literal["required", "optional"] = "required"
    """Whether rows without an image, beside rows that have one, are questions or rejected."""
    ignore: tuple[str, ...] = ()
    """Columns that look like media, and are not part of the question."""
    group_size: int = Field(0, ge=0)
    """Consecutive rows that form a group, if no column defines groups: 2 for pairs."""
    image_folder: Path | None = None
    """Folder of image paths; default: the file's."""
    answers_file: AnswersFileSettings | None = None
    """A second file with the answers, ``{file = "keys.json", id = "id", answer = "truth"}``; its
    other columns are added."""
    answers: AnswerFormat = ""
    """Format of answers to questions with options; default: detected."""
    drawn_options: int = Field(0, ge=0, le=26)
    """Number of options that only the picture shows, A, B, ..., of rows that list none."""
    image_marks: Literal["images", "text"] = "images"
    """``"text"``: ``<image>`` and ``<image 2>`` stay as text, such as the marks of one composed
    picture; the images come first."""
    prompt: str = ""
    """Template with columns in braces: ``"{context}\\n{question}\\n{options}"``."""
    system: str = ""
    """System turn before each question."""
    shots: int = Field(0, ge=0)
    """Solved examples before each question: the first rows of ``shots_file`` or ``shots_split``."""
    shots_file: Path | None = None
    """File of the examples, with the same columns; default: ``file``."""
    shots_split: str = ""
    """Split of the examples."""
    slices: tuple[str, ...] = ()
    """Columns that tables are sliced by, besides ``category``."""
    answer_type: AnswerTypeName | None = None
    """Form of answers (docs/benchmarks.md); default: text. Rows with options have letters."""
    metric: MetricName | PointsFunction | None = None
    """Primary metric (docs/benchmarks.md), or ``module:function``, which returns the points of a
    response and its question; default: that of the answer type."""
    official: OfficialRule | None = None
    """Rule of the benchmark's authors, which the scorer ``official`` applies; default: that of the
    metric, if there is one."""
    groups: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Further metrics: name to columns; rows with equal values there form a group, as in
    ``group_accuracy``."""
    tolerance: str = ""
    """Numbers and points: tolerance, ``"0.5"``, ``"5%"``, or the answer's ``"decimals"``."""
    unit: str = ""
    """Numbers: unit, such as ``"cm"``; a response in another unit of its kind is converted."""
    coordinates: str = "xyxy pixels"
    """Boxes and points in the file: ``xyxy`` or ``xywh``; ``pixels``, ``0..1``, ``0..1000``."""
    response_coordinates: str = ""
    """The same in responses; default: corners in the file's scale, unless another is detected."""
    ordered: bool = False
    """Lists: whether the order counts."""
    scale: str = "0..1"
    """Graded answers: lowest and highest grade of the judge, such as ``"1..5"``."""
    judge_prompt: str = ""
    """Graded answers: prompt of the judge, with {question}, {answer} and {response}."""
    judge: str = "rules"
    """A model that judges texts that match no reference, and reads what rules cannot."""
    reader: str = ""
    """As `reader` of every suite."""
    seed: int = 0
    """Seed of ``options_shuffled``."""

    @field_validator("columns", mode="before")
    @classmethod
    def _rename_columns(cls, columns: object) -> object:
        """Accept the other usual name of a column, such as ``image``, instead of ours."""
        if not isinstance(columns, dict):
            return columns
        renamed = {_COLUMN_ALIASES.get(name, name): column for name, column in columns.items()}
        return renamed if len(renamed) == len(columns) else columns  # both names: one is refused

    @field_validator("metric", mode="before")
    @classmethod
    def _check_metric(cls, metric: object) -> object:
        names = get_args(MetricName)
        if isinstance(metric, str) and ":" not in metric and metric not in names:
            raise ValueError(did_you_mean(metric, names) or f"known: {', '.join(names)}")
        return metric

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        lists = {name for name, column in self.columns.items() if not isinstance(column, str)}
        if invalid_lists := sorted(lists - _LIST_COLUMNS):
            raise ValueError(f"columns: {invalid_lists[0]} is one column, not a list of them")
        if "question" in self.columns and "turns" in self.columns:
            raise ValueError("columns: question and turns. Remove one")
        return self

    @property
    def answer_settings(self) -> AnswerSettings:
        """Settings of the answer type, without ``matching``, which depends on the metric."""
        return AnswerSettings(
            tolerance=self.tolerance,
            unit=self.unit,
            coordinates=self.coordinates,
            response_coordinates=self.response_coordinates,
            ordered=self.ordered,
            scale=self.scale,
            judge_prompt=self.judge_prompt,
        )


class AuditSettings(StrictSection):
    """Additional inputs of ``bench audit run``."""

    training: list[str] = Field(default_factory=list)
    """Training data to test for contamination: folders of images and texts, files of SHA-256 or
    16-digit image hashes, files of texts (.jsonl, .json, .txt, .md)."""
