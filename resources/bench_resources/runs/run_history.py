"""Bounds of Dagster's run history, which takes about a megabyte a run."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path

import dagster as dg

from bench_resources.storage.sqlite import SIDE_SUFFIXES

_FINISHED_STATUSES = [
    dg.DagsterRunStatus.SUCCESS,
    dg.DagsterRunStatus.FAILURE,
    dg.DagsterRunStatus.CANCELED,
]


def delete_old_runs(instance: dg.DagsterInstance, before: datetime, limit: int) -> list[str]:
    """Delete finished runs that made no present table, and return their ids, the oldest first.

    A run stays while it is the last that materialized any table or partition: its events name the
    inputs that the table was made of.

    Args:
        instance: Dagster instance with the runs.
        before: Time of creation; younger runs stay.
        limit: Most runs to delete.
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
        if event_ids := storage.get_latest_storage_id_by_partition(key, kind):
            record_filter = dg.AssetRecordsFilter(
                asset_key=key, storage_ids=list(event_ids.values())
            )
            for record in instance.fetch_materializations(
                record_filter, limit=len(event_ids)
            ).records:
                yield record.run_id


def _delete_file(instance: dg.DagsterInstance, run_id: str) -> None:
    """Delete a run's database, which SQLite would only empty."""
    if path_of := getattr(instance.event_log_storage, "path_for_shard", None):
        for suffix in ("", *SIDE_SUFFIXES):
            Path(f"{path_of(run_id)}{suffix}").unlink(missing_ok=True)
