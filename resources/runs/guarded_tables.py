"""The IO manager of the graph, which guards the run whose tables it stores."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import dagster as dg

from resources.config.settings_resource import SettingsResource
from resources.config.stores import open_table_locks
from resources.runs.orphaned_runs import guard_run
from resources.tables.parquet import TableIOManager


class RunTableIOManager(TableIOManager):
    """A ``TableIOManager`` that locks a model's tables from the start of a run to its end."""

    settings: SettingsResource

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Generator[Any]:
        """Store tables, as long as a run lasts; outside of a run nothing is locked."""
        if context.run is None or context.instance is None or not context.instance.is_persistent:
            yield self
            return
        with guard_run(
            context.instance, context.run, lambda: open_table_locks(self.settings.load())
        ):
            yield self
