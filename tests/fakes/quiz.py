"""The smallest task there is, and its assets run for one model in a home folder of their own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.chat import ChatModel, Prompt, Request
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.core.stats.means import ScoredPoint, mean
from bench_assets.evaluation.task import RULES, AnsweredQuestion, ByRules, Condition, Task
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, TableIOManager
from tests.fakes.rows import question

TASK = Task(
    name="quiz",
    title="a quiz",
    version=1,
    conditions={"main": Condition(prompt=lambda q: Prompt.of(q.text), about="Asked as it is.")},
    scorers={
        "exact": lambda answered, _: Score.of(
            answered.prediction,
            points=float((answered.prediction.text,) == answered.question.answer),
            answer=(answered.prediction.text,),
        )
    },
    measures={"accuracy": lambda scored: mean(ScoredPoint(score.points) for _, score in scored)},
)


def call_right(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    return [
        Judgement.of(prediction, judge=RULES, criterion="right", verdict=True, response="yes")
        for _, prediction in answered
    ]


JUDGED_TASK = replace(TASK, judges={RULES: ByRules(call_right)})


def judge_right(answered: Sequence[AnsweredQuestion], model: ChatModel) -> list[Judgement]:
    """Ask a model whether each answer is right, and take any response for a yes."""
    prompts = [Prompt.of(f"{question.text} right?") for question, _ in answered]
    responses = model.response([Request(prompt=prompt) for prompt in prompts])
    return [
        Judgement.from_response(
            prediction, response, prompt=prompt, judge=model.name, criterion="right", verdict=True
        )
        for (_, prediction), prompt, response in zip(answered, prompts, responses, strict=True)
    ]


def quiz(n: int, categories: int = 1, group: int = 1) -> list[Question]:
    """Questions in groups of ``group``, which take the categories in turn."""
    return [
        question(
            question_id=f"quiz/{number}",
            task="quiz",
            category=f"kind {number // group % categories}",
            group_id=f"{number // group}",
            text=f"What is {number}?",
        )
        for number in range(n)
    ]


def questions_asset(rows: list[Question], task: str = "quiz") -> dg.AssetsDefinition:
    """The question table of the quiz, or of another task."""

    @dg.asset(key=[task, "questions"])
    def questions() -> list[Question]:
        return rows

    return questions


def resources_over(home: Path) -> dict[str, object]:
    """Everything that the assets of a task need, over a home folder."""
    settings = load_settings(home)
    tables = TableFiles(folder=str(home / "tables"))
    image_store = ImageStore(folder=str(home / "images"))
    return {
        "settings": settings,
        "image_store": image_store,
        "models": Models(settings=settings, image_store=image_store),
        "tables": tables,
        "io_manager": TableIOManager(files=tables),
    }


def run_for(
    model: str, assets: Sequence[Any], home: Path, *, raise_on_error: bool = True
) -> dg.ExecuteInProcessResult:
    """Materialize assets and their checks for one model of the home folder's bench.toml."""
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(MODELS.name), [model])
        return dg.materialize(
            assets,
            partition_key=model,
            instance=instance,
            raise_on_error=raise_on_error,
            resources=resources_over(home),
        )
