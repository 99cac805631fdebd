"""Evidence that is held in memory, and exams of every kind that nothing gives away."""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256

import numpy as np
from PIL import Image

from bench_assets.audit.framework.evidence import (
    ANSWER_SEPARATOR,
    Columns,
    Results,
    Table,
    TrainingData,
    TrainingMatch,
)
from bench_assets.audit.framework.findings import AuditFinding
from bench_assets.audit.registry import CHECKS, audit_task
from bench_assets.core.images.level_range import level_range
from bench_assets.core.schema.chat import Image as Shown
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score, StoredImage
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation.checked_scores import PeopleCheck
from bench_assets.evaluation.pipeline import score
from bench_assets.evaluation.task import Condition, Task
from tests.fakes.rows import question

LETTERS = "ABCD"


def exact(answered, _):
    right = answered.question.answer
    text = answered.prediction.text
    is_right = text in right or text == "".join(right)
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
    scorers={"exact": exact},
    measures={"accuracy": lambda scored: mean(ScoredPoint(one.points) for _, one in scored)},
)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What a model was trained on."""

    of_images: Sequence[str] = ()
    of_looks: Sequence[str] = ()
    of_texts: Sequence[str] = ()

    def images(self) -> Iterator[TrainingMatch]:
        yield from (TrainingMatch("hashes.txt", one) for one in self.of_images)

    def image_hashes(self) -> Iterator[TrainingMatch]:
        yield from (TrainingMatch("looks.txt", one) for one in self.of_looks)

    def texts(self) -> Iterator[TrainingMatch]:
        yield from (TrainingMatch("texts.jsonl", one) for one in self.of_texts)


@dataclass(frozen=True, kw_only=True)
class Held:
    """Evidence in memory."""

    questions: Sequence[Question]
    images: Mapping[str, Image.Image] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)  # how images look
    stored: Mapping[str, StoredImage] = field(default_factory=dict)
    task: Task = TASK
    training: TrainingData | None = None
    responses: Sequence[Prediction] = ()
    people_checks: Mapping[str, PeopleCheck] = field(default_factory=dict)

    def ranges(self, images):
        return {one: level_range(self.images[one]) for one in images if one in self.images}

    def image_hashes(self, images):
        return {one: self.hashes[one] for one in images if one in self.images}

    def open_image(self, image):
        if image not in self.images:
            raise ImageError(f"no image {image}")
        return self.images[image]

    def predictions(self, model: str, condition: str = "main") -> list[Prediction]:
        return [one for one in self.responses if (one.model, one.condition) == (model, condition)]

    def judgements(self, model: str, condition: str = "main") -> list[Judgement]:
        return []

    def scores(self, model: str, condition: str = "main") -> list[Score]:
        return score(self.task, self.questions, self.predictions(model, condition), [])

    def columns(
        self, table: Table, model: str, names: Sequence[str], condition: str = "main"
    ) -> Columns:
        rows = getattr(self, table)(model, condition)
        return {name: [getattr(row, name) for row in rows] for name in names}

    def results(self, condition: str = "main") -> Results:
        models = sorted({one.model for one in self.responses if one.condition == condition})
        ids = [one.question_id for one in self.questions]
        points = np.full((len(models), len(ids)), np.nan)
        answers = np.full(points.shape, "", object)
        places = {name: place for place, name in enumerate(ids)}
        for row, model in enumerate(models):
            for one in self.scores(model, condition):
                place = row, places[one.question_id]
                points[place], answers[place] = one.points, ANSWER_SEPARATOR.join(one.answer)
        return Results(models=tuple(models), questions=tuple(ids), points=points, answers=answers)


def failed(held: Held) -> set[str]:
    """The examinations that do not pass."""
    return {row.check for row in audit_task(held) if not row.passed}


def found(held: Held, check: str) -> AuditFinding:
    """What one examination finds."""
    (one,) = [one for one in CHECKS if one.name == check]
    return one(held)


def drawn(seed: int, side: int = 48) -> Image.Image:
    """An image that looks like no other: a few large patches of colour."""
    patches = np.random.default_rng(seed).integers(0, 256, (6, 6, 3), dtype=np.uint8)
    return Image.fromarray(patches).resize((side, side), Image.Resampling.BICUBIC)


def stored_as(image: Image.Image, name: str, form: str = "PNG") -> StoredImage:
    """The file that an image becomes."""
    file = io.BytesIO()
    image.save(file, form)
    data = file.getvalue()
    return StoredImage(
        name=name,
        sha256=sha256(data).hexdigest(),
        format=form,
        width=image.width,
        height=image.height,
        n_bytes=len(data),
    )


_WORDS = [
    *("apple", "barn", "cloud", "door", "eagle", "flute"),
    *("grape", "house", "island", "jacket", "kettle", "lamp"),
]
_PLACES = [
    *("kitchen", "garden", "harbour", "museum", "desert"),
    *("castle", "airport", "meadow", "tunnel", "market"),
]


def exam(kind: str, n: int = 60, seed: int = 0) -> Held:
    """Questions of one kind, each about an image of its own.

    Each word is right as often as it is offered, each letter as often as any other, in no order.
    """
    rng = np.random.default_rng(seed)
    images, stored, questions = {}, {}, []
    for number in range(n):
        image, file = _page(1000 * seed + number, f"{number:04}.png")
        images[file.sha256], stored[file.sha256] = image, file
        questions.append(_question(kind, number, file.sha256, rng))
    hashes = {image: image[:16] for image in images}  # as good as any, and far from one another
    return Held(questions=questions, images=images, hashes=hashes, stored=stored)


@cache
def _page(seed: int, name: str) -> tuple[Image.Image, StoredImage]:
    """An image and its file, the same in exams of every kind."""
    return (image := drawn(seed)), stored_as(image, name)


def _question(kind: str, number: int, image: str, rng: np.random.Generator) -> Question:
    place, other = (_PLACES[n] for n in (number % 10, number // 10 % 10))
    text = f"Which thing lies between the {place} and the {other}, beside sign {number}?"
    named = {
        "question_id": f"exam/{number}",
        "task": "exam",
        "text": text,
        "images": (image,),
        "category": f"part {number % 2}",
    }
    options = tuple(str(one) for one in rng.choice(_WORDS, 4, replace=False))
    key = int(rng.integers(4))
    match kind:
        case "choice":
            return question(**named, kind=kind, options=options, answer=(LETTERS[key],))
        case "choices":
            right = sorted(rng.choice(4, 2, replace=False))
            return question(
                **named, kind=kind, options=options, answer=tuple(LETTERS[n] for n in right)
            )
        case "options":  # said in words
            return question(**named, kind="text", options=options[:2], answer=(options[key % 2],))
        case "blanks":
            return question(**named, kind=kind, answer=(options[0], str(number * 7)))
        case _:
            answer = f"the {options[0]} with number {number * 7}"
            return question(**named, kind="text", answer=(answer,))


KINDS = ("choice", "choices", "options", "blanks", "text")
