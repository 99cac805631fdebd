"""The task: prompts, scorer and measures."""

from collections.abc import Sequence

from bench_assets.core.metrics.aggregates import accuracy, f1, group_accuracy, yes_ratio
from bench_assets.core.reading.yes_no import read_yes_no
from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.evaluation.task import AnsweredQuestion, Condition, Task
from edited_pairs_bench import NAME


def ask(question: Question) -> Prompt:
    """Show the question's image, and ask for yes or no."""
    return Prompt.of(*map(Image, question.images), f"{question.text} Answer with yes or no.")


def ask_without_image(question: Question) -> Prompt:
    """Ask without the image: the prompt of both questions of a pair is the same."""
    return ask(question).without_images()


def score(answered: AnsweredQuestion, _: Sequence[Judgement]) -> Score:
    """Give a point if the response says the right one of yes and no."""
    question, prediction = answered
    reading = read_yes_no(prediction.text)
    if reading is None:
        return Score.of(prediction, points=0.0, answer=())
    answer = (reading.value,)
    points = float(answer == question.answer)
    return Score.of(prediction, points=points, answer=answer, note=reading.note)


TASK = Task(
    name=NAME,
    title="Edited pairs",
    version=1,
    conditions={
        "main": Condition(prompt=ask, about="One image and the question."),
        "no_image": Condition(prompt=ask_without_image, about="The question without its image."),
    },
    scorers={"yes_no": score},
    measures={
        "pair_accuracy": group_accuracy,
        "accuracy": accuracy,
        "f1": f1,
        "yes_ratio": yes_ratio,
    },
)
