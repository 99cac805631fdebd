"""Bounds of Dagster's run history, which takes about a megabyte a run."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

import dagster as dg

from bench_resources.runs.dagster_names import event_file
from bench_resources.storage.sqlite import SIDE_SUFFIXES

_FINISHED_STATUSES = [
    dg.DagsterRunStatus.SUCCESS,
    dg.DagsterRunStatus.FAILURE,
    dg.DagsterRunStatus.CANCELED,
]


def delete_old_runs(instance: dg.DagsterInstance, before: datetime, limit: int) -> list[str]:
    """Delete finished runs that were created before a time, the oldest first; returns their ids.

    A run stays while it is the last that materialized a table or partition: its events name the
    inputs that the table was made of. At most ``limit`` runs are deleted.
    """
    run_filter = dg.RunsFilter(statuses=_FINISHED_STATUSES, created_before=before)
    run_ids = instance.get_run_ids(run_filter)
    if not run_ids:
        return []
    kept = set(_present_runs(instance))
    deletable = (run_id for run_id in reversed(run_ids) if run_id not in kept)
    deleted = list(islice(deletable, limit))
    for run_id in deleted:
        instance.delete_run(run_id)
        _delete_file(instance, run_id)
    return deleted


def _present_runs(instance: dg.DagsterInstance) -> Iterator[str]:
    """Ids of the runs that made the present state of a table or partition."""
    storage, kind = instance.event_log_storage, dg.DagsterEventType.ASSET_MATERIALIZATION
    for key in instance.all_asset_keys():
        if event := instance.get_latest_materialization_event(key):
            yield event.run_id
        event_ids = list(storage.get_latest_storage_id_by_partition(key, kind).values())
        if event_ids:
            record_filter = dg.AssetRecordsFilter(asset_key=key, storage_ids=event_ids)
            result = instance.fetch_materializations(record_filter, limit=len(event_ids))
            yield from (record.run_id for record in result.records)


def _delete_file(instance: dg.DagsterInstance, run_id: str) -> None:
    """Delete the database of a run's events, which Dagster only empties."""
    if file := event_file(instance, run_id):
        for suffix in ("", *SIDE_SUFFIXES):
            Path(f"{file}{suffix}").unlink(missing_ok=True)
