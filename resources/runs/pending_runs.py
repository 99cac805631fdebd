"""Pending runs: launched but not started.

The code server starts a run's process and notices if that ends. Killed together, as by a machine
that runs out of memory, neither is there to say so.
"""

import json
import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

import dagster as dg
import grpc
from dagster import deserialize_value
from dagster._core.errors import DagsterUserCodeUnreachableError
from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.types import CanCancelExecutionRequest
from dagster._grpc.types import CanCancelExecutionResult as Known
from sqlalchemy.exc import SQLAlchemyError

from bench_assets.core.schema.errors import BenchError

GRPC_INFO_TAG = ".dagster/grpc_info"


_GRACE = 20.0  # s after which a run that was sent off is looked at
_EACH = 10.0  # s between two looks
_ANSWER = 10  # s in which a code server says something
_STARTING = dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTING])

_LOG = logging.getLogger("bench_assets.runs")
_watching = threading.Lock()


def is_unknown_to_its_server(run: dg.DagsterRun, since: datetime) -> bool:
    """Whether the code server of this machine that was to start a run is gone, or has none such.

    Args:
        run: One that is starting.
        since: When it was last heard of: it is given 20 s.
    """
    if GRPC_INFO_TAG not in run.tags or time.time() - since.timestamp() < _GRACE:
        return False
    try:
        at = json.loads(run.tags[GRPC_INFO_TAG])
    except (ValueError, RecursionError):  # no code server's word: the daemon's own limit ends it
        return False
    client = DagsterGrpcClient(
        host=at.get("host"),
        port=at.get("port"),
        socket=at.get("socket"),
        use_ssl=bool(at.get("use_ssl")),
    )
    try:
        said = client.can_cancel_execution(
            CanCancelExecutionRequest(run_id=run.run_id), timeout=_ANSWER
        )
    except DagsterUserCodeUnreachableError as why:
        code = getattr(why.__cause__, "code", lambda: None)()
        return bool(code == grpc.StatusCode.UNAVAILABLE)  # and not merely slow
    return not bool(deserialize_value(said, Known).can_cancel)


def watch_pending_runs(
    instance: dg.DagsterInstance, end: Callable[[dg.DagsterInstance], object]
) -> None:
    """Look every ten seconds, in a thread of its own, until no run is starting any more.

    Args:
        instance: Whose runs.
        end: Ends those whose process is gone.
    """
    if _watching.acquire(blocking=False):
        threading.Thread(target=_watch, args=[instance, end], name="starting", daemon=True).start()


def _watch(instance: dg.DagsterInstance, end: Callable[[dg.DagsterInstance], object]) -> None:
    try:
        while instance.get_run_ids(_STARTING, limit=1):
            time.sleep(_EACH)
            end(instance)
    except (
        BenchError,
        SQLAlchemyError,
        dg.DagsterError,
    ) as why:  # the next run has it looked again
        _LOG.warning("runs that are starting are not looked at: %s", why)
    finally:
        _watching.release()
