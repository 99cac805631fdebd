"""Declarative automation on changed table content.

One rule for assets of models: only materialized partitions are materialized again. A model is not
evaluated on another suite because its questions changed; new checkpoints belong to the checkpoint
sensors. Constant baselines are scored as soon as there are questions.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import dagster as dg
from dagster import AutomationCondition as When


class ContentChange(dg.AutomationCondition[dg.AssetKey]):
    """Materialized since the last evaluation of the condition, with changed content.

    Dagster's ``data_version_changed`` has no times: a table materialized between two evaluations
    would count as newer than questions that changed later.
    """

    requires_cursor = False

    @property
    def children(self) -> list[dg.AutomationCondition[Any]]:
        """Conditions on the time of materialization and on changed content."""
        return [When.newly_updated(), When.data_version_changed()]

    async def evaluate(  # type: ignore[override]  # Dagster awaits it; its own do the same
        self, context: dg.AutomationContext[dg.AssetKey]
    ) -> dg.AutomationResult[dg.AssetKey]:
        """Combine the partitions of one condition with the times of the other."""
        updated, changed = [
            await context.for_child_condition(
                condition, [index], context.candidate_subset
            ).evaluate_async()
            for index, condition in enumerate(self.children)
        ]
        return dg.AutomationResult(
            context,
            changed.true_subset,
            child_results=[updated, changed],
            timing_metadata=_intersect_timing(updated.timing_metadata, changed.true_subset),
        )


def _intersect_timing(timing: Any, changed: Any) -> Any:  # noqa: ANN401 - Dagster's private types
    """Times of materialization of the changed partitions; None if there are no times."""
    if not timing:
        return None
    changed_timestamps = {
        timestamp: subset.compute_intersection(changed)
        for timestamp, subset in timing.timestamps.items()
    }
    return type(timing)(timestamps=changed_timestamps)


PER_MODEL = dg.AssetSelection.tag("bench/per", "model") | dg.AssetSelection.tag(
    "bench/per", "encoder"
)
"""Tables with a partition for each model or encoder."""

_INTERVAL = 60  # s between two ticks; one over 135 tables of 20 models takes 1.3 s
_MAX_ASSETS = 450  # assets of one sensor; Dagster refuses to evaluate more than 500
_CONSTANTS = dg.AssetSelection.tag("bench/stage", "constants")
_TABLES = dg.AssetSelection.all() - _CONSTANTS  # without observed inputs


def _materialized_again(
    changed: dg.AutomationCondition[dg.AssetKey],
) -> dg.AutomationCondition[dg.AssetKey]:
    """Materialize what exists again when inputs have changed."""
    # Not since_last_handled: it misses a change between a request and the next tick.
    is_due = changed.since(When.newly_updated()) & ~When.newly_requested().since(changed)
    return (
        (is_due | When.any_deps_match(When.will_be_requested()))
        & ~When.missing()
        & ~When.in_progress()
    )


# Metrics materialized before the constants compute these themselves, so they need not wait.
_CHANGED = When.any_deps_match(ContentChange()).ignore(_CONSTANTS)
_ALL_MODELS_CONDITION = _materialized_again(_CHANGED)
"""No waiting: a broken or slow model must not freeze the leaderboard."""

# Changed settings start no evaluation: the leaderboard marks their numbers as stale.
_ONE_MODEL_CONDITION = (
    _materialized_again(When.any_deps_match(ContentChange()).allow(_TABLES))
    & ~When.any_deps_missing().allow(_TABLES)
    & ~When.any_deps_in_progress()
    & When.all_deps_blocking_checks_passed()
)
_QUESTIONS_CONDITION = (
    (_CHANGED.since(When.newly_updated()) | When.missing())
    & ~When.newly_requested().since(_CHANGED)
    & ~When.any_deps_missing()
    & ~When.in_progress()
)


def with_automation(spec: dg.AssetSpec) -> dg.AssetSpec:
    """Add automation to an asset downstream of the questions, on changes of its inputs."""
    if spec.tags.get("bench/per"):
        return spec.replace_attributes(automation_condition=_ONE_MODEL_CONDITION)
    if spec.tags.get("bench/stage") == "constants":
        return spec.replace_attributes(automation_condition=_QUESTIONS_CONDITION)
    if spec.group_name == "leaderboard":
        return spec.replace_attributes(automation_condition=_ALL_MODELS_CONDITION)
    return spec


def change_sensors(specs: Iterable[dg.AssetSpec]) -> list[dg.SensorDefinition]:
    """Build the sensors on changes: one for assets without cost, the others for evaluations.

    They start one run per model over all tables of a sensor, so that weights are loaded once; a
    backfill would start up to a minute later. They run in the code server, which has
    ``ContentChange``.
    """
    return [
        *(
            dg.AutomationConditionSensorDefinition(
                f"question_changes_{number}" if number > 1 else "question_changes",
                target=PER_MODEL & dg.AssetSelection.key_prefixes(*([suite] for suite in suites)),
                minimum_interval_seconds=_INTERVAL,
                use_user_code_server=True,
                emit_backfills=False,
                description=(
                    "Evaluates models again whose questions changed; only the changed questions "
                    "of a table cost a request. Off by default: after a change of the whole "
                    "table, such as from the mini edition to the published edition, every model "
                    "would be evaluated on all of it, and servers cost money."
                ),
            )
            for number, suites in enumerate(_divide_suites(specs), start=1)
        ),
        dg.AutomationConditionSensorDefinition(
            "metric_changes",
            target=dg.AssetSelection.groups("leaderboard") | _CONSTANTS,
            use_user_code_server=True,
            emit_backfills=False,
            default_status=dg.DefaultSensorStatus.RUNNING,
            description=(
                "Rebuilds the leaderboard when the metrics of any model change, once it was "
                "materialized, and scores constant baselines on changed questions. On by default: "
                "it evaluates no model."
            ),
        ),
    ]


def _divide_suites(specs: Iterable[dg.AssetSpec]) -> list[list[str]]:
    """Divide suites into parts of at most ``_MAX_ASSETS`` assets of models, or of one suite."""
    asset_counts = Counter(spec.key.path[0] for spec in specs if "bench/per" in spec.tags)
    parts: list[list[str]] = []
    part_size = 0
    for suite, n_assets in asset_counts.items():
        if not parts or part_size + n_assets > _MAX_ASSETS:
            parts.append([])
            part_size = 0
        parts[-1].append(suite)
        part_size += n_assets
    return parts
