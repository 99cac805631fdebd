"""Evaluations that can be compared: tables, and files of metrics."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.comparison.causes import EvaluationTables
from bench_assets.core.schema.errors import SettingsError, TableError, UnknownNameError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.evaluation.task import Task
from bench_resources.tables.parquet import TableFiles

Row = TypeVar("Row")


class EvaluationLocation(NamedTuple):
    """A model's evaluation on a task under a condition, and the tables it is stored in."""

    tables: TableFiles
    task: Task
    condition: str
    model: str

    @property
    def name(self) -> str:
        """The model, with its condition unless that is the main one."""
        return self.model if self.condition == "main" else f"{self.model}, {self.condition}"

    @property
    def is_measured(self) -> bool:
        """Whether the evaluation has metrics."""
        return self.tables.exists(evaluation_key(self.task, self.condition, "metrics"), self.model)

    def read(self) -> EvaluationTables:
        """Read its tables; missing ones are empty.

        Raises:
            TableError: If a table is damaged.
        """
        return EvaluationTables(
            name=self.name,
            questions=_read_if_exists(
                self.tables, questions_key(self.task, self.condition), Question
            ),
            predictions=self._rows("predictions", Prediction),
            judgements=self._rows("judgements", Judgement),
            scores=self._rows("scores", Score),
            metrics=self._rows("metrics", Metric),
        )

    def _rows(self, table: str, row_type: type[Row]) -> list[Row]:
        key = evaluation_key(self.task, self.condition, table)
        return _read_if_exists(self.tables, key, row_type, self.model)


def find_evaluations(
    name: str, tables: TableFiles, tasks: Sequence[Task], model: str = "", condition: str = "main"
) -> list[EvaluationLocation]:
    """Find the evaluations behind a name: a model, a condition of ``model``, or a file.

    A file is a Parquet table of metrics, maybe of another home. ``condition`` is that of a model.

    Raises:
        UnknownNameError: If nothing of that name was evaluated, or no task has the condition.
        SettingsError: If a condition is named without its model.
        TableError: If a file is missing, or is no table of metrics of a home.
    """
    if name.endswith(".parquet"):
        return [_locate_file(Path(name), tasks)]
    if any(name in task.conditions for task in tasks):
        if not model:
            raise SettingsError(f"{name} is a condition. Name its model with --model")
        condition = name
    else:
        model = name
    matching_tasks = [task for task in tasks if condition in task.conditions]
    if not matching_tasks:
        known_conditions = {name for task in tasks for name in task.conditions}
        raise UnknownNameError("condition", condition, known_conditions)
    locations = [
        EvaluationLocation(tables=tables, task=task, condition=condition, model=model)
        for task in matching_tasks
    ]
    measured = [location for location in locations if location.is_measured]
    if not measured:
        keys = [evaluation_key(task, condition, "metrics") for task in matching_tasks]
        known = {partition for key in keys for partition in tables.partitions(key)}
        raise UnknownNameError(f"model with metrics, condition {condition},", model, known)
    return measured


def _locate_file(file: Path, tasks: Sequence[Task]) -> EvaluationLocation:
    """Derive an evaluation and the folder of its tables from the path of its metrics."""
    file = file.absolute()
    if not file.is_file():
        raise TableError(f"{file}: no such file (expected tables/<task>/metrics/ of a home)")
    folders = file.parent.parts
    matches: dict[int, tuple[Task, str]] = {}  # task and condition, by the length of their key
    for task in tasks:
        for condition in task.conditions:
            key = tuple(evaluation_key(task, condition, "metrics"))
            if folders[-len(key) :] == key:
                matches.setdefault(len(key), (task, condition))
    if not matches:
        raise TableError(f"{file}: expected a path below <task>/metrics/ of a home's tables")
    length = max(matches)
    task, condition = matches[length]
    tables, key = TableFiles(folder=str(Path(*folders[:-length]))), folders[-length:]
    models = [model for model in tables.partitions(key) if tables.path(key, model) == file]
    if not models:
        raise TableError(f"{file}: expected the name of a model's table, as this home writes it")
    return EvaluationLocation(tables=tables, task=task, condition=condition, model=models[0])


def _read_if_exists(
    tables: TableFiles, key: Sequence[str], row_type: type[Row], partition: str = ""
) -> list[Row]:
    return tables.read(key, row_type, partition) if tables.exists(key, partition) else []
