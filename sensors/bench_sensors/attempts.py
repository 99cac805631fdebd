"""Attempts at an evaluation: when to request the next, and why there is no number yet.

A run that failed is requested again, because its cause may be gone: a judge's server that was down,
a full disk. Pauses double, and a day has a limit. Runs may have been deleted, so the sensor's
cursor remembers attempts too.
"""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import dagster as dg

ATTEMPT_TAG = "bench/attempt"
"""Tag of a run with the number of the attempt."""

Attempts: TypeAlias = Mapping[str, float]
"""Attempt -> s since the epoch of its end, or of its request; JSON has keys of strings."""

ACTIVE_STATUSES = [
    status
    for status in dg.DagsterRunStatus
    if status.value not in ("SUCCESS", "FAILURE", "CANCELED")
]
"""Statuses of runs that are not over."""

_FIRST_PAUSE = 600.0  # s before the second attempt
_DAY = 86_400.0  # s of a day
_WILL_RETRY, _RETRIED_AS = "dagster/will_retry", "dagster/auto_retry_run_id"


class Decision(NamedTuple):
    """Whether an evaluation without a number is requested now."""

    attempt: int  # to request now; 0: none
    state: str  # what is going on, such as "tried 3 times, next 04:10"


def known_attempts(
    runs: Sequence[dg.RunRecord], remembered: Attempts, limit: int
) -> dict[str, float]:
    """Merge the attempts of runs with remembered ones, and keep the last ``limit`` of them.

    A remembered attempt counts although its run was deleted.
    """
    run_attempts = {
        run.dagster_run.tags[ATTEMPT_TAG]: run.end_time or run.create_timestamp.timestamp()
        for run in reversed(runs)
        if ATTEMPT_TAG in run.dagster_run.tags
    }
    attempts = {**remembered, **run_attempts}
    newest = sorted(attempts, key=int)[-limit:]
    return {attempt: attempts[attempt] for attempt in newest}


def decide(
    runs: Sequence[dg.RunRecord], attempts: Attempts, most_a_day: int, now: float
) -> Decision:
    """Decide about an evaluation that has no number.

    Its ``runs`` begin with the newest. ``most_a_day`` limits the attempts in 24 hours.
    """
    if any(run.dagster_run.status in ACTIVE_STATUSES for run in runs):
        return Decision(attempt=0, state="a run is under way")
    newest = runs[0].dagster_run if runs else None
    if newest and newest.tags.get(_WILL_RETRY) == "true" and _RETRIED_AS not in newest.tags:
        return Decision(attempt=0, state="Dagster tries it again")
    if newest and newest.status is dg.DagsterRunStatus.CANCELED:
        return Decision(attempt=0, state="cancelled: start it in the UI, or delete the run")
    n_tried = max(map(int, attempts), default=0)
    times = "once" if n_tried == 1 else f"{n_tried} times"
    last_day = sorted(end for end in attempts.values() if end > now - _DAY)
    if not last_day:
        due = now
    elif len(last_day) >= most_a_day:
        due = last_day[-most_a_day] + _DAY
    else:
        due = last_day[-1] + _FIRST_PAUSE * 2 ** (len(last_day) - 1)
    if due <= now:
        state = f"tried {times}, next now" if n_tried else "no run yet"
        return Decision(attempt=n_tried + 1, state=state)
    return Decision(attempt=0, state=f"tried {times}, next {format_time(due, now)}")


def format_time(timestamp: float, now: float) -> str:
    """Format a local time of the day, with the date if it is not today's."""
    local = time.localtime(timestamp)
    is_today = local[:3] == time.localtime(now)[:3]  # year, month, day
    return time.strftime("%H:%M" if is_today else "%Y-%m-%d %H:%M", local)
