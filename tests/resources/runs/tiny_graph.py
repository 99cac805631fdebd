"""A graph of one asset, which says on which node it was made; a code location of its own."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from bench_resources.runs.orphaned_runs import guard_run
from tests.fakes.ray_cluster import MARK


@dg.resource
@contextmanager
def guarded(context: dg.InitResourceContext) -> Iterator[None]:
    """As the IO manager of the graph guards a run."""
    assert context.instance
    assert context.run
    with guard_run(context.instance, context.run):
        yield


@dg.asset(pool="gpu", required_resource_keys={"guard"})
def where(context: dg.AssetExecutionContext) -> None:
    context.log.info(f"made on {os.environ.get(MARK, 'here here').split()[1]}")
    time.sleep(float(context.run.tags.get("seconds", 0)))


defs = dg.Definitions(
    assets=[where],
    jobs=[dg.define_asset_job("made", [where], executor_def=dg.in_process_executor)],
    resources={"guard": guarded},
)
