"""Quick evaluation of a checkpoint: every task on a few of its questions.

Responses are cached, so that the full evaluation requests only the rest. Early stopping tests
whether a checkpoint is worse than the previous step, with a sequential test (``core.stats``) whose
false-alarm rate is at most 5 % over a whole run of equal checkpoints.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from math import isnan

import dagster as dg

from bench_assets.asset_factory.configured_runner import (
    configured_responses,
    configured_runner,
    configured_verdicts,
)
from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.asset_factory.evaluation_steps import count_rejections
from bench_assets.asset_factory.suite_assets import MODELS, StepModels
from bench_assets.comparison.runs import comparison_models, n_measured, run_alpha
from bench_assets.comparison.units import ScoredMetric, metric_pairs
from bench_assets.comparison.verdicts import scored_rows, scores_by_question
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.core.schema.training_runs import is_earlier_step, step_order
from bench_assets.core.stats.paired_tests import PairedScores, cluster_questions, mean_change
from bench_assets.core.stats.power import sequential_p_value
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import ScoredQuestion, Task
from bench_resources.config.settings_resource import SettingsResource
from bench_resources.models.registry.opening import Models
from bench_resources.tables.parquet import TableFiles, table_output

_FEWEST = 2  # independent questions (clusters) of a comparison


def verdict(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
    tables: TableFiles,
    tasks: Sequence[Task] = (),
) -> str:
    """Decide whether a model is worse than the previous step, on common questions.

    Only responses to the same prompt, with the same scorer and judge, are compared.

    Args:
        task: The evaluated task.
        questions: The questions of the quick evaluation.
        predictions: The model's responses.
        scores: Their scores.
        tables: Tables with the evaluations of earlier steps.
        tasks: All tasks of the home, which share the error budget of a run.
    """
    models = tables.partitions(_key(task, "scores"))
    model = scores[0].model if scores else ""
    written = partial(tables.written, _key(task, "scores"))
    if not (others := comparison_models(model, models, written, baseline="")):
        return "nothing to compare with: no earlier step of its run was evaluated"
    (other,) = others
    try:
        before = tables.read(_key(task, "scores"), Score, other)
        previous_predictions = tables.read(_key(task, "predictions"), Prediction, other)
    except TableError as error:
        return f"not comparable with {other}: {error}"
    pairs = _pairs(
        task, questions, _comparable_scores((previous_predictions, before), (predictions, scores))
    )
    sign = -1 if task.is_lowest_best else 1
    gains = [sign * gain for gain in cluster_gains(pairs)]
    if len(gains) < _FEWEST:
        return f"not comparable with {other}: fewer than {_FEWEST} questions with the same prompt"
    # Half of the step's budget: the whole evaluation, tested two-sided, has the other half.
    n_tasks = n_measured(tables, tasks, other)
    p, alpha = sequential_p_value(gains), run_alpha(model, models, n_tasks) / 2
    steps = {str(step_order(one)) for one in models if is_earlier_step(one, model)}
    return (
        f"{'worse' if p < alpha else 'undecided'} against {other}: {task.primary_metric}"
        f" {mean_change(pairs):+.3f} on {len(gains)} independent questions, p = {p:.2g}"
        f" (alpha {alpha:.2g}, comparison {len(steps)} of the run)"
    )


def cluster_gains(pairs: Sequence[PairedScores]) -> list[float]:
    """Compute the gain on each cluster, in [-1, 1], in an order independent of the gains."""
    gained: dict[str, float] = {}
    most: dict[str, float] = {}
    for pair in pairs:
        gained[pair.cluster] = gained.get(pair.cluster, 0.0) + pair.after - pair.before
        most[pair.cluster] = most.get(pair.cluster, 0.0) + pair.most
    largest = max(most.values(), default=1.0)
    order = sorted(gained, key=lambda name: sha256(name.encode()).digest())
    return [max(-1.0, min(1.0, gained[name] / largest)) for name in order]


def _key(task: Task, table: str) -> Sequence[str]:
    return evaluation_key(task, "main", table)


def _comparable_scores(
    before: tuple[Sequence[Prediction], Sequence[Score]],
    after: tuple[Sequence[Prediction], Sequence[Score]],
) -> tuple[dict[str, list[Score]], dict[str, list[Score]]]:
    """Select the scores of both on questions with the same prompt, scorer and judge."""
    old, new = (scores_by_question(scores) for _, scores in (before, after))
    old_prompts, new_prompts = (_prompts(predictions) for predictions, _ in (before, after))
    comparable = [
        name
        for name in old.keys() & new.keys()
        if old_prompts.get(name) == new_prompts.get(name)
        and len({one.scorer for one in (*old[name], *new[name])}) == 1
        and len({one.judge for one in (*old[name], *new[name])} - {""}) < 2
    ]
    return {name: old[name] for name in comparable}, {name: new[name] for name in comparable}


def _prompts(said: Sequence[Prediction]) -> Mapping[str, str]:
    return {one.question_id: one.prompt_sha256 for one in said}


def _pairs(
    task: Task,
    questions: Sequence[Question],
    sides: tuple[Mapping[str, list[Score]], Mapping[str, list[Score]]],
) -> list[PairedScores]:
    measure = task.measures[task.primary_metric]
    scored: tuple[list[ScoredQuestion], list[ScoredQuestion]] = ([], [])
    for question in questions:
        both = (side.get(question.question_id, []) for side in sides)
        for side, rows in zip(scored, scored_rows(question, *both), strict=True):
            side.extend(rows)
    before, after = (ScoredMetric(side, measure(side).value) for side in scored)
    if isnan(before.value) or isnan(after.value):
        return []
    adds = task.adds.get(task.primary_metric)
    return metric_pairs(measure, before, after, cluster_questions(questions), adds)


QUICK_EVALUATION = "quick_evaluation"
"""Name of the tables, of their group and of the job."""


def quick_evaluation_assets(tasks: Sequence[Task]) -> list[dg.AssetsDefinition]:
    """Build the quick evaluation of every task of models."""
    return [_quick_evaluation(task, tasks) for task in tasks if task.asked_of == "model"]


def quick_evaluation_key(task: Task) -> dg.AssetKey:
    """Asset key of a task's quick evaluation."""
    return dg.AssetKey([*task.name.split("/"), QUICK_EVALUATION])


def first_questions(questions: Sequence[Question], n: int) -> list[Question]:
    """Sample at least ``n`` questions in whole groups, in the order of the table; all if fewer.

    Sampled by a digest of the group's id, so that adding or editing a question does not change
    whether others are sampled.
    """
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.group_id or question.question_id].append(question)
    sampled: set[str] = set()
    for _, group in sorted(groups.items(), key=lambda item: sha256(item[0].encode()).digest()):
        if len(sampled) >= n:
            break
        sampled |= {question.question_id for question in group}
    return [question for question in questions if question.question_id in sampled]


def _quick_evaluation(task: Task, tasks: Sequence[Task]) -> dg.AssetsDefinition:
    @dg.asset(
        key=quick_evaluation_key(task),
        ins={"questions": dg.AssetIn(questions_key(task, "main"))},
        partitions_def=MODELS,
        group_name=QUICK_EVALUATION,
        kinds={"gpu"},
        tags={"bench/stage": "metrics"},
        pool="gpu",
        code_version=str(task.version),
        description=(
            f"One row: one metric of {task.shown} on the questions of a checkpoint's quick "
            "evaluation (`first` in [checkpoints] of bench.toml). Not comparable with the metrics "
            "on all questions."
        ),
    )
    def quick_evaluation(
        context: dg.AssetExecutionContext,
        models: Models,
        settings: SettingsResource,
        tables: TableFiles,
        questions: list[Question],
    ) -> dg.Output[list[Metric]]:
        loaded = settings.load()
        subset = first_questions(questions, loaded.checkpoints.first)
        opened, name = StepModels(context, models), context.partition_key
        judge = loaded.suite(task.suite, SuiteSettings).judge
        runner = configured_runner(
            task,
            loaded,
            configured_responses(task, loaded, name, partial(opened.open, name)),
            configured_verdicts(task, loaded, judge, StepModels(context, models).open),
        )
        evaluation = replace(
            runner, complete=True, n_rejected=count_rejections(tables, task, questions)
        ).run(subset)
        said = verdict(task, subset, evaluation.predictions, evaluation.scores, tables, tasks)
        return table_output(list(evaluation.metrics), {**opened.metadata(), "verdict": said})

    return quick_evaluation
