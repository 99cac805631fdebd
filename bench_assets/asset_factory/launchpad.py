"""What a launch in Dagster's launchpad changes: questions, seed, condition, judge.

Such an evaluation is stored beside the tables, as ``bench evaluate --limit`` does: its number is
not that of the benchmark, and no table of the graph is replaced.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import dagster as dg
from pydantic import Field

from bench_assets.asset_factory.asset_metadata import results_page
from bench_assets.asset_factory.configured_runner import configured_runner, configured_verdicts
from bench_assets.asset_factory.evaluation_steps import partition_responses
from bench_assets.asset_factory.evaluation_tables import no_questions_error, questions_key
from bench_assets.asset_factory.partial_results import run_part, store_part
from bench_assets.asset_factory.question_subset import QuestionSubset
from bench_assets.asset_factory.suite_assets import StepModels
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Evaluation, Task
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles


class Launch(dg.Config):
    """Changes of one launch; without any, the whole evaluation is made and stored."""

    limit: int = Field(0, ge=0, description="Most questions, in whole groups; 0: all.")
    seed: int | None = Field(None, description="Seed of the model's sampling.")
    condition: str = Field("", description="Another condition of the task.")
    judge: str = Field("", description="Another judge: a model of bench.toml, or rules.")

    @property
    def changes(self) -> str:
        """Text of the changes besides the limit, which is stored with the partial results.

        >>> Launch(limit=20, seed=3, judge="rules").changes
        ', seed 3, judge rules'
        """
        changed = {"seed": self.seed, "condition": self.condition, "judge": self.judge}
        return "".join(
            f", {name} {value}" for name, value in changed.items() if value not in ("", None)
        )

    def changes_anything(self, task: Task, questions: Sequence[Question]) -> bool:
        """Whether the launch changes the evaluation; a limit may leave out no question."""
        subset = QuestionSubset(limit=self.limit).select(task, questions)
        return bool(self.changes) or len(subset) < len(questions)

    def evaluate(
        self,
        context: dg.AssetExecutionContext,
        models: Models,
        tables: TableFiles,
        step: tuple[Task, str],
        questions: list[Question],
    ) -> Evaluation:
        """Evaluate this partition's model with the changes, store it as partial, and observe it.

        ``step`` has the task and condition of the step; a launch may name another condition.

        Raises:
            UnknownNameError: If the task has no such condition.
            SettingsError: If there are no questions or no such judge, or the model has no seed.
            BenchError: If a response or verdict is missing.
        """
        task, step_condition = step
        condition = self.condition or step_condition
        settings, model = models.settings, context.partition_key
        if questions_key(task, condition) != questions_key(task, step_condition):
            questions = tables.read(questions_key(task, condition), Question)
        subset = QuestionSubset(limit=self.limit).select(task, questions)
        if not subset:
            raise no_questions_error(task, condition)
        judge = self.judge or settings.suite(task.suite, SuiteSettings).judge
        step_models = StepModels(context, models)
        with nullcontext() if self.seed is None else models.seeded(model, self.seed):
            responses = partition_responses(context, step_models, models, task, condition, subset)
            open_judge = partial(step_models.open, condition=condition)
            verdicts = configured_verdicts(task, models, judge, open_judge, model)
            runner = configured_runner(task, settings, responses, verdicts, condition)
            evaluation = run_part(replace(runner, complete=True), tables, subset, questions)
        part = f"{len(subset)} of {len(questions)} questions{self.changes}"
        evaluation = store_part(settings, evaluation, subset, part)
        _observe(context, evaluation)
        return evaluation


def _observe(context: dg.AssetExecutionContext, evaluation: Evaluation) -> None:
    """Show the results of a partial evaluation beside the asset."""
    page = results_page(evaluation.metrics, evaluation.task.primary_metric)
    context.log_event(
        dg.AssetObservation(
            asset_key=context.asset_key,
            partition=evaluation.model,
            description=f"{evaluation.partial}: not a number of the benchmark",
            metadata={"results": dg.MetadataValue.md(page), "questions": evaluation.partial},
        )
    )
