"""Posts failed checks to a webhook, such as a chat room's."""

from collections.abc import Mapping, Sequence

import dagster as dg

from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import read_secret

_TIMEOUT = 10.0  # s
_CHECKS_A_TICK = 20
_EVALUATIONS = dg.EventRecordsFilter(dg.DagsterEventType.ASSET_CHECK_EVALUATION)


def failed_check_sensor() -> dg.SensorDefinition:
    """Build the sensor that posts failed checks to the webhook of [checkpoints]."""

    @dg.sensor(
        name="failed_checks",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Posts every failed check to the webhook that [checkpoints] names.",
    )
    def failed_checks(
        context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
    ) -> dg.SensorResult:
        return post_failed_checks(context.instance, settings, context.cursor)

    return failed_checks


def post_failed_checks(
    instance: dg.DagsterInstance, settings: Settings, cursor: str | None
) -> dg.SensorResult:
    """Post the checks that failed since the last tick, one by one; the first tick posts none.

    Checks that fail while no webhook is configured are never posted.

    An unreachable webhook is retried at the next tick; nothing is posted twice unless its response
    is lost.

    Raises:
        SettingsError: If the environment variable with the address is not set.
    """
    if not (variable := settings.checkpoints.webhook_env):
        reason = f"no webhook_env in [checkpoints] of {settings.file}"
        return dg.SensorResult(cursor=str(_latest(instance)), skip_reason=reason)
    if cursor is None:
        return dg.SensorResult(cursor=str(_latest(instance)), skip_reason="checks from now on")
    address = read_secret(variable)
    for record in _evaluations(instance, after=int(cursor)):
        found = record.event_log_entry.asset_check_evaluation
        if found and not found.passed:
            try:
                _post(address, _message(found, record.run_id))
            except (OSError, ValueError) as error:
                # Only the kind of error: its text may hold the address, which may be secret.
                reason = f"the webhook of {variable} cannot be reached: {error}"
                return dg.SensorResult(cursor=cursor, skip_reason=reason)
        cursor = str(record.storage_id)
    return dg.SensorResult(cursor=cursor)


def _latest(instance: dg.DagsterInstance) -> int:
    newest = instance.event_log_storage.get_event_records(_EVALUATIONS, limit=1)
    return newest[0].storage_id if newest else 0


def _evaluations(instance: dg.DagsterInstance, after: int) -> Sequence[dg.EventLogRecord]:
    event_filter = dg.EventRecordsFilter(_EVALUATIONS.event_type, after_cursor=after)
    return instance.event_log_storage.get_event_records(
        event_filter, limit=_CHECKS_A_TICK, ascending=True
    )


def _message(found: dg.AssetCheckEvaluation, run_id: str) -> dict[str, str]:
    """Build the payload: chat rooms show ``text``; programs read the rest."""
    fields = {
        "check": found.check_name,
        "asset": found.asset_key.to_user_string(),
        "model": found.partition or "",
        "severity": found.severity.value,
        "description": found.description or "",
        "run": run_id,
    }
    model = f" of {found.partition}" if found.partition else ""
    text = f"{found.severity.value}: {fields['asset']}{model} fails {found.check_name}"
    return {"text": f"{text}: {found.description}" if found.description else text, **fields}


def _post(address: str, message: Mapping[str, str]) -> None:
    import httpx

    try:
        answer = httpx.post(address, json=message, timeout=_TIMEOUT, follow_redirects=True)
        answer.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ConnectionError(type(error).__name__) from error
