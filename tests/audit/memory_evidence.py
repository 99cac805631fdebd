"""Evidence in memory, and exams of every kind of question in which no check finds a fault."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256

import numpy as np
from PIL import Image

from bench_assets.audit.framework.evidence import (
    ANSWER_SEPARATOR,
    Results,
    TrainingData,
    TrainingEntry,
)
from bench_assets.audit.framework.findings import AuditFinding
from bench_assets.audit.registry import CHECKS, audit_task
from bench_assets.core.images.level_range import level_range
from bench_assets.core.schema.chat import Image as Shown
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.checked_scores import PeopleCheck
from bench_assets.evaluation.task import Condition, Task
from tests.fakes.rows import question
from tests.fakes.written_images import saved

LETTERS = "ABCD"


def score_exact(answered, _):
    key = answered.question.answer
    text = answered.prediction.text
    is_right = text in key or text == "".join(key)
    return Score.of(answered.prediction, points=float(is_right), answer=(text,))


TASK = Task(
    name="exam",
    title="Exam",
    version=1,
    conditions={
        "main": Condition(
            prompt=lambda q: Prompt.of(q.text, *map(Shown, q.images)), about="As it is."
        ),
        "no_image": Condition(prompt=lambda q: Prompt.of(q.text), about="Without images."),
    },
    scorers={"exact": score_exact},
    measures={"accuracy": lambda scored: mean(ScoredPoint(row.score.points) for row in scored)},
)


@dataclass(frozen=True, kw_only=True)
class MemoryTrainingData:
    """Images, perceptual hashes and texts that a model was trained on."""

    image_digests: Sequence[str] = ()
    perceptual_hashes: Sequence[str] = ()
    training_texts: Sequence[str] = ()

    def images(self) -> Iterator[TrainingEntry]:
        yield from (TrainingEntry("hashes.txt", digest) for digest in self.image_digests)

    def image_hashes(self) -> Iterator[TrainingEntry]:
        yield from (TrainingEntry("looks.txt", image_hash) for image_hash in self.perceptual_hashes)

    def texts(self) -> Iterator[TrainingEntry]:
        yield from (TrainingEntry("texts.jsonl", text) for text in self.training_texts)


@dataclass(frozen=True, kw_only=True)
class MemoryEvidence:
    """The evidence of a task, as `TaskEvidence` reads it from tables and images."""

    questions: Sequence[Question]
    images: Mapping[str, Image.Image] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)  # perceptual, by image
    image_names: Mapping[str, str] = field(default_factory=dict)
    task: Task = TASK
    training: TrainingData | None = None
    responses: Sequence[Prediction] = ()
    people_checks: Mapping[str, PeopleCheck] = field(default_factory=dict)

    def ranges(self, images):
        return {image: level_range(self.images[image]) for image in images if image in self.images}

    def image_hashes(self, images):
        return {image: self.hashes[image] for image in images if image in self.images}

    def open_image(self, image):
        if image not in self.images:
            raise ImageError(f"no image {image}")
        return self.images[image]

    def predictions(self, model: str, condition: str = "main") -> list[Prediction]:
        return [row for row in self.responses if row.model == model and row.condition == condition]

    def scores(self, model: str, condition: str = "main") -> list[Score]:
        return pipeline.score(self.task, self.questions, self.predictions(model, condition), [])

    def decoding(self, model: str, condition: str) -> str:
        return next((row.decoding for row in self.predictions(model, condition)), "")

    def results(self, condition: str = "main") -> Results:
        models = sorted({row.model for row in self.responses if row.condition == condition})
        ids = [question.question_id for question in self.questions]
        points = np.full((len(models), len(ids)), np.nan)
        answers = np.full(points.shape, "", object)
        for row, model in enumerate(models):
            for score in self.scores(model, condition):
                column = ids.index(score.question_id)
                points[row, column] = score.points
                answers[row, column] = ANSWER_SEPARATOR.join(score.answer)
        return Results(models=tuple(models), questions=tuple(ids), points=points, answers=answers)


def failed_checks(evidence: MemoryEvidence) -> set[str]:
    """The names of the checks that do not pass."""
    return {row.check for row in audit_task(evidence) if not row.passed}


def run_check(evidence: MemoryEvidence, name: str) -> AuditFinding:
    (check,) = [check for check in CHECKS if check.name == name]
    return check(evidence)


def random_image(seed: int) -> Image.Image:
    """An image of a few large random patches of colour, far from that of any other seed."""
    patches = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return Image.fromarray(patches).resize((48, 48), Image.Resampling.BICUBIC)


def file_digest(image: Image.Image, image_format: str) -> str:
    """SHA-256 of the file that an image becomes."""
    return sha256(saved(image, image_format)).hexdigest()


_WORDS = [
    *("apple", "barn", "cloud", "door", "eagle", "flute"),
    *("grape", "house", "island", "jacket", "kettle", "lamp"),
]
_PLACES = [
    *("kitchen", "garden", "harbour", "museum", "desert"),
    *("castle", "airport", "meadow", "tunnel", "market"),
]


def fair_exam(kind: str, n: int = 60, seed: int = 0) -> MemoryEvidence:
    """Questions of one kind, each about an image of its own.

    Each word is right as often as it is offered, each letter as often as any other, in no order.
    """
    rng = np.random.default_rng(seed)
    images, names, questions = {}, {}, []
    for number in range(n):
        image, digest = _image_and_digest(1000 * seed + number)
        images[digest], names[digest] = image, f"{number:04}.png"
        questions.append(_question(kind, number, digest, rng))
    hashes = {image: image[:16] for image in images}  # as good as any, and far from one another
    return MemoryEvidence(questions=questions, images=images, hashes=hashes, image_names=names)


@cache
def _image_and_digest(seed: int) -> tuple[Image.Image, str]:
    """An image and the digest of its file, the same in exams of every kind."""
    image = random_image(seed)
    return image, file_digest(image, "PNG")


def _question(kind: str, number: int, image: str, rng: np.random.Generator) -> Question:
    start, end = _PLACES[number % 10], _PLACES[number // 10 % 10]
    text = f"Which thing lies between the {start} and the {end}, beside sign {number}?"
    fields = {
        "question_id": f"exam/{number}",
        "task": "exam",
        "text": text,
        "images": (image,),
        "category": f"part {number % 2}",
    }
    options = tuple(str(word) for word in rng.choice(_WORDS, 4, replace=False))
    key = int(rng.integers(4))
    match kind:
        case "choice":
            return question(**fields, kind=kind, options=options, answer=(LETTERS[key],))
        case "choices":
            right = sorted(rng.choice(4, 2, replace=False))
            return question(
                **fields, kind=kind, options=options, answer=tuple(LETTERS[n] for n in right)
            )
        case "options":  # answered with the text of an option
            return question(**fields, kind="text", options=options[:2], answer=(options[key % 2],))
        case "blanks":
            return question(**fields, kind=kind, answer=(options[0], str(number * 7)))
        case _:
            answer = f"the {options[0]} with number {number * 7}"
            return question(**fields, kind="text", answer=(answer,))


KINDS = ("choice", "choices", "options", "blanks", "text")
