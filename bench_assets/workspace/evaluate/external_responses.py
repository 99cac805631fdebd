"""Scores replies that were made elsewhere: the second half of ``pipeline``, without a model."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from bench_assets.core.schema.chat import ChatModel, Reply
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Metric, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import ChosenJudge, Task
from resources.models.registry.recorded import RecordedJudge, RecordedReply, ReplyReport, report

if TYPE_CHECKING:
    from bench_assets.workspace.build.workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredElsewhere:
    """The metrics of one model under one condition, and how its replies fit the questions."""

    model: str
    condition: str
    metrics: list[Metric]
    report: ReplyReport


def by_model_and_condition(
    replies: Sequence[RecordedReply], nameless: str
) -> list[list[RecordedReply]]:
    """Split replies into what is scored together; keeps the order of the file in each part.

    Replies that name no model belong to ``nameless``.
    """
    named = [replace(reply, model=reply.model or nameless) for reply in replies]

    def key(reply: RecordedReply) -> tuple[str, str]:
        return reply.model, reply.condition

    return [list(part) for _, part in groupby(sorted(named, key=key), key)]


@contextmanager
def opened_judge(
    bench: "Workbench", task: Task, replies: Sequence[RecordedReply], file: Path
) -> Iterator[tuple[ChatModel | None, str]]:
    """Open the model that the judge configured for a task asks; None if it asks none.

    Yields:
        The model, and the name of the judge.

    Raises:
        SettingsError: If the task is not judged in that way.
        UnknownNameError: If bench.toml has no model of that name.
    """
    judge = bench.settings.suite(task.suite, SuiteSettings).judge
    name, asked = task.chosen_judge(judge) if task.is_judged else ChosenJudge("", "")
    if not asked:
        yield None, name
    elif asked == "recorded":
        yield RecordedJudge(asked, replies, file), name
    else:
        with bench.models() as models, models.open(asked) as model:
            yield model, name


def score_replies(
    task: Task,
    questions: Sequence[Question],
    replies: Sequence[RecordedReply],
    judge: tuple[ChatModel | None, str],
    reading: str,
) -> ScoredElsewhere:
    """Judge, score and measure the replies of one model under one condition.

    A question without a reply is missing, never wrong: the metrics say how many are.

    Args:
        task: The task the questions belong to.
        questions: The question table of the condition.
        replies: One model's replies under one condition.
        judge: The model that judges, or None, and the name of the task's judge.
        reading: Name of a reading; "" for the task's default.

    Raises:
        UnknownNameError: If the task has no such reading.
        SourceError: If two replies to one question differ.
    """
    asked = {question.question_id for question in questions}
    fits = report(questions, replies)
    rows = _predictions(replies, asked)
    judgements = pipeline.judge(task, questions, rows, *judge) if task.is_judged else []
    scores = pipeline.score(task, questions, rows, judgements, reading)
    return ScoredElsewhere(
        model=replies[0].model,
        condition=replies[0].condition,
        metrics=pipeline.summarise(task, questions, rows, scores),
        report=fits,
    )


def measured_beside(
    bench: "Workbench", task: Task, questions: Sequence[Question], replies: Sequence[RecordedReply]
) -> list[Metric]:
    """Take the measures of a task that need more than its scores, such as an encoder; mostly none.

    Args:
        bench: Knows the settings of the suite.
        task: The task the questions belong to.
        questions: The question table of the condition.
        replies: One model's replies under one condition.
    """
    measure = bench.catalog.suite(task.suite).measured_beside.get(task.name)
    rows = _predictions(replies, {question.question_id for question in questions})
    return measure(bench.settings, rows[0].model, questions, rows) if measure and rows else []


def require_some(file: Path, suite: str, scored: Sequence[ScoredElsewhere]) -> None:
    """Refuse a file of which nothing was used: an empty table would look like a result.

    Raises:
        SourceError: If no reply of the file answers a question of the suite.
    """
    if any(one.report.n_used for one in scored):
        return
    unknown = [name for one in scored for name in one.report.unknown]
    where = next((one.report.first_unknown for one in scored if one.report.first_unknown), "")
    such = f", such as {unknown[0]!r} ({where.rpartition(', ')[2]})" if unknown else ""
    raise SourceError(
        f"{file}: no reply answers a question of {suite}: {len(set(unknown))} unknown question_ids"
        f"{such}; print the questions with `bench questions {suite}`"
    )


def fit_message(file: Path, scored: ScoredElsewhere, n_questions: int) -> str:
    """Say in one line each what of the file was used, and what was missing or too much."""
    fits = scored.report
    lines = [f"{file}: {fits.n_used} replies of {scored.model} used"]
    for what, names in {
        f"of {n_questions} questions have no reply": fits.missing,
        "replies to unknown questions left out": fits.unknown,
    }.items():
        if names:
            lines.append(f"  {len(names)} {what}, such as {', '.join(names[:3])}")
    return "\n".join(lines)


def _predictions(replies: Sequence[RecordedReply], asked: Collection[str]) -> list[Prediction]:
    """Take each reply once, and none to questions that are not asked."""
    predictions = {
        (reply.question_id, reply.sample): Prediction(
            question_id=reply.question_id,
            model=reply.model,
            condition=reply.condition,
            sample=reply.sample,
            text=came.said.answer,
            raw_text=reply.text,
            no_answer=came.no_answer,
        )
        for reply in replies
        if reply.question_id in asked
        for came in [Reply(text=reply.text)]
    }
    return list(predictions.values())
