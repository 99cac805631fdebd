"""A graph of one asset, which says on which node it was made; a code location of its own."""

import os
import time

import dagster as dg

from resources.runs.orphaned_runs import locking_executor
from tests.ray_cluster import MARK


@dg.asset(pool="gpu")
def where(context: dg.AssetExecutionContext) -> None:
    context.log.info(f"made on {os.environ.get(MARK, 'here here').split()[1]}")
    time.sleep(float(context.run.tags.get("seconds", 0)))


defs = dg.Definitions(
    assets=[where],
    jobs=[dg.define_asset_job("made", [where], executor_def=locking_executor())],
)
