"""Metrics and samples of evaluations as data frames."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from bench_assets.core.images.decoding import decode
from bench_assets.core.images.drawing import encode_png
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import READ_FIELDS, Metric, Prediction, Question, Score
from bench_assets.evaluation.task import Evaluation
from bench_resources.images.store import ImageStore

if TYPE_CHECKING:
    import pandas as pd
    from PIL import Image as PillowImage

_METRIC_COLUMNS = (
    *("task", "condition", "metric", "category", "value", "low", "high"),
    *("constant", "shuffled", "baselines"),
    *("n_scored", "n_unscored", "n_failed", "n_no_answer", "n_refused"),
    *(*READ_FIELDS, "served"),
    *("n_clusters", "largest_cluster", "n_rejected", "n_expired", "people", "edition", "signature"),
)
_SAMPLE_COLUMNS = (
    *("task", "question_id", "sample", "category", "images", "prompt", "response", "answer"),
    *("expected", "score", "max_score", "why"),
)

_SHORT = 8  # hexadecimal digits of a digest


@dataclass(frozen=True, slots=True, repr=False)
class SampleImage:
    """An image of a question, read on demand."""

    sha256: str
    _store: ImageStore = field(compare=False)

    def read(self) -> bytes:
        """Read the bytes of the file.

        Raises:
            ImageError: If it is not in the image store.
        """
        return self._store.place.read(self.sha256)

    def open(self) -> "PillowImage.Image":
        """Decode the image, as RGB.

        Raises:
            ImageError: If it is not in the image store, or does not decode.
        """
        return decode(self.read()).image

    def __repr__(self) -> str:
        """A short name, for cells of data frames."""
        return f"image {self.sha256[:_SHORT]}"

    def _repr_png_(self) -> bytes:
        """The image as PNG, for notebooks."""
        return encode_png(self.open())


def metrics_frame(rows: Sequence[Metric]) -> "pd.DataFrame":
    """Metrics as a data frame, one row each."""
    import pandas as pd

    return pd.DataFrame([asdict(row) for row in rows], columns=list(_METRIC_COLUMNS))


def samples_frame(evaluations: Sequence[Evaluation], store: ImageStore) -> "pd.DataFrame":
    """Responses as a data frame, one row each, in the order of their tables."""
    import pandas as pd

    rows = [row for evaluation in evaluations for row in _sample_rows(evaluation, store)]
    return pd.DataFrame(rows, columns=list(_SAMPLE_COLUMNS))


def _sample_rows(evaluation: Evaluation, store: ImageStore) -> Iterator[dict[str, Any]]:
    task = evaluation.task
    questions = {question.question_id: question for question in evaluation.questions}
    scores = {(score.question_id, score.sample): score for score in evaluation.scores}
    make_prompt = task.condition(evaluation.condition).prompt
    for prediction in evaluation.predictions:
        question = questions[prediction.question_id]
        score = scores.get((prediction.question_id, prediction.sample))
        prompt = prompt_text(make_prompt(question)) if task.asked_of == "model" else ""
        yield _sample_row(question, prediction, score, prompt, store)


def _sample_row(
    question: Question, prediction: Prediction, score: Score | None, prompt: str, store: ImageStore
) -> dict[str, Any]:
    """Cells of a response by column; ``score`` is None if it was not scored."""
    return {
        "task": question.task,
        "question_id": question.question_id,
        "sample": prediction.sample,
        "category": question.category,
        "images": tuple(SampleImage(image, store) for image in question.images),
        "prompt": prompt,
        "response": prediction.raw_text or prediction.text or " > ".join(prediction.ranking),
        "answer": " | ".join(score.answer) if score and _is_read(score) else None,
        "expected": " | ".join(question.answer),
        "score": score.points if score else None,
        "max_score": score.max_points if score else 1.0,
        "why": prediction.error or prediction.no_answer or (score.note if score else ""),
    }


def _is_read(score: Score) -> bool:
    return bool(score.answer) and not (score.unread or score.no_answer)


def prompt_text(prompt: Prompt) -> str:
    """Format a prompt as text, with a mark for each image.

    >>> print(prompt_text(Prompt.of("Is it up?", Image("0a"), system="Be short.")))
    system: Be short.
    user: Is it up?
    [image 1]
    """
    lines, n_images = [], 0
    for turn in prompt.turns:
        parts = []
        for part in turn.parts:
            if isinstance(part, Image):
                n_images += 1
                parts.append(f"[image {n_images}]")
            else:
                parts.append(part)
        label = f"{turn.role}: " if len(prompt.turns) > 1 else ""
        lines.append(label + "\n".join(parts))
    return "\n".join(lines)
