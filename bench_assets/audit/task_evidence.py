"""Evidence for the audit of one task, read from the tables of a home."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from PIL import Image

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.audit.evidence_inputs import ImageFeatures, image_features
from bench_assets.audit.framework.evidence import ANSWER_SEPARATOR, Results, TrainingData
from bench_assets.comparison.people_checks import people_checks
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score, StoredImage
from bench_assets.core.schema.signature import short_digest
from bench_assets.evaluation.checked_scores import PeopleCheck
from bench_assets.evaluation.task import Task
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles, read_columns

_POINTS = """
SELECT question_id, model, avg(points / max_points) AS share,
    arg_min(array_to_string(answer, $parts), sample) AS answer FROM scores
WHERE points IS NOT NULL AND max_points > 0 GROUP BY ALL
"""


@dataclass(frozen=True)
class TaskEvidence:
    """Evidence about one task, from the tables of a home."""

    task: Task
    tables: TableFiles
    image_store: ImageStore
    training: TrainingData | None = None
    # By SHA-256; None if the image does not decode.
    _features: dict[str, ImageFeatures | None] = field(default_factory=dict, init=False)
    _results: dict[str, Results] = field(default_factory=dict, init=False)  # by condition

    @cached_property
    def questions(self) -> Sequence[Question]:
        """Questions under the main condition.

        Raises:
            TableError: If they cannot be read.
        """
        return self.tables.read(questions_key(self.task, "main"), Question)

    @property
    def image_names(self) -> Mapping[str, str]:
        """File names by SHA-256, of the images in the tables of the suite and of the task."""
        names: dict[str, str] = {}
        for key in ([self.task.suite, "images"], [*self.task.name.split("/"), "images"]):
            if self.tables.exists(key):
                names |= {row.sha256: row.name for row in self.tables.read(key, StoredImage)}
        return names

    def image_hashes(self, images: Sequence[str]) -> Mapping[str, str]:
        """Image hashes by SHA-256, of the images that decode."""
        return {image: row.hash for image, row in self._features_of(images).items()}

    def ranges(self, images: Sequence[str]) -> Mapping[str, int]:
        """Range of the levels by SHA-256, of the images that decode."""
        return {image: row.range for image, row in self._features_of(images).items()}

    def _features_of(self, images: Sequence[str]) -> Mapping[str, ImageFeatures]:
        """Features by SHA-256, of the images that decode; each is computed once."""
        new = [image for image in dict.fromkeys(images) if image not in self._features]
        if new:
            self._features.update(dict.fromkeys(new) | image_features(self.image_store, new))
        return {image: features for image in images if (features := self._features[image])}

    def results(self, condition: str = "main") -> Results:
        """Scores of every model evaluated on the present questions; read once."""
        if condition not in self._results:
            self._results[condition] = self._read_results(condition)
        return self._results[condition]

    def _read_results(self, condition: str) -> Results:
        """Read the readable scores under a condition; empty results without its questions."""
        key = questions_key(self.task, condition)
        if not self.tables.exists(key):
            return Results(models=(), questions=(), points=np.empty((0, 0)))
        is_main = key == questions_key(self.task, "main")
        questions = self.questions if is_main else self.tables.read(key, Question)
        ids = tuple(question.question_id for question in questions)
        models = tuple(self._measured_models(condition))
        model_index = {model: index for index, model in enumerate(models)}
        question_index = {question_id: index for index, question_id in enumerate(ids)}
        points = np.full((len(models), len(ids)), np.nan)
        answers = np.full(points.shape, "", object)
        scores = {"scores": ([evaluation_key(self.task, condition, "scores")], Score)}
        rows = self.tables.query(_POINTS, scores, unreadable={}, parts=ANSWER_SEPARATOR).to_pydict()
        for question_id, model, share, answer in zip(
            rows["question_id"], rows["model"], rows["share"], rows["answer"], strict=True
        ):
            if model in model_index and question_id in question_index:
                cell = model_index[model], question_index[question_id]
                points[cell], answers[cell] = share, answer
        return Results(models=models, questions=ids, points=points, answers=answers)

    def predictions(self, model: str, condition: str = "main") -> Sequence[Prediction]:
        """Responses of a model."""
        key = evaluation_key(self.task, condition, "predictions")
        return self.tables.read(key, Prediction, model)

    def decoding(self, model: str, condition: str) -> str:
        """Decoding of a model's first response; "" without responses."""
        key = evaluation_key(self.task, condition, "predictions")
        decodings = read_columns(self.tables, key, Prediction, model, ("decoding",))["decoding"]
        return str(decodings[0]) if decodings else ""

    @cached_property
    def people_checks(self) -> Mapping[str, PeopleCheck]:
        """Judged numbers corrected by people's verdicts, by model."""
        return people_checks(self.tables, self.task)

    def open_image(self, image: str) -> Image.Image:
        """Open an image by its SHA-256; raises as ``ImageStore.open``."""
        return self.image_store.open(image)

    def _measured_models(self, condition: str) -> Iterator[str]:
        """Names of models with readable metrics of the present questions, in alphabetical order."""
        key = evaluation_key(self.task, condition, "metrics")
        questions_digest = self.tables.digest(questions_key(self.task, condition))
        for model in sorted(self.tables.partitions(key)):
            try:
                rows = self.tables.read(key, Metric, model)
            except TableError:
                continue
            if rows and questions_digest and rows[0].questions == short_digest(questions_digest):
                yield model
