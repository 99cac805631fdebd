"""The ledger: which tables are current, by the versions in Dagster's event log.

Every materialization has tags with the version of its code, its own version, and those of its
inputs. Dagster's own staleness compares a table with its direct inputs only, and compares nothing
with an input of 100 partitions or more; commands, sensors and tests ask this module instead.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, TypeAlias

import dagster as dg

from bench_resources.runs.damaged_records import damaged_records_reporting
from bench_resources.tables.locations import SOURCES_FOLDER
from bench_resources.tables.parquet import FAILED_REQUESTS, TABLE_DIGEST

State: TypeAlias = Literal["current", "missing", "stale", "below", "absent"]

DATA_VERSION = "dagster/data_version"
_CODE_VERSION = "dagster/code_version"
_INPUT_VERSION = "dagster/input_data_version/"
_INPUT_EVENT = "dagster/input_event_pointer/"
_NEVER_MADE = "INITIAL"  # version of an input that was not there, whose event is "NULL"
_FAILED = [dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_MAX_SINGLE_QUERIES = 2  # partitions of a table that are queried one by one, not all at once


class Event(NamedTuple):
    """A materialization of a table, or an observation of another input."""

    event_id: int  # increases in the event log
    run: str
    tags: Mapping[str, str]
    digest: str = ""  # of the rows; "" of an observation, and of a table without rows
    path: str = ""  # of the file
    n_failed: int = 0  # rows whose request failed

    @property
    def version(self) -> str:
        """Version of the content."""
        return self.tags.get(DATA_VERSION, "")

    @property
    def content(self) -> str:
        """Version of the content of a partition; a run gives its partitions one common version."""
        return self.digest or self.version

    @property
    def root(self) -> str:
        """Location of the tables of its source, as ``TableLocations.root``."""
        parts = PurePosixPath(self.path).parts
        if SOURCES_FOLDER not in parts:
            return ""
        return f"{SOURCES_FOLDER}/{parts[parts.index(SOURCES_FOLDER) + 1]}"


class Status(NamedTuple):
    """State of a table.

    Attributes:
        state: "stale" if its code or a direct input changed, "below" if a table above it is stale,
            "absent" if its source has no such table.
        causes: What changed, such as "codis/images"; of a table "below", that of the table above.
    """

    state: State
    causes: tuple[str, ...] = ()


class Ledger:
    """The event log of an instance; the latest events of a table are read once."""

    def __init__(self, instance: dg.DagsterInstance, graph: Any) -> None:  # noqa: ANN401
        """Read nothing yet; ``graph`` is the asset graph of definitions, or of a repository."""
        self._instance = instance
        self._graph = graph
        self._last: dict[dg.AssetKey, Event | None] = {}
        self._by_partition: dict[dg.AssetKey, dict[str, Event | None]] = defaultdict(dict)
        self.partitions = cache(self._read_partitions)
        self._has_failed = cache(self._read_failure)
        self.is_absent = cache(self._is_absent)
        self._status_of = cache(self._read_status)

    def due(self, keys: Collection[dg.AssetKey], partition: str = "") -> dict[dg.AssetKey, str]:
        """Tables that have to be made again, with reasons; stale tables above are no reason."""
        self._read(self._with_ancestors(keys))
        reasons = {}
        for key in sorted(keys):
            if self.is_absent(key):
                continue
            for part in self.parts(key, partition):
                if reason := self.reason(key, part):
                    reasons[key] = reason
                    break
        return reasons

    def reason(self, key: dg.AssetKey, partition: str | None) -> str:
        """Why a table has to be made again; "" if it is current."""
        event = self.event(key, partition)
        if event is None:
            return "missing"
        if causes := list(self._causes(key, partition, event)):
            return f"changed: {', '.join(causes)}"
        if partition and event.n_failed:
            return f"{event.n_failed} failed requests"
        return "its run failed" if self._has_failed(event.run) else ""

    def parts(self, key: dg.AssetKey, partition: str = "") -> Sequence[str | None]:
        """Partitions of a table: all raw data sets, or the given model; [None] if it has none."""
        partitions_def = self._graph.get(key).partitions_def
        if isinstance(partitions_def, dg.StaticPartitionsDefinition):
            return partitions_def.get_partition_keys()
        return [partition if partitions_def else None]

    def event(self, key: dg.AssetKey, partition: str | None = None) -> Event | None:
        """The latest event of an input or table, or of one partition; None if there is none."""
        self._read([key])
        if partition is None or self._last[key] is None:
            return self._last[key]
        events = self._by_partition[key]
        if partition not in events:
            if len(events) < _MAX_SINGLE_QUERIES:
                events[partition] = self._latest(key, partition)
            else:
                events |= self._latest_by_partition(key)
        return events.get(partition)

    def _latest_by_partition(self, key: dg.AssetKey) -> dict[str, Event | None]:
        """Latest event of each partition; None for those without one."""
        node = self._graph.get(key)
        event_type = (
            dg.DagsterEventType.ASSET_MATERIALIZATION
            if node.is_materializable
            else dg.DagsterEventType.ASSET_OBSERVATION
        )
        with self._query():
            event_ids = self._instance.get_latest_storage_id_by_partition(key, event_type)
        record_filter = dg.AssetRecordsFilter(asset_key=key, storage_ids=[*event_ids.values()])
        records = self._records(record_filter, limit=len(event_ids))
        events = {str(record.partition_key): _to_event(record) for record in records}
        return dict.fromkeys(self.partitions(node.partitions_def)) | events

    def _is_absent(self, key: dg.AssetKey) -> bool:
        """Whether the present source has no such table: its step left it out, or one above it."""
        node = self._graph.get(key)
        if node.is_partitioned or not node.is_materializable:
            return False
        event = self.event(key)
        sibling_events = [sibling for sibling in self._sibling_events(key) if sibling]
        if sibling_events:
            last_sibling = max(sibling_events, key=attrgetter("event_id"))
            if event is None or event.run != last_sibling.run:
                return True
        return any(map(self.is_absent, node.parent_keys - {key}))

    def status(self, key: dg.AssetKey, partition: str | None = None) -> Status:
        """State of a table, by all tables above it; without a partition, of all raw data sets."""
        parts = [partition] if partition else self.parts(key)
        statuses = [self._status_of(key, part or None) for part in parts]
        return next((status for status in statuses if status.state != "current"), statuses[0])

    def _read_status(self, key: dg.AssetKey, partition: str | None) -> Status:
        self._read(self._with_ancestors([key]))
        node = self._graph.get(key)
        if self.is_absent(key):
            return Status("absent")
        event = self.event(key, partition)
        if not node.is_materializable:
            return Status("current")
        if event is None:
            return Status("missing")
        if causes := tuple(self._causes(key, partition, event)):
            return Status("stale", causes)
        for parent in sorted(node.parent_keys):
            for part in self._parts_read(key, partition, parent):
                parent_status = self.status(parent, part)
                if parent_status.causes:
                    return Status("below", parent_status.causes)
        return Status("current")

    def _causes(self, key: dg.AssetKey, partition: str | None, event: Event) -> Iterator[str]:
        """Name what has changed since a table was made: its code, or direct inputs."""
        node = self._graph.get(key)
        if node.code_version and event.tags.get(_CODE_VERSION) != node.code_version:
            yield "code"
        for parent in sorted(node.parent_keys):
            name = parent.to_user_string()
            version = event.tags.get(_INPUT_VERSION + name)
            if version is None:
                yield f"{name} (a new input)"
            elif not self._graph.get(parent).is_partitioned:
                current = self.event(parent)
                if version != (current.version if current else _NEVER_MADE):
                    yield name
            else:
                pointer = event.tags[_INPUT_EVENT + name]
                read_event_id = -1 if pointer == "NULL" else int(pointer)
                for part in self._parts_read(key, partition, parent):
                    if self._is_changed(parent, part, read_event_id):
                        yield f"{name} of {part}"

    def _is_changed(self, key: dg.AssetKey, partition: str | None, read_event_id: int) -> bool:
        """Whether an input has other content than at the event that was read."""
        current = self.event(key, partition)
        if current is None or current.event_id <= read_event_id:
            return False
        previous = self._latest(key, partition, before_id=read_event_id + 1)
        return previous is None or previous.content != current.content

    def _parts_read(
        self, key: dg.AssetKey, partition: str | None, parent: dg.AssetKey
    ) -> Sequence[str | None]:
        """Partitions of an input that a table reads: its own, or all; [None] without partitions."""
        partitions_def = self._graph.get(parent).partitions_def
        node = self._graph.get(key)
        has_same_partitions = partitions_def == node.partitions_def
        reads_all = isinstance(node.partition_mappings.get(parent), dg.AllPartitionMapping)
        if partitions_def is None or (has_same_partitions and not reads_all):
            return [partition if partitions_def else None]
        return self.partitions(partitions_def)

    def _read_partitions(self, partitions_def: dg.PartitionsDefinition[str]) -> Sequence[str]:
        if not isinstance(partitions_def, dg.DynamicPartitionsDefinition):
            return partitions_def.get_partition_keys()
        with self._query():
            return self._instance.get_dynamic_partitions(str(partitions_def.name))

    def _sibling_events(self, key: dg.AssetKey) -> list[Event | None]:
        """Last events of the other tables of its step, if the step may leave this table out."""
        asset = self._graph.get(key).assets_def
        if asset.op.output_dict[asset.get_output_name_for_asset_key(key)].is_required:
            return []
        self._read(asset.keys)
        return [self._last[sibling] for sibling in asset.keys - {key}]

    def _with_ancestors(self, keys: Collection[dg.AssetKey]) -> set[dg.AssetKey]:
        closure, pending = set(keys), [*keys]
        while pending:
            parents = self._graph.get(pending.pop()).parent_keys - closure
            closure |= parents
            pending += parents
        return closure

    def _read(self, keys: Collection[dg.AssetKey]) -> None:
        """Read the last event of each asset: one query for all tables, one for another input."""
        unread = {key for key in keys if key not in self._last}
        if not unread:
            return
        tables = [key for key in unread if self._graph.get(key).is_materializable]
        self._last |= dict.fromkeys(tables)
        with self._query():
            records = self._instance.get_asset_records(tables) if tables else ()
        for record in records:
            if last := record.asset_entry.last_materialization_record:
                self._last[record.asset_entry.asset_key] = _to_event(last)
        self._last |= {key: self._latest(key, partition=None) for key in unread.difference(tables)}

    def _latest(
        self, key: dg.AssetKey, partition: str | None, before_id: int | None = None
    ) -> Event | None:
        record_filter = dg.AssetRecordsFilter(
            asset_key=key,
            asset_partitions=None if partition is None else [partition],
            before_storage_id=before_id,
        )
        return next(map(_to_event, self._records(record_filter, limit=1)), None)

    def _records(
        self, record_filter: dg.AssetRecordsFilter, limit: int
    ) -> Sequence[dg.EventLogRecord]:
        if not limit:
            return []
        with self._query():
            if self._graph.get(record_filter.asset_key).is_materializable:
                return self._instance.fetch_materializations(record_filter, limit=limit).records
            return self._instance.fetch_observations(record_filter, limit=limit).records

    def _read_failure(self, run: str) -> bool:
        with self._query():
            record = self._instance.get_run_by_id(run)
        return record is not None and record.status in _FAILED

    def _query(self) -> AbstractContextManager[None]:
        return damaged_records_reporting(self._instance.root_directory)


def last_materialization(instance: dg.DagsterInstance, key: dg.AssetKey) -> Event | None:
    """The latest materialization of an asset, of any partition."""
    return next(map(_to_event, instance.fetch_materializations(key, limit=1).records), None)


def last_observation(
    instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None
) -> Event | None:
    """The latest observation of an input, or of one partition."""
    record_filter = dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None)
    return next(map(_to_event, instance.fetch_observations(record_filter, limit=1).records), None)


def observe(
    versions: Mapping[tuple[dg.AssetKey, str | None], str],
    last: Callable[[dg.AssetKey, str | None], Event | None],
) -> list[dg.AssetObservation]:
    """Make observations of the inputs whose version is not the last observed one."""
    observations = []
    for (key, partition), version in versions.items():
        event = last(key, partition)
        if event is None or event.version != version:
            tags = {DATA_VERSION: version}
            observations.append(dg.AssetObservation(key, partition=partition, tags=tags))
    return observations


def _to_event(record: dg.EventLogRecord) -> Event:
    entry = record.event_log_entry
    event = record.asset_materialization or entry.asset_observation
    tags, metadata = (event.tags, event.metadata) if event else ({}, {})
    # Not of previews, whose texts are long.
    names = metadata.keys() & {TABLE_DIGEST, "path", FAILED_REQUESTS}
    values = {name: str(metadata[name].value) for name in names}
    return Event(
        event_id=record.storage_id,
        run=entry.run_id,
        tags=dict(tags or {}),
        digest=values.get(TABLE_DIGEST, ""),
        path=values.get("path", ""),
        n_failed=int(values.get(FAILED_REQUESTS) or 0),
    )
