"""Judges and scores responses that were generated elsewhere."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from bench_assets.core.schema.chat import ChatModel, Response
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import ChosenJudge, Task
from bench_resources.models.registry.recorded import (
    RecordedJudge,
    RecordedResponse,
    ResponseReport,
    report,
)

if TYPE_CHECKING:
    from bench_assets.workspace.materialization.workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalScores:
    """Metrics of one model under one condition, and the match of its responses to the questions."""

    model: str
    metrics: list[Metric]
    report: ResponseReport


def by_model_and_condition(
    responses: Sequence[RecordedResponse], nameless: str
) -> list[list[RecordedResponse]]:
    """Group responses by model and condition, sorted; within a group, in the order of the file.

    Responses without a model name are grouped under ``nameless``.
    """
    named = [replace(response, model=response.model or nameless) for response in responses]

    def key(response: RecordedResponse) -> tuple[str, str]:
        return response.model, response.condition

    return [list(part) for _, part in groupby(sorted(named, key=key), key)]


@contextmanager
def open_judge(
    bench: "Workbench", task: Task, responses: Sequence[RecordedResponse], file: Path
) -> Iterator[tuple[ChatModel | None, str]]:
    """Open the model of a task's configured judge; None if the judge uses no model.

    Yields:
        The model, and the name of the judge.

    Raises:
        SettingsError: If the task has no such judge.
        UnknownNameError: If bench.toml has no model of that name.
    """
    judge = bench.settings.suite(task.suite, SuiteSettings).judge
    name, model_name = task.chosen_judge(judge) if task.is_judged else ChosenJudge("", "")
    if not model_name:
        yield None, name
    elif model_name == "recorded":
        yield RecordedJudge(model_name, responses, file), name
    else:
        with bench.models() as models, models.open(model_name) as model:
            yield model, name


def score_responses(
    task: Task,
    questions: Sequence[Question],
    responses: Sequence[RecordedResponse],
    judge: tuple[ChatModel | None, str],
    scorer: str,
) -> ExternalScores:
    """Judge, score and aggregate the responses of one model under one condition.

    Questions without a response are not scored as wrong; the metrics count them.

    Args:
        task: The task the questions belong to.
        questions: The question table of the condition.
        responses: One model's responses under one condition.
        judge: The judge's model, or None, and the name of the judge.
        scorer: Name of a scorer; "" for the task's default.

    Raises:
        UnknownNameError: If the task has no such scorer.
        SourceError: If two responses to one question differ.
    """
    question_ids = {question.question_id for question in questions}
    fits = report(questions, responses)
    rows = _predictions(responses, question_ids)
    judgements = pipeline.judge(task, questions, rows, *judge) if task.is_judged else []
    scores = pipeline.score(task, questions, rows, judgements, scorer)
    return ExternalScores(
        model=responses[0].model,
        metrics=pipeline.summarise(task, questions, rows, scores),
        report=fits,
    )


def extra_metrics(
    bench: "Workbench",
    task: Task,
    questions: Sequence[Question],
    responses: Sequence[RecordedResponse],
) -> list[Metric]:
    """Compute metrics that need more than scores, such as an encoder; most tasks have none.

    Args:
        bench: The home, with the settings of the suite.
        task: The task the questions belong to.
        questions: The question table of the condition.
        responses: One model's responses under one condition.
    """
    measure = bench.catalog.suite(task.suite).measured_beside.get(task.name)
    rows = _predictions(responses, {question.question_id for question in questions})
    return measure(bench.settings, rows[0].model, questions, rows) if measure and rows else []


def require_matches(file: Path, suite: str, scored: Sequence[ExternalScores]) -> None:
    """Refuse a file without any usable response, because empty metrics would look like a result.

    Raises:
        SourceError: If no response of the file answers a question of the suite.
    """
    if any(one.report.n_used for one in scored):
        return
    unknown = [name for one in scored for name in one.report.unknown]
    where = next((one.report.first_unknown for one in scored if one.report.first_unknown), "")
    example = f", such as {unknown[0]!r} ({where.rpartition(', ')[2]})" if unknown else ""
    raise SourceError(
        f"{file}: no response answers a question of {suite}: {len(set(unknown))} unknown "
        f"question_ids"
        f"{example}. Print the questions with `bench tables questions {suite}`"
    )


def fit_message(file: Path, scored: ExternalScores, n_questions: int) -> str:
    """Format the numbers of used, missing and unknown responses of a file, one per line."""
    fits = scored.report
    lines = [f"{file}: {fits.n_used} responses of {scored.model} used"]
    for label, names in {
        f"of {n_questions} questions have no response": fits.missing,
        "responses to unknown questions left out": fits.unknown,
    }.items():
        if names:
            lines.append(f"  {len(names)} {label}, such as {', '.join(names[:3])}")
    return "\n".join(lines)


def _predictions(
    responses: Sequence[RecordedResponse], question_ids: Collection[str]
) -> list[Prediction]:
    """Build predictions from the responses, without duplicates and unknown questions."""
    predictions = {
        (response.question_id, response.sample): Prediction(
            question_id=response.question_id,
            model=response.model,
            condition=response.condition,
            sample=response.sample,
            text=wrapped.said.answer,
            raw_text=response.text,
            no_answer=wrapped.no_answer,
        )
        for response in responses
        if response.question_id in question_ids
        for wrapped in [Response(text=response.text)]
    }
    return list(predictions.values())
