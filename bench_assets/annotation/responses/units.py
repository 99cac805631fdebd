"""Model responses as annotation units: anonymous and deduplicated."""

import hashlib
from collections.abc import Iterable, Sequence

from bench_assets.annotation.answers.values import lettered_choices
from bench_assets.annotation.tasks import AnnotationTask, SourceTable, Unit
from bench_assets.core.schema.rows import Prediction, Question

_NAME_LENGTH = 12  # hexadecimal digits; 10,000 responses collide with probability 2e-7


def response_name(text: str) -> str:
    """Name a response by a digest of its text, which hides its model."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_NAME_LENGTH]


def judgeable_predictions(predictions: Iterable[Prediction]) -> list[Prediction]:
    """Select first samples of questions, without failed and truncated responses and rankings."""
    return [
        row for row in predictions if not (row.error or row.no_answer or row.sample or row.ranking)
    ]


def question_fields(question: Question) -> dict[str, str]:
    """Format a question for annotators, with its answer key."""
    fields = {"Question": question.text}
    if question.context and question.context != question.text:
        fields = {"Context": question.context} | fields
    if question.options:
        fields["Options"] = "\n".join(lettered_choices(question.options))
    return {**fields, "Right": "\n".join(question.answer)}


def images_of(question: Question) -> dict[str, str]:
    """Images of a question by their headings, in order."""
    return {f"Image {number}": image for number, image in enumerate(question.images, 1)}


def response_tables(task: str) -> dict[str, SourceTable]:
    """Tables of a task from which units about its responses are built."""
    return {
        "questions": SourceTable(f"{task}/questions", Question),
        "predictions": SourceTable(f"{task}/predictions", Prediction),
    }


def option_units(task: AnnotationTask, questions: Sequence[Question], needed: int) -> list[Unit]:
    """Build a unit for each question with options and images: its field "answer" has the options.

    The key is not shown.
    """
    return [
        Unit(
            task=task.name,
            unit_id=question.question_id,
            shown={"Question": question.text},
            images=images_of(question),
            choices={"answer": lettered_choices(question.options)},
            needed=needed,
        )
        for question in questions
        if question.options and question.images
    ]
