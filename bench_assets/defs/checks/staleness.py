"""Stale metrics: those of other questions, sources or settings than the present ones."""

from collections.abc import Mapping, Set
from functools import cache

from bench_assets.asset_factory.configured_runner import configured_reader, reader_model
from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.comparison.measurements import QUESTIONS_CHANGED
from bench_assets.core.judging.second_look import READER
from bench_assets.core.schema.errors import ModelError, SettingsError, UnknownNameError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.signature import (
    Signature,
    format_judge_setup,
    format_model_setup,
    short_digest,
    split_setups,
)
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.base import ModelSpec
from bench_resources.datasets.source_files import table_locations
from bench_resources.datasets.source_state import SourceState
from bench_resources.models.registry.setup import FindModel, setup_of
from bench_resources.tables.parquet import TableFiles

_BY_READER = format_judge_setup(READER, setup="")


class CurrentConfiguration:
    """Current settings of bench.toml, the files they name, and the present questions."""

    def __init__(self, settings: Settings, find: FindModel | None = None) -> None:
        """Read nothing yet; each file is read once, and each model found once by ``find``."""
        self._settings = settings
        self._setup = cache(lambda name: setup_of(name, settings, find))
        self._questions: dict[str, str] = {}  # by location of the table
        self._changes: dict[str, str] = {}

    @property
    def models(self) -> Mapping[str, ModelSpec]:
        """The models of bench.toml."""
        return self._settings.models

    def stale_reason(self, task: Task, row: Metric, tables: TableFiles | None = None) -> str:
        """Reason why a metric is stale; "" if it is current.

        Tables without ``Metric.setup``, and those of encoders (whose names contain the digest of
        the weights), are compared by questions, task and scorer only. Without ``tables``, which the
        metric is from, the questions are not compared.
        """
        reason = self._compare_questions(task, row, tables) if tables else ""
        reason = reason or self._compare_task(task, Signature.parse(row.signature))
        if reason:
            return reason
        if task.asked_of != "model" or task.measured_by:  # another harness configured it
            return ""
        try:
            model = self._setup(row.model)
        except UnknownNameError:
            return f"{row.model} is no longer in {self._settings.file.name}"
        measured = split_setups(row.setup or "")  # NULL if queried together with newer tables
        if model and measured.model - {format_model_setup(model)}:
            return "measured under another configuration of the model"
        return self._compare_judges(task, row.model, measured.judge)

    def questions_stale_reason(
        self, task: Task, tables: TableFiles, condition: str = "main"
    ) -> str:
        """How the source of a task's questions has changed since they were built; "" if not."""
        key = questions_key(task, condition)
        if tables.root(task.suite) != table_locations(self._settings).get(task.suite, ""):
            return ""  # the tables are of another source, which may not be here
        location = tables.place(key)
        if location not in self._changes:
            self._changes[location] = self._describe_changes(task.suite, tables.source_state(key))
        return self._changes[location]

    def _compare_questions(self, task: Task, row: Metric, tables: TableFiles) -> str:
        """How questions differ from the present ones, or these from their source; "" if not."""
        condition = row.condition.partition("~")[0]
        if condition not in task.conditions:
            return ""
        key = questions_key(task, condition)
        location = tables.place(key)
        if location not in self._questions:
            self._questions[location] = short_digest(tables.digest(key) or "")
        if row.questions != self._questions[location]:
            return f"{QUESTIONS_CHANGED}: bench evaluate {task.name}"
        return self.questions_stale_reason(task, tables, condition)

    def _describe_changes(self, suite: str, recorded: bytes | None) -> str:
        """The first change of a source since a recorded state, and the remedy; "" if none."""
        state = SourceState.parse(recorded)
        changes = state.changes(suite, self._settings, SuiteSettings.model_fields) if state else []
        if not changes:
            return ""
        more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
        return f"{changes[0]}{more}: bench evaluate {suite}"

    def _compare_judges(self, task: Task, model: str, setups: Set[str]) -> str:
        """How judges or readers of a metric differ from the present ones; "" if not at all."""
        reader_setups = {setup for setup in setups if setup.startswith(_BY_READER)}
        judge = self.judge(task)
        if judge is not None and setups - reader_setups - {judge}:
            return "measured under another configuration of the judge"
        reader = self.reader(task, model)
        if reader is not None and reader_setups - {reader}:
            return "measured under another configuration of the reader"
        return ""

    def _compare_task(self, task: Task, signature: Signature) -> str:
        """How the task or scorer of a metric differs from the present one; "" if not at all."""
        is_same_version = signature.version == task.version
        if not is_same_version or set(signature.extensions) != set(task.extensions):
            return "measured under another version of the task"
        scorer = signature.parts.get("scorer", "")
        present = self._settings.suite(task.suite, SuiteSettings).scorer or task.default_scorer
        if task.asked_of == "model" and scorer not in ("", present):
            return f"measured with the scorer {scorer}"
        return ""

    def model(self, name: str) -> str:
        """Setup of a model; "" if it is unknown, or cannot be read."""
        try:
            return self._setup(name)
        except UnknownNameError:
            return ""

    def judge(self, task: Task) -> str | None:
        """Setup of the judge; "" if none can be chosen, None if it cannot be read."""
        suite_settings = self._settings.suite(task.suite, SuiteSettings)
        try:
            chosen = task.asked_judge(suite_settings.judge, suite_settings.scorer)
            if not chosen.model:
                return format_judge_setup(chosen.name, setup="")
            setup = self._setup(chosen.model)
        except (SettingsError, UnknownNameError):  # the next evaluation reports it
            return ""
        return format_judge_setup(chosen.name, setup) if setup else None

    def reader(self, task: Task, model: str) -> str | None:
        """Setup of the reader of a model's responses; "" without one, None if it cannot be read."""
        setting = self._settings.suite(task.suite, SuiteSettings).judge
        try:
            reader = configured_reader(task, self._settings, setting)
            if not reader:
                return ""
            setup = self._setup(reader_model(reader, model, self._settings))
        except (SettingsError, UnknownNameError, ModelError):  # the next evaluation reports it
            return ""
        return format_judge_setup(READER, setup) if setup else None
