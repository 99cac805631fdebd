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
    if checks := [check for check in failed_checks(events) if is_decisive(check)]:
        return FailedCheckError("\n".join(map(_check_message, checks)))
    for asset, error in run_errors(events):
        message = describe_error(error)
        return RunError(f"{asset}: {message}" if asset else message)
    marked = (event.message for event in events if event.is_run_failure and event.message)
    return RunError(next(marked, "the run failed; its page in the UI has details"))


def failed_checks(events: Iterable[dg.DagsterEvent]) -> Iterator[dg.AssetCheckEvaluation]:
    """Checks that failed."""
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

    Of a chain of causes it is that of the outermost ``BenchError``, whose text is written for
    users; without one, that of the root cause.
    """
    own_kinds = {kind.__name__ for kind in _error_tree(BenchError)}
    chain = [error]
    while cause := chain[-1].cause:
        chain.append(cause)
    reported = next((error for error in chain if error.cls_name in own_kinds), None)
    if reported is None:
        return str(chain[-1].message).strip()
    return re.sub(rf"^\S*\b{reported.cls_name}: ", "", reported.message).strip()


def recorded_events(instance: dg.DagsterInstance, run_id: str) -> list[dg.DagsterEvent]:
    """Events of a run that say what failed."""
    records = instance.get_records_for_run(run_id, of_type=_FAILURE_EVENTS).records
    events = (record.event_log_entry.dagster_event for record in records)
    return [event for event in events if event]


def first_line(failure: BenchError) -> str:
    """Shorten a failure to one line; of a check, with its first example."""
    first, _, rest = str(failure).partition("\n")
    return f"{first} {rest.partition(chr(10))[0].strip()}" if first.endswith(":") else first


def run_errors(events: Iterable[dg.DagsterEvent]) -> Iterator[tuple[str, Any]]:
    """Errors of assets, with the asset's name; and of the run, such as a resource's, with ""."""
    for event in events:
        data: Any = event.event_specific_data  # None of a run that was marked as failed
        if event.is_step_failure and data.error:
            yield (event.step_key or "").replace("__", "/"), data.error
        elif event.is_run_failure and data and data.error:
            yield "", data.error


def _error_tree(kind: type[BenchError]) -> Iterator[type[BenchError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _error_tree(narrower)


def _check_message(check: dg.AssetCheckEvaluation) -> str:
    values = {name: value.value for name, value in check.metadata.items()}
    examples = unescape_markdown(str(values.get("examples", ""))).replace("\n", "\n  ")
    n, problems = values.get("rows"), values.get("problems")
    fail = "fails the check" if n in (0, 1) else f"{problems} of {n} rows fail the check"
    return f"{check.asset_key.to_user_string()}: {fail} {check.check_name}:\n  {examples}"
