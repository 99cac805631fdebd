"""Audit evidence: everything an audit check may read about one task."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from bench_assets.audit.framework.findings import JudgeFigure, OrderFigure
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score, StoredImage, Vote
from bench_assets.evaluation.task import Task

Floats = npt.NDArray[np.float64]
Texts = npt.NDArray[np.object_]
Table: TypeAlias = Literal["predictions", "judgements", "scores"]
Columns: TypeAlias = Mapping[str, Sequence[Any]]

PARTS = "\x1f"
"""What stands between the parts of an answer where it is one text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What models got for each question under one condition."""

    models: tuple[str, ...]
    questions: tuple[str, ...]  # ids, as the question table has them
    points: Floats  # (models, questions): share of the question's points, the mean of its draws,
    # in [0, 1]; NaN where there is no score
    answers: Texts = field(default_factory=lambda: np.empty((0, 0), object))
    # (models, questions): what was read from the first draw, in the form of Question.answer, its
    # parts joined; "" where nothing was read


class TrainingMatch(NamedTuple):
    """Something that a model was trained on, by the name of the file and the entry in it."""

    name: str
    what: str  # SHA-256 of an image, its look (``core.dedup.image_hash``), or a text


class JudgeVerdict(NamedTuple):
    """One verdict of a model that judges, beside that of rules."""

    model: str
    row: Judgement
    text: str  # of the response
    by_rules: bool | None  # None where rules say nothing of it


class TrainingData(Protocol):
    """What a user says a model was trained on. It may be large: it is read as it is asked for."""

    def images(self) -> Iterator[TrainingMatch]:
        """Digests of images: 64 hexadecimal digits."""
        ...

    def looks(self) -> Iterator[TrainingMatch]:
        """How images look: 16 hexadecimal digits."""
        ...

    def texts(self) -> Iterator[TrainingMatch]:
        """Texts, one by one."""
        ...


class Evidence(Protocol):
    """What lies in a home about one task. Tables are read when they are asked for."""

    @property
    def task(self) -> Task:
        """The task."""
        ...

    @property
    def questions(self) -> Sequence[Question]:
        """Its questions under the paper's own condition."""
        ...

    @property
    def elsewhere(self) -> Mapping[str, Sequence[Question]]:
        """Task -> questions, of all other tasks, other suites' included."""
        ...

    @property
    def stored(self) -> Mapping[str, StoredImage]:
        """SHA-256 -> what is known of an image's file, as far as its suite tells."""
        ...

    @property
    def training(self) -> TrainingData | None:
        """What a user says a model was trained on; None where nobody says."""
        ...

    def looks(self, images: Sequence[str]) -> Mapping[str, str]:
        """SHA-256 -> how an image looks, of those that decode; see ``core.dedup.image_hash``."""
        ...

    def results(self, condition: str = "main") -> Results:
        """Scores of every model that was measured on the present questions."""
        ...

    def predictions(
        self, model: str, condition: str = "main", of: Collection[str] | None = None
    ) -> Sequence[Prediction]:
        """What a model said; ``of`` these questions, None: of all."""
        ...

    def judgements(
        self, model: str, condition: str = "main", of: Collection[str] | None = None
    ) -> Sequence[Judgement]:
        """Verdicts on what a model said, as ``predictions`` has it; none where nobody judges."""
        ...

    def scores(self, model: str, condition: str = "main") -> Sequence[Score]:
        """Points of what a model said."""
        ...

    def columns(
        self, table: Table, model: str, names: Sequence[str], condition: str = "main"
    ) -> Columns:
        """Fields of all of a model's rows; to make rows of them takes ten times as long."""
        ...

    @property
    def verdicts(self) -> Sequence[JudgeVerdict]:
        """What ``judge_verdicts.verdicts`` finds.

        Rules read thousands of responses for it, once.
        """
        ...

    @property
    def votes(self) -> Sequence[Vote]:
        """What people said of single things when questions were made; none where none is kept."""
        ...

    @property
    def judge_figures(self) -> Sequence[JudgeFigure]:
        """What was measured of the task's judges in this home, earliest first."""
        ...

    @property
    def order_figures(self) -> Sequence[OrderFigure]:
        """What was measured of models in several orders of the options, earliest first."""
        ...

    def open_image(self, image: str) -> Image.Image:
        """An image by its SHA-256.

        Raises:
            ImageError: If it is not there, or does not decode.
        """
        ...
