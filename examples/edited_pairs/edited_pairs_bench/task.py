"""Edited pairs as a task: prompt, scoring and measures."""

from collections.abc import Sequence

from bench_assets.core.metrics.aggregates import accuracy, f1, group_accuracy, yes_ratio
from bench_assets.core.reading.yes_no import read_yes_no
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.evaluation.task import AnsweredQuestion, Condition, Task
from edited_pairs_bench import NAME


def main(question: Question) -> Prompt:
    """Ask about one image of the pair; the model never sees both."""
    return Prompt.of(*map(Image, question.images), f"{question.text} Answer with yes or no.")


def no_image(question: Question) -> Prompt:
    """Ask without the image: then both halves have the same response."""
    return main(question).without_images()


def score(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Give a point for the right word; a response that says neither is wrong."""
    question, prediction = answered
    found = read_yes_no(prediction.text)
    answer = (found.value,) if found else ()
    points = float(answer == question.answer)
    return Score.of(prediction, points=points, answer=answer, note=found.note if found else "")


TASK = Task(
    name=NAME,
    title="Edited pairs",
    version=1,
    conditions={
        "main": Condition(prompt=main, about="One image and the question."),
        "no_image": Condition(prompt=no_image, about="The image is taken away."),
    },
    scorers={"yes_no": score},
    measures={
        "pair_accuracy": group_accuracy,
        "accuracy": accuracy,
        "f1": f1,
        "yes_ratio": yes_ratio,
    },
)
