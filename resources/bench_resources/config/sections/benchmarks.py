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
    """Split of a folder of ``datasets``, such as ``"test"``."""
    title: str = ""
    """Title in the report."""
    published_questions: int = Field(0, ge=0)
    """Number of questions of the published release. With fewer questions, numbers are PARTIAL and
    have no rank."""
    expect: dict[str, int] = Field(default_factory=dict)
    """Number of rows that tables must have, ``{questions = 400}``. A table that lacks more than the
    share `drift` of them is not written."""
    columns: dict[Column, str | tuple[str, ...]] = Field(default_factory=dict)
    """Columns here, with their names in the file: ``{question = "q", images = ["image_1",
    "image_2"]}``. A value can also be a template, ``{images = "{Index}.jpg"}``, or a path into
    objects, ``{question = "q.stem"}``. Options in the text of the question: ``{options = "q"}``."""
    header: tuple[str, ...] = ()
    """Names of the columns of a CSV or TSV file without a header: ``["question", "answer"]``."""
    images: Literal["required", "optional"] = "required"
    """``"required"``: if other rows have images, a row without one is rejected. ``"optional"``: it
    is a question."""
    ignore: tuple[str, ...] = ()
    """Columns that look like media, but are not part of the question."""
    group_size: int = Field(0, ge=0)
    """Number of consecutive rows that form a group, if no column defines groups; 2 for pairs."""
    image_folder: Path | None = None
    """Folder to which image paths are relative; default: the file's."""
    answers_file: AnswersFileSettings | None = None
    """Second file with the answers, ``{file = "keys.json", id = "id", answer = "truth"}``. Its
    other columns are added."""
    answers: AnswerFormat = ""
    """Format of answers to questions with options; default: detected."""
    drawn_options: int = Field(0, ge=0, le=26)
    """Number of options A, B, ... of rows that list none, because only the image shows them."""
    image_marks: Literal["images", "text"] = "images"
    """``"images"``: marks such as ``<image>`` and ``<image 2>`` are replaced by the images.
    ``"text"``: the marks remain, and the images come first."""
    prompt: str = ""
    """Template of the prompt with columns in braces: ``"{context}\\n{question}\\n{options}"``."""
    system: str = ""
    """System turn before each question."""
    shots: int = Field(0, ge=0)
    """Number of solved examples before each question: the first rows of ``shots_file`` or
    ``shots_split``."""
    shots_file: Path | None = None
    """File of the examples, with the same columns; default: ``file``."""
    shots_split: str = ""
    """Split with the examples."""
    slices: tuple[str, ...] = ()
    """Columns by which results are sliced, besides ``category``."""
    answer_type: AnswerTypeName | None = None
    """Form of answers (docs/benchmarks.md); default: letters for rows with options, else text."""
    metric: MetricName | PointsFunction | None = None
    """Primary metric (docs/benchmarks.md), or ``module:function``, which returns the points of a
    response and its question; default: that of the answer type."""
    official: OfficialRule | None = None
    """Rule of the benchmark's authors, which the scorer ``official`` applies; default: that of the
    metric, if there is one."""
    groups: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Further metrics like ``group_accuracy``: the name of each, and the columns whose equal values
    form a group."""
    tolerance: str = ""
    """For numbers and points: tolerance, such as ``"0.5"`` or ``"5%"``, or ``"decimals"`` for those
    of the answer."""
    unit: str = ""
    """For numbers: unit, such as ``"cm"``. Responses in another unit of the same quantity are
    converted."""
    coordinates: str = "xyxy pixels"
    """For boxes and points in the file: ``xyxy`` or ``xywh``, and ``pixels``, ``0..1`` or
    ``0..1000``."""
    response_coordinates: str = ""
    """For boxes and points in responses, as ``coordinates``; default: corners in the scale of the
    file, unless another is detected."""
    ordered: bool = False
    """For lists: whether the order counts."""
    scale: str = "0..1"
    """For graded answers: lowest and highest grade of the judge, such as ``"1..5"``."""
    judge_prompt: str = ""
    """For graded answers: prompt of the judge, with ``{question}``, ``{answer}`` and
    ``{response}``."""
    judge: str = "rules"
    """As `judge` of every suite. A model judges texts that match no reference, and extracts answers
    that no rule reads."""
    reader: str = ""
    """As `reader` of every suite."""
    seed: int = 0
    """Seed of the condition ``options_shuffled``, which shuffles the options."""

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
    """Training data that is searched for the questions: folders of images and texts, files of
    SHA-256 digests or of 16-digit image hashes, and files of texts (.jsonl, .json, .txt, .md)."""
