"""Posts what failed to a webhook, such as a chat room's: checks, runs and sensors."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import dagster as dg

from bench_assets.core.text.escaping import unescape_markdown
from bench_assets.evaluation.suite import Suite
from bench_resources.config.bench_toml import Settings
from bench_resources.config.environment import read_secret
from bench_resources.runs.failures import (
    describe_error,
    describe_failure,
    failed_checks,
    first_line,
    is_decisive,
    recorded_events,
)
from bench_sensors.checkpoints import missing_numbers

_INTERVAL = 30  # s between two ticks
_TIMEOUT = 10.0  # s to wait for a response
_LATE_SECONDS = 5.0  # s until every run that ended is recorded
_RUNS_A_TICK = 100  # runs that a tick reports


class _Post(NamedTuple):
    """A message, and the entries of the cursor once it is posted."""

    message: Mapping[str, str] | None  # chat rooms show ``text``; programs read the rest
    cursor: Mapping[str, Any]


def webhook_sensor(suites: Sequence[Suite]) -> dg.SensorDefinition:
    """Build the sensor that posts failures to the webhook of [checkpoints]."""

    @dg.sensor(
        name="webhook",
        minimum_interval_seconds=_INTERVAL,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description=(
            "Posts every failed check, failed or cancelled run and failing sensor to the webhook "
            "that [checkpoints] names."
        ),
    )
    def webhook(
        context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
    ) -> dg.SensorResult:
        now = time.time()
        return post_failures(context.instance, settings, suites, context.cursor, now)

    return webhook


def post_failures(
    instance: dg.DagsterInstance,
    settings: Settings,
    suites: Sequence[Suite],
    cursor: str | None,
    now: float,
) -> dg.SensorResult:
    """Post what failed since the last tick, one by one; the first tick posts nothing.

    What fails while no webhook is configured is never posted. An unreachable webhook is retried at
    the next tick; nothing is posted twice unless its response is lost.

    Raises:
        SettingsError: If the environment variable with the address is not set, or [checkpoints]
            names no installed suite.
    """
    state = json.loads(cursor or "null")
    variable = settings.checkpoints.webhook_env
    if not variable or not isinstance(state, dict):
        reason = "failures from now on"
        if not variable:
            reason = f"no webhook_env in [checkpoints] of {settings.file}"
        start = {"run": now, "done": 0, "sensors": _failing_sensors(instance)}
        return dg.SensorResult(cursor=json.dumps(start), skip_reason=reason)
    address = read_secret(variable)
    posts = (
        *_run_posts(instance, settings, suites, state["run"], state["done"], now),
        *_sensor_posts(instance, state["sensors"]),
    )
    for message, entries in posts:
        try:
            if message:
                _post(address, message)
        except (OSError, ValueError) as error:
            reason = f"the webhook of {variable} cannot be reached: {error}"
            return dg.SensorResult(cursor=json.dumps(state), skip_reason=reason)
        state |= entries
    return dg.SensorResult(cursor=json.dumps(state))


def _run_posts(
    instance: dg.DagsterInstance,
    settings: Settings,
    suites: Sequence[Suite],
    after: float,
    n_posted: int,
    now: float,
) -> Iterator[_Post]:
    """Yield posts about failed and cancelled runs and failed checks, in the order of their ends.

    Earlier ticks posted runs that ended until ``after``, and ``n_posted`` messages about the next.
    """
    since = datetime.fromtimestamp(after, UTC)
    records = [
        record
        for record in instance.get_run_records(dg.RunsFilter(updated_after=since))
        if record.dagster_run.is_finished and after < (record.end_time or 0.0) < now - _LATE_SECONDS
    ]
    missing: dict[str, str] = {}
    if any(record.dagster_run.is_failure for record in records):
        numbers = missing_numbers(instance, settings, suites, now)
        missing = {number.failed_run: number.state for number in numbers}
    records.sort(key=lambda record: record.end_time or 0.0)
    for record in records[:_RUNS_A_TICK]:
        messages = list(_run_messages(instance, record.dagster_run, missing))
        for index in range(n_posted, len(messages)):
            yield _Post(messages[index], {"done": index + 1})
        n_posted = 0
        yield _Post(message=None, cursor={"run": record.end_time, "done": 0})


def _run_messages(
    instance: dg.DagsterInstance, run: dg.DagsterRun, missing: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Yield messages about a run that ended: its failed checks, and its own failure."""
    events = recorded_events(instance, run.run_id)
    for check in failed_checks(events):
        if not (run.is_failure and is_decisive(check)):
            yield _check_message(check, run.run_id)
    if run.is_failure:
        message = first_line(describe_failure(events))
        yield _end_message(run, message, missing.get(run.run_id, ""))
    elif not run.is_success:
        yield _end_message(run, "cancelled", "")


def _end_message(run: dg.DagsterRun, message: str, state: str) -> dict[str, str]:
    model = run.tags.get("dagster/partition", "")
    subject = f"run {run.run_id[:8]} of {model}" if model else f"run {run.run_id[:8]}"
    text = f"{run.status.value}: {subject}: {message}"
    return {
        "text": f"{text}, no number: {state}" if state else text,
        "description": message,
        "status": run.status.value,
        "model": model,
        "job": run.job_name,
        "run": run.run_id,
    }


def _check_message(check: dg.AssetCheckEvaluation, run_id: str) -> dict[str, str]:
    fields = {
        "check": check.check_name,
        "asset": check.asset_key.to_user_string(),
        "model": check.partition or "",
        "severity": check.severity.value,
        "description": unescape_markdown(check.description or ""),
        "run": run_id,
    }
    model = f" of {check.partition}" if check.partition else ""
    text = f"{check.severity.value}: {fields['asset']}{model} fails {check.check_name}"
    description = fields["description"]
    return {"text": f"{text}: {description}" if description else text, **fields}


def _sensor_posts(instance: dg.DagsterInstance, reported: Mapping[str, str]) -> Iterator[_Post]:
    """Yield posts about sensors that fail with another error than reported."""
    failing = _failing_sensors(instance)
    for name, error in failing.items():
        if reported.get(name) != error:
            message = {"text": f"FAILURE: sensor {name}: {error}", "sensor": name}
            reported = {**reported, name: error}
            yield _Post({**message, "description": error}, {"sensors": reported})
    yield _Post(message=None, cursor={"sensors": failing})


def _failing_sensors(instance: dg.DagsterInstance) -> dict[str, str]:
    """Errors of the sensors whose last tick failed."""
    errors = {}
    for sensor in instance.all_instigator_state():
        ticks = instance.get_ticks(sensor.instigator_origin_id, sensor.selector_id, limit=2)
        last = next((tick for tick in ticks if tick.is_completed), None)
        if last and last.is_failure and last.error:
            errors[sensor.name] = describe_error(last.error).partition("\n")[0]
    return errors


def _post(address: str, message: Mapping[str, str]) -> None:
    import httpx

    try:
        response = httpx.post(address, json=message, timeout=_TIMEOUT, follow_redirects=True)
        response.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        # Only the kind of error: its text may hold the address, which may be secret.
        raise ConnectionError(type(error).__name__) from error
