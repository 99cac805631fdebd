"""Audit evidence: everything that a check may read about one task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from bench_assets.core.schema.rows import Prediction, Question, StoredImage
from bench_assets.evaluation.checked_scores import PeopleCheck
from bench_assets.evaluation.task import Task

Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.object_]
Table: TypeAlias = Literal["predictions", "judgements", "scores"]
Columns: TypeAlias = Mapping[str, Sequence[Any]]

ANSWER_SEPARATOR = "\x1f"
"""Separator of an answer's parts in one string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Scores of all models under one condition."""

    models: tuple[str, ...]
    questions: tuple[str, ...]  # ids, in the order of the question table
    points: Floats  # (models, questions): share of points in [0, 1], mean of the samples; NaN: none
    answers: Texts = field(default_factory=lambda: np.empty((0, 0), object))
    # (models, questions): parsed from the first sample, in the form of Question.answer, its parts
    # joined by ANSWER_SEPARATOR; "": nothing was parsed


class TrainingMatch(NamedTuple):
    """An entry of the training data."""

    name: str  # file and line
    content: str  # SHA-256 of an image, its image hash, or a text


class TrainingData(Protocol):
    """Training data given by the user; re-read at each call, because it may be large."""

    def images(self) -> Iterator[TrainingMatch]:
        """SHA-256 of images."""

    def image_hashes(self) -> Iterator[TrainingMatch]:
        """Image hashes: 16 hexadecimal digits."""

    def texts(self) -> Iterator[TrainingMatch]:
        """Texts."""


class Evidence(Protocol):
    """Tables, images and figures of a home about one task, read on demand."""

    @property
    def task(self) -> Task:
        """The task."""

    @property
    def questions(self) -> Sequence[Question]:
        """The questions of the main condition."""

    @property
    def stored(self) -> Mapping[str, StoredImage]:
        """Image files by SHA-256, with their names as far as the suite knows them."""

    @property
    def training(self) -> TrainingData | None:
        """Training data; None if none is configured."""

    def image_hashes(self, images: Sequence[str]) -> Mapping[str, str]:
        """Image hash by SHA-256, of the images that decode."""

    def ranges(self, images: Sequence[str]) -> Mapping[str, int]:
        """Range of the levels by SHA-256, of the images that decode."""

    def results(self, condition: str = "main") -> Results:
        """Scores of every model that was evaluated on the current questions."""

    def predictions(self, model: str, condition: str = "main") -> Sequence[Prediction]:
        """Responses of a model."""

    def columns(
        self, table: Table, model: str, names: Sequence[str], condition: str = "main"
    ) -> Columns:
        """Columns of a model's table by name; ten times as fast to read as rows."""

    @property
    def people_checks(self) -> Mapping[str, PeopleCheck]:
        """Judged numbers corrected by people's verdicts, by model."""

    def open_image(self, image: str) -> Image.Image:
        """Decode an image by its SHA-256.

        Raises:
            ImageError: If it is missing or does not decode.
        """
