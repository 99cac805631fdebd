"""Training runs: comparison of steps, the run's error budget, the verdict on the whole run.

A run has one error budget: the k-th comparison of a step with the one before it spends
5 % / (k (k + 1)), so that all of them together, however many, call an equal step better or worse in
at most 5 % of runs. The tasks that the earlier step was measured on share it equally.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from math import isnan

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.comparison.comparable import Side, compare_sides
from bench_assets.comparison.verdicts import ALPHA, Comparison, comparison_sentence, decide
from bench_assets.core.schema.rows import LeaderboardRow, Metric, Question, Score
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.schema.training_runs import is_earlier_step, parse_step, step_order
from bench_assets.core.stats.power import comparison_alpha
from bench_assets.evaluation.task import Task
from bench_resources.tables.parquet import TableFiles


def run_alpha(model: str, models: Collection[str], n_tasks: int = 1) -> float:
    """Share of the run's 5 % for the comparison of a model with the previous step on one task.

    A model that is not a step, or the first step, gets all 5 %. ``n_tasks`` share it.

    >>> steps = [f"r/step-{n}" for n in range(1, 4)]
    >>> [round(run_alpha(model, steps), 4) for model in (*steps, "gpt")]
    [0.05, 0.025, 0.0083, 0.05]
    """
    earlier_steps = {str(step_order(name)) for name in models if is_earlier_step(name, model)}
    alpha = comparison_alpha(len(earlier_steps), ALPHA) if earlier_steps else ALPHA
    return alpha / n_tasks


def n_measured(tables: TableFiles, tasks: Iterable[Task], model: str) -> int:
    """Number of tasks that a model was measured on; at least 1."""
    keys = (evaluation_key(task, "main", "metrics") for task in tasks)
    return max(1, sum(tables.exists(key, model) for key in keys))


def compare_models(
    tables: TableFiles,
    task: Task,
    before: str,
    after: str,
    *,
    slices: bool = True,
    questions: TableFiles | None = None,
) -> list[Comparison]:
    """Read and compare two models, condition main, see ``compare_sides``.

    The table of questions is read from ``questions``, or from ``tables`` if that is None.

    Raises:
        TableError: If a table cannot be read, or a signature is invalid.
    """
    scores_key = evaluation_key(task, "main", "scores")
    metrics_key = evaluation_key(task, "main", "metrics")
    old, new = (
        Side(tables.read(scores_key, Score, model), tables.read(metrics_key, Metric, model))
        for model in (before, after)
    )
    rows = (questions or tables).read(questions_key(task, "main"), Question)
    return compare_sides(task, rows, old, new, slices=slices)


def run_verdicts(
    tables: TableFiles, tasks: Iterable[Task], rows: Iterable[LeaderboardRow]
) -> Iterator[str]:
    """Compare the last step of each run with its first one, on all tasks that both completed.

    The sentences are those of the report's first page, and of its comparison page. All tasks are
    decided together; of the leaderboard's rows, only those measured in this home count.
    """
    complete = [row for row in rows if _is_complete(row)]
    measured_models = {(row.task.partition("+")[0], row.model) for row in complete}
    models_by_run: dict[str, dict[int, str]] = defaultdict(dict)
    for row in complete:
        if step := parse_step(row.model):
            models_by_run[step.run][step.step] = row.model
    task_list = list(tasks)
    for _, models in sorted(models_by_run.items()):
        first, last = models[min(models)], models[max(models)]
        if first == last:
            continue
        effects: list[Comparison] = []
        for task in task_list:
            if {(task.name, first), (task.name, last)} <= measured_models:
                effects += compare_models(tables, task, first, last, slices=False)
        if effects:
            yield comparison_sentence(first, last, decide(effects))


def _is_complete(row: LeaderboardRow) -> bool:
    """Whether this home measured a row on all questions, without failed requests."""
    is_partial = row.n_failed or partial_part(row.signature)
    return row.is_measured and not is_partial and not isnan(row.value)
