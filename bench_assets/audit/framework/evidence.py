"""Audit evidence: everything that a check may read about one task."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from bench_assets.core.schema.rows import Prediction, Question
from bench_assets.evaluation.checked_scores import PeopleCheck
from bench_assets.evaluation.task import Task

Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.object_]

ANSWER_SEPARATOR = "\x1f"
"""Separator of an answer's parts in one string."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Scores of all models under one condition."""

    models: tuple[str, ...]
    questions: tuple[str, ...]  # ids, in the order of the question table
    points: Floats  # (models, questions): share of points in [0, 1], mean of the samples; NaN: none
    answers: Texts = field(default_factory=lambda: np.empty((0, 0), object))
    # (models, questions): parsed from the first scored sample, in the form of Question.answer, its
    # parts joined by ANSWER_SEPARATOR; "": nothing was parsed


class TrainingEntry(NamedTuple):
    """An image, an image hash or a text of the training data."""

    name: str  # file and line
    content: str  # SHA-256 of an image, its image hash, or a text


class TrainingData(Protocol):
    """Training data given by the user; re-read at each call, because it may be large."""

    def images(self) -> Iterator[TrainingEntry]:
        """SHA-256 of images."""

    def image_hashes(self) -> Iterator[TrainingEntry]:
        """Image hashes: 16 hexadecimal digits."""

    def texts(self) -> Iterator[TrainingEntry]:
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
    def image_names(self) -> Mapping[str, str]:
        """File names by SHA-256, of the images that the suite's tables list."""

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

    def decoding(self, model: str, condition: str) -> str:
        """Decoding of a model's first response; "" without responses."""

    @property
    def people_checks(self) -> Mapping[str, PeopleCheck]:
        """Judged numbers corrected by people's verdicts, by model."""

    def open_image(self, image: str) -> Image.Image:
        """Decode an image by its SHA-256.

        Raises:
            ImageError: If it is missing or does not decode.
        """
