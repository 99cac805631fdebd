"""Collection of the exported tables: all exports read their rows from here."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar, get_args

from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.comparison.people_checks import with_people
from bench_assets.core.schema.errors import TableError, UnknownNameError
from bench_assets.core.schema.rows import Edition, Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import short_digest
from bench_assets.evaluation.task import Task
from bench_resources.tables.parquet import TableFiles

Row = TypeVar("Row")

MAIN = "main"


class TableFilter(NamedTuple):
    """Selection of tables to export; (): all."""

    tasks: Sequence[Task]
    models: Sequence[str] = ()
    conditions: Sequence[str] = ()
    editions: Sequence[str] = ()
    as_shown: bool = False  # judged numbers corrected by people, as on the leaderboard


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportTable:
    """A question table to export."""

    task: Task
    name: str  # "main", or the condition that has questions of its own
    questions: Sequence[Question]

    @property
    def edition(self) -> str:
        """The edition of its questions."""
        return self.questions[0].edition


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResponses:
    """A model's responses to a question table under one condition; tables may be missing."""

    question_table: ExportTable
    condition: str
    model: str
    asked_at: datetime  # time of the last response, UTC
    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]
    scores: Sequence[Score]
    metrics: Sequence[Metric]

    @property
    def task(self) -> Task:
        """The task it belongs to."""
        return self.question_table.task

    @property
    def name(self) -> str:
        """Task name, with the condition unless that is the main one."""
        return self.task.name + ("" if self.condition == MAIN else f"/{self.condition}")

    @property
    def scorer(self) -> str:
        """Scorer of its responses."""
        return next((row.scorer for row in self.scores), "") or self.task.default_scorer

    @property
    def primary(self) -> Metric | None:
        """The primary metric over all questions, if it was measured."""
        name = self.task.primary_metric
        rows = (row for row in self.metrics if (row.metric, row.category) == (name, "all"))
        return next(rows, None)


class TableCollection:
    """The selected tables of a home, read one at a time."""

    def __init__(self, tables: TableFiles, selection: TableFilter) -> None:
        """Validate the names.

        Raises:
            UnknownNameError: If a model, condition or edition has no results.
        """
        self._tables = tables
        self._selection = selection
        self.left_out: list[str] = []
        """Tables that were left out, with reasons; complete after all were read."""
        tasks = selection.tasks
        conditions = [(task, condition) for task in tasks for condition in task.conditions]
        if selection.models:
            models = [
                model for task, condition in conditions for model in self._models(task, condition)
            ]
            _check_names("model with results", selection.models, models)
        _check_names("condition", selection.conditions, [name for _, name in conditions])
        _check_names("edition", selection.editions, get_args(Edition))

    def question_tables(self) -> Iterator[ExportTable]:
        """The question tables of the chosen conditions, without empty ones."""
        for task in self._selection.tasks:
            names = [_question_table_name(task, name) for name in self._conditions(task)]
            for name in dict.fromkeys(names):
                if question_table := self._read_question_table(task, name):
                    yield question_table

    def evaluations(self) -> Iterator[ModelResponses]:
        """Responses and metrics on the present questions."""
        for task in self._selection.tasks:
            for condition in self._conditions(task):
                evaluated = self._models(task, condition)
                selected = self._selection.models or evaluated
                name = _question_table_name(task, condition)
                question_table = self._read_question_table(task, name) if selected else None
                if question_table is None:
                    continue
                for model in sorted({*selected} & {*evaluated}):
                    if responses := self._read_responses(question_table, condition, model):
                        yield responses

    def is_requested(self, task: str, model: str, edition: str) -> bool:
        """Whether a row of the leaderboard, which is of the main condition, was requested."""
        names = {task.name for task in self._selection.tasks}
        return (
            task.partition("+")[0] in names  # without its extensions
            and (not self._selection.models or model in self._selection.models)
            and (not self._selection.conditions or MAIN in self._selection.conditions)
            and (not self._selection.editions or edition in self._selection.editions)
        )

    def _conditions(self, task: Task) -> list[str]:
        selected = self._selection.conditions
        return [name for name in task.conditions if not selected or name in selected]

    def _models(self, task: Task, condition: str) -> list[str]:
        return self._tables.partitions(evaluation_key(task, condition, "predictions"))

    def _read_question_table(self, task: Task, name: str) -> ExportTable | None:
        key = evaluation_key(task, name, "questions")
        questions = self._read(key, Question) if self._tables.exists(key) else []
        editions = self._selection.editions
        if not questions or (editions and questions[0].edition not in editions):
            return None
        return ExportTable(task=task, name=name, questions=questions)

    def _read_responses(
        self, question_table: ExportTable, condition: str, model: str
    ) -> ModelResponses | None:
        """Read a model's tables; None, with a reported omission, if they are of other questions."""
        task = question_table.task
        written_at = self._tables.written(evaluation_key(task, condition, "predictions"), model)
        responses = ModelResponses(
            question_table=question_table,
            condition=condition,
            model=model,
            asked_at=datetime.fromtimestamp(written_at, UTC),
            predictions=self._read_evaluation(Prediction, "predictions", task, condition, model),
            judgements=self._read_evaluation(Judgement, "judgements", task, condition, model),
            scores=self._read_evaluation(Score, "scores", task, condition, model),
            metrics=self._metrics(task, condition, model),
        )
        if self._is_current(responses):
            return responses
        self._report_omission(f"{responses.name} of {model}: its questions have changed since")
        return None

    def _metrics(self, task: Task, condition: str, model: str) -> list[Metric]:
        stored = self._read_evaluation(Metric, "metrics", task, condition, model)
        return with_people(self._tables, task, stored) if self._selection.as_shown else stored

    def _is_current(self, responses: ModelResponses) -> bool:
        question_table = responses.question_table
        key = evaluation_key(question_table.task, question_table.name, "questions")
        digest = short_digest(self._tables.digest(key) or "")
        question_ids = {question.question_id for question in question_table.questions}
        return all(row.questions == digest for row in responses.metrics) and all(
            row.question_id in question_ids for row in responses.predictions
        )

    def _read_evaluation(
        self, row_type: type[Row], table: str, task: Task, condition: str, model: str
    ) -> list[Row]:
        key = evaluation_key(task, condition, table)
        return self._read(key, row_type, model) if self._tables.exists(key, model) else []

    def _read(self, key: Sequence[str], row_type: type[Row], model: str = "") -> list[Row]:
        """Read a table; reports a damaged one as left out, and returns no rows."""
        try:
            return self._tables.read(key, row_type, model)
        except TableError as error:
            self._report_omission(str(error))
            return []

    def _report_omission(self, reason: str) -> None:
        if reason not in self.left_out:
            self.left_out.append(reason)


def _question_table_name(task: Task, condition: str) -> str:
    return condition if task.conditions[condition].own_questions else MAIN


def _check_names(kind: str, names: Iterable[str], known_names: Collection[str]) -> None:
    for name in names:
        if name not in known_names:
            raise UnknownNameError(kind, name, known_names)
