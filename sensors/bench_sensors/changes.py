"""Declarative automation on changed table content.

One rule for assets of models: only materialized partitions are materialized again. A model is not
evaluated on another suite because its questions changed; new checkpoints belong to the checkpoint
sensors. Constant baselines are scored as soon as there are questions.
"""

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
            await context.for_child_condition(child, [i], context.candidate_subset).evaluate_async()
            for i, child in enumerate(self.children)
        ]
        return dg.AutomationResult(
            context,
            changed.true_subset,
            child_results=[updated, changed],
            timing_metadata=_intersected(updated.timing_metadata, changed.true_subset),
        )


def _intersected(timing: Any, changed: Any) -> Any:  # noqa: ANN401 - Dagster's private types
    """Times of materialization of the changed partitions."""
    timestamps = timing.timestamps.items() if timing else ()
    times = {time: subset.compute_intersection(changed) for time, subset in timestamps}
    return type(timing)(timestamps=times) if timing else None


_CONSTANTS = dg.AssetSelection.tag("bench/stage", "constants")

# Metrics materialized before the constants compute these themselves, so they need not wait.
_CHANGED = When.any_deps_match(ContentChange()).ignore(_CONSTANTS)
_OUT_OF_DATE = _CHANGED.since(When.newly_updated())
# Not since_last_handled: it misses a change between a request and the next tick.
_NOT_REQUESTED = ~When.newly_requested().since(_CHANGED)

_ALL_MODELS_CONDITION = (
    ((_OUT_OF_DATE & _NOT_REQUESTED) | When.any_deps_match(When.will_be_requested()))
    & ~When.missing()
    & ~When.in_progress()
)
"""No waiting: a broken or slow model must not freeze the leaderboard."""

_ONE_MODEL_CONDITION = (
    _ALL_MODELS_CONDITION
    & ~When.any_deps_missing().ignore(_CONSTANTS)
    & ~When.any_deps_in_progress()
    & When.all_deps_blocking_checks_passed()
)
_QUESTIONS_CONDITION = (
    (_OUT_OF_DATE | When.missing())
    & _NOT_REQUESTED
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


def change_sensors() -> list[dg.SensorDefinition]:
    """Build the sensors on changes: one for evaluations, one for assets without cost.

    They start one run per model over all its tables, so that weights are loaded once; a backfill
    would start up to a minute later. They run in the code server, which has ``ContentChange``.
    """
    return [
        dg.AutomationConditionSensorDefinition(
            "question_changes",
            target=dg.AssetSelection.tag("bench/per", "model")
            | dg.AssetSelection.tag("bench/per", "encoder"),
            minimum_interval_seconds=60,  # a tick over 135 tables of 20 models takes 1.3 s
            use_user_code_server=True,
            emit_backfills=False,
            description=(
                "Evaluates models again whose questions changed; only the changed questions of a "
                "table cost a request. Off by default: after a change of the whole table, such as "
                "from the mini edition to the published edition, every model would be evaluated "
                "on all of it, and servers cost money."
            ),
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
