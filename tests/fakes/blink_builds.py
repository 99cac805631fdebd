"""A build of BLINK's raw data sets in one call; the graph divides it among three tables."""

from pathlib import Path
from typing import NamedTuple

from bench_assets.core.schema.rows import Edition, Question, Rejection
from bench_assets.suites.blink.construction.build import (
    StoreImage,
    TaskBuildResult,
    choose,
    draw_questions,
    no_questions_error,
    propose,
)
from bench_assets.suites.blink.construction.recipes import RECIPES, BuilderParameters


class Built(NamedTuple):
    questions: list[Question]
    rejections: list[Rejection]
    tasks: list[TaskBuildResult]


def build_all(
    *folders: Path,
    store: StoreImage,
    edition: Edition = "mini",
    seed: int = 0,
    parameters: BuilderParameters,
) -> Built:
    proposals = [row for task in RECIPES for row in propose(folders, task, seed, parameters)]
    choices = choose(proposals, parameters).values()
    results = [choice.result for choice in choices]
    height = parameters.height
    questions = [
        question
        for result in results
        for question in draw_questions(
            folders, result, store, edition=edition, seed=seed, height=height
        )
    ]
    if not questions:
        raise no_questions_error(folders[0], results)
    return Built(questions, [row for choice in choices for row in choice.rejections], results)
