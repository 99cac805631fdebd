"""The ledger: which tables are current, by the versions in Dagster's event log.

Every materialization has tags with the version of its code, its own version, and those of its
inputs. Dagster's own staleness compares a table with its direct inputs only, and compares nothing
with an input of 100 partitions or more; commands, sensors and tests ask this module instead.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cache
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
_FEW = 2  # partitions of a table that are queried one by one


class Event(NamedTuple):
    """A materialization of a table, or an observation of another input."""

    number: int  # in the order of the event log
    run: str
    tags: Mapping[str, str]
    digest: str = ""  # of the rows; "" of an observation, and of a table without rows
    place: str = ""  # of the file
    n_failed: int = 0  # rows whose request failed

    @property
    def version(self) -> str:
        """Version of the content."""
        return self.tags.get(DATA_VERSION, "")

    @property
    def content(self) -> str:
        """Version of the content of a partition: a run gives all of its own one version."""
        return self.digest or self.version

    @property
    def root(self) -> str:
        """Location of the tables of its source, as ``TableLocations.root``."""
        parts = PurePosixPath(self.place).parts
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
    """The event log of an instance, as it is at the first look at each table."""

    def __init__(self, instance: dg.DagsterInstance, graph: Any) -> None:  # noqa: ANN401
        """Read nothing yet.

        Args:
            instance: Dagster's instance.
            graph: The asset graph of definitions, or of a repository.
        """
        self._instance = instance
        self._graph = graph
        self._last: dict[dg.AssetKey, Event | None] = {}
        self._by_partition: dict[dg.AssetKey, dict[str, Event | None]] = defaultdict(dict)
        self.partitions = cache(self._read_partitions)
        self._has_failed = cache(self._read_failure)
        self.is_absent = cache(self._is_absent)
        self._status_of = cache(self._read_status)

    def due(self, keys: Collection[dg.AssetKey], partition: str = "") -> dict[dg.AssetKey, str]:
        """Tables that have to be made again, with reasons; the tables above are not read."""
        self._read(self._with_ancestors(keys))
        return {
            key: reason
            for key in sorted(key for key in keys if not self.is_absent(key))
            for part in self.parts(key, partition)
            if (reason := self.reason(key, part))
        }

    def reason(self, key: dg.AssetKey, partition: str | None) -> str:
        """Why a table has to be made again; "" if it is current."""
        if (made := self.event(key, partition)) is None:
            return "missing"
        if causes := list(self._causes(key, partition, made)):
            return f"changed: {', '.join(causes)}"
        if partition and made.n_failed:
            return f"{made.n_failed} failed requests"
        return "its run failed" if self._has_failed(made.run) else ""

    def parts(self, key: dg.AssetKey, partition: str = "") -> Sequence[str | None]:
        """Partitions of a table: all raw data sets, or the given model; None: it has none."""
        of = self._graph.get(key).partitions_def
        if isinstance(of, dg.StaticPartitionsDefinition):
            return of.get_partition_keys()
        return [partition if of else None]

    def event(self, key: dg.AssetKey, partition: str | None = None) -> Event | None:
        """The latest event of a table or of another input; None if there is none."""
        self._read([key])
        if partition is None or self._last[key] is None:
            return self._last[key]
        events = self._by_partition[key]
        if partition not in events and len(events) < _FEW:
            events[partition] = self._latest(key, partition)
        elif partition not in events:
            kind = "MATERIALIZATION" if self._graph.get(key).is_materializable else "OBSERVATION"
            of = dg.DagsterEventType[f"ASSET_{kind}"]
            with self._query():
                numbers = self._instance.get_latest_storage_id_by_partition(key, of)
            wanted = dg.AssetRecordsFilter(asset_key=key, storage_ids=[*numbers.values()])
            records = self._records(wanted, limit=len(numbers))
            events |= {name: None for name in self.partitions(self._graph.get(key).partitions_def)}
            events |= {str(record.partition_key): _event(record) for record in records}
        return events.get(partition)

    def _is_absent(self, key: dg.AssetKey) -> bool:
        """Whether the present source has no such table: its step left it out, or one above it."""
        node = self._graph.get(key)
        if node.is_partitioned or not node.is_materializable:
            return False
        made, others = self.event(key), self._events_beside(key)
        latest = max((event for event in others if event), default=None)
        if latest and not (made and made.run == latest.run):
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
        made = self.event(key, partition)
        if not node.is_materializable:
            return Status("current")
        if made is None:
            return Status("missing")
        if causes := tuple(self._causes(key, partition, made)):
            return Status("stale", causes)
        for parent in sorted(node.parent_keys):
            for name in self._parts_read(key, partition, parent):
                if (above := self.status(parent, name)).causes:
                    return Status("below", above.causes)
        return Status("current")

    def _causes(self, key: dg.AssetKey, partition: str | None, made: Event) -> Iterator[str]:
        """What a table was made of that has changed since: its code, or direct inputs."""
        node = self._graph.get(key)
        if node.code_version and made.tags.get(_CODE_VERSION) != node.code_version:
            yield "code"
        for parent in sorted(node.parent_keys):
            name = parent.to_user_string()
            if (version := made.tags.get(_INPUT_VERSION + name)) is None:
                yield f"{name} (a new input)"
            elif not self._graph.get(parent).is_partitioned:
                now = self.event(parent)
                if (now.version if now else _NEVER_MADE) != version:
                    yield name
            else:
                number = made.tags[_INPUT_EVENT + name]
                read = -1 if number == "NULL" else int(number)
                for part in self._parts_read(key, partition, parent):
                    if self._is_changed(parent, part, read):
                        yield f"{name} of {part}"

    def _is_changed(self, key: dg.AssetKey, partition: str | None, read: int) -> bool:
        """Whether an input has another version than at an event; of many partitions, by itself."""
        now = self.event(key, partition)
        if now is None or now.number <= read:
            return False
        before = self._latest(key, partition, before=read + 1)
        return before is None or before.content != now.content

    def _parts_read(
        self, key: dg.AssetKey, partition: str | None, parent: dg.AssetKey
    ) -> Sequence[str | None]:
        """Partitions of an input that a table reads: its own, or all."""
        of = self._graph.get(parent).partitions_def
        is_own = of == self._graph.get(key).partitions_def
        mapping = self._graph.get(key).partition_mappings.get(parent)
        if of is None or (is_own and not isinstance(mapping, dg.AllPartitionMapping)):
            return [partition if of else None]
        return self.partitions(of)

    def _read_partitions(self, of: dg.PartitionsDefinition[str]) -> Sequence[str]:
        if not isinstance(of, dg.DynamicPartitionsDefinition):
            return of.get_partition_keys()
        with self._query():
            return self._instance.get_dynamic_partitions(str(of.name))

    def _events_beside(self, key: dg.AssetKey) -> list[Event | None]:
        """Last events of the other tables of its step, if the step may leave this table out."""
        asset = self._graph.get(key).assets_def
        if asset.op.output_dict[asset.get_output_name_for_asset_key(key)].is_required:
            return []
        self._read(asset.keys)
        return [self._last[other] for other in asset.keys - {key}]

    def _with_ancestors(self, keys: Collection[dg.AssetKey]) -> set[dg.AssetKey]:
        closure, pending = set(keys), [*keys]
        while pending:
            above = self._graph.get(pending.pop()).parent_keys - closure
            closure |= above
            pending += above
        return closure

    def _read(self, keys: Collection[dg.AssetKey]) -> None:
        """Read the last event of each asset: one query for all tables, one for another input."""
        unknown = {key for key in keys if key not in self._last}
        if not unknown:
            return
        tables = [key for key in unknown if self._graph.get(key).is_materializable]
        self._last |= dict.fromkeys(tables)
        with self._query():
            records = self._instance.get_asset_records(tables) if tables else ()
        for record in records:
            if last := record.asset_entry.last_materialization_record:
                self._last[record.asset_entry.asset_key] = _event(last)
        self._last |= {key: self._latest(key, None) for key in unknown.difference(tables)}

    def _latest(
        self, key: dg.AssetKey, partition: str | None, before: int | None = None
    ) -> Event | None:
        wanted = dg.AssetRecordsFilter(
            asset_key=key,
            asset_partitions=None if partition is None else [partition],
            before_storage_id=before,
        )
        return next(map(_event, self._records(wanted, limit=1)), None)

    def _records(self, wanted: dg.AssetRecordsFilter, limit: int) -> Sequence[dg.EventLogRecord]:
        if not limit:
            return []
        with self._query():
            if self._graph.get(wanted.asset_key).is_materializable:
                return self._instance.fetch_materializations(wanted, limit=limit).records
            return self._instance.fetch_observations(wanted, limit=limit).records

    def _read_failure(self, run: str) -> bool:
        with self._query():
            record = self._instance.get_run_by_id(run)
        return record is not None and record.status in _FAILED

    def _query(self) -> AbstractContextManager[None]:
        return damaged_records_reporting(self._instance.root_directory)


def last_materialization(instance: dg.DagsterInstance, key: dg.AssetKey) -> Event | None:
    """The latest materialization of an asset, of any partition."""
    return next(map(_event, instance.fetch_materializations(key, limit=1).records), None)


def last_observation(
    instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None
) -> Event | None:
    """The latest observation of an input."""
    known = dg.AssetRecordsFilter(key, asset_partitions=[partition] if partition else None)
    return next(map(_event, instance.fetch_observations(known, limit=1).records), None)


def observe(
    versions: Mapping[tuple[dg.AssetKey, str | None], str],
    last: Callable[[dg.AssetKey, str | None], Event | None],
) -> list[dg.AssetObservation]:
    """Observations of the inputs whose version is not the last observed one.

    Args:
        versions: Version by input and partition.
        last: Finds the last observation, such as ``Ledger.event``.
    """
    return [
        dg.AssetObservation(key, partition=partition, tags={DATA_VERSION: version})
        for (key, partition), version in versions.items()
        if (event := last(key, partition)) is None or event.version != version
    ]


def _event(record: dg.EventLogRecord) -> Event:
    entry = record.event_log_entry
    event = record.asset_materialization or entry.asset_observation
    tags, metadata = (event.tags, event.metadata) if event else ({}, {})
    names = (TABLE_DIGEST, "path", FAILED_REQUESTS)
    digest, place, failed = (
        str(metadata[name].value) if name in metadata else "" for name in names
    )
    return Event(record.storage_id, entry.run_id, dict(tags or {}), digest, place, int(failed or 0))
