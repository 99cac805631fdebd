"""Why runs failed, in one message each, from Dagster's events."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import dagster as dg

from bench_assets.core.schema.errors import BenchError
from bench_assets.core.text.escaping import unescape_markdown

_FAILURE_EVENTS = {
    dg.DagsterEventType.ASSET_CHECK_EVALUATION,
    dg.DagsterEventType.STEP_FAILURE,
    dg.DagsterEventType.RUN_FAILURE,
}


class RunError(BenchError):
    """A run ended early; names the asset or check, and the reason."""


class FailedCheckError(RunError):
    """A blocking check ended a run early; names the check."""


def describe_failure(events: Iterable[dg.DagsterEvent]) -> BenchError:
    """Describe a failed run in one message: the checks that stopped it, or the first error."""
    events = list(events)
    decisive_checks = [check for check in failed_checks(events) if is_decisive(check)]
    if decisive_checks:
        return FailedCheckError("\n".join(map(_check_message, decisive_checks)))
    for asset, error in run_errors(events):
        message = describe_error(error)
        return RunError(f"{asset}: {message}" if asset else message)
    reasons = (event.message for event in events if event.is_run_failure and event.message)
    return RunError(next(reasons, "the run failed; its page in the UI has details"))


def failed_checks(events: Iterable[dg.DagsterEvent]) -> Iterator[dg.AssetCheckEvaluation]:
    """Yield the checks that failed."""
    for event in events:
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            check = event.asset_check_evaluation_data
            if not check.passed:
                yield check


def is_decisive(check: dg.AssetCheckEvaluation) -> bool:
    """Whether a failed check ends its run."""
    return bool(check.blocking) and check.severity is dg.AssetCheckSeverity.ERROR


def describe_error(error: Any) -> str:  # noqa: ANN401 - Dagster's private type
    """Message of an error that Dagster recorded.

    In a chain of causes, the outermost ``BenchError`` counts, whose text is written for users;
    without one, the root cause.
    """
    bench_errors = {kind.__name__ for kind in _subclasses(BenchError)}
    chain = [error]
    while cause := chain[-1].cause:
        chain.append(cause)
    reported = next((error for error in chain if error.cls_name in bench_errors), None)
    if reported is None:
        return str(chain[-1].message).strip()
    return re.sub(rf"^\S*\b{reported.cls_name}: ", "", reported.message).strip()


def recorded_events(instance: dg.DagsterInstance, run_id: str) -> list[dg.DagsterEvent]:
    """Events of a run that say what failed."""
    records = instance.get_records_for_run(run_id, of_type=_FAILURE_EVENTS).records
    events = (record.event_log_entry.dagster_event for record in records)
    return [event for event in events if event]


def first_line(failure: BenchError) -> str:
    """Shorten a failure to its first line; that of a check ends with ":", and gets an example."""
    line, *further_lines = str(failure).split("\n", 2)
    if line.endswith(":") and further_lines:
        return f"{line} {further_lines[0].strip()}"
    return line


def run_errors(events: Iterable[dg.DagsterEvent]) -> Iterator[tuple[str, Any]]:
    """Yield errors with the name of their asset; "" for those of the run, such as a resource's."""
    for event in events:
        data: Any = event.event_specific_data  # None of a run that was marked as failed
        if event.is_step_failure and data.error:
            yield (event.step_key or "").replace("__", "/"), data.error
        elif event.is_run_failure and data and data.error:
            yield "", data.error


def _subclasses(kind: type[BenchError]) -> Iterator[type[BenchError]]:
    yield kind
    for subclass in kind.__subclasses__():
        yield from _subclasses(subclass)


def _check_message(check: dg.AssetCheckEvaluation) -> str:
    values = {name: value.value for name, value in check.metadata.items()}
    examples = unescape_markdown(str(values.get("examples", ""))).replace("\n", "\n  ")
    n_rows, n_failed = values.get("rows"), values.get("problems")
    table = check.asset_key.to_user_string()
    failure = (
        "fails the check" if n_rows in (0, 1) else f"{n_failed} of {n_rows} rows fail the check"
    )
    return f"{table}: {failure} {check.check_name}:\n  {examples}"
