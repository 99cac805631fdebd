"""Pools of runs: models whose runs use another pool than ``gpu``.

Dagster's pools belong to assets, and the pool of a run here depends on its model. Where bench.toml
names such pools, a run has its pool as a tag, and the queue limits runs by that tag.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

import dagster as dg

from bench_assets.core.schema.elicitation import split_elicited_name
from bench_resources.config.sections.cluster import MAX_SLOTS, base_pool
from bench_resources.runs.dagster_instance import pools_of

LOCATION = "bench_assets"
"""The code location, as ``workspace.yaml`` names it."""

POOL_TAG = "bench/pool"
MODEL_POOL = "gpu"
"""The pool of every asset that evaluates a model."""


def pool_of_model(model: str, pools: Mapping[str, str]) -> str:
    """Pool that the runs of a model hold, by its longest matching pattern; ``gpu`` without one.

    >>> pool_of_model("big-7b+likelihood", {"big-7b": "gpu-80gb", "*": "hosted"})
    'gpu-80gb'
    """
    if elicited := split_elicited_name(model):
        model = elicited.model
    patterns = [pattern for pattern in pools if fnmatchcase(model, pattern)]
    return pools[max(patterns, key=len)] if patterns else MODEL_POOL


def pool_tags(model: str, pools: Mapping[str, str]) -> dict[str, str]:
    """Tags of a run that evaluates a model; none if no model has a pool of its own."""
    return {POOL_TAG: pool_of_model(model, pools)} if pools and model else {}


def tag_limits(pools: Mapping[str, str], limits: Mapping[str, int]) -> list[dict[str, Any]]:
    """Entries of ``tag_concurrency_limits`` in dagster.yaml, one per pool of models."""
    pool_names = sorted({MODEL_POOL, *pools.values()}) if pools else []
    return [
        {"key": POOL_TAG, "value": pool, "limit": limits[base_pool(pool)]} for pool in pool_names
    ]


def asset_pool_limits(pools: Mapping[str, str], limits: Mapping[str, int]) -> dict[str, int]:
    """Limits of Dagster's own pools, which belong to assets.

    Where runs are limited by tags, ``gpu`` is as wide as all of these pools together.
    """
    if not pools:
        return dict(limits)
    n_slots = sum(limits[base_pool(pool)] for pool in {MODEL_POOL, *pools.values()})
    return {**limits, MODEL_POOL: min(n_slots, MAX_SLOTS)}


class PoolCoordinator(dg.QueuedRunCoordinator):
    """Dagster's queue; tags each run that evaluates a model with its pool."""

    def submit_run(self, context: dg.SubmitRunContext) -> dg.DagsterRun:
        """Queue a run."""
        run = context.dagster_run
        tags = pool_tags(run.tags.get("dagster/partition", ""), pools_of(self._instance))
        concurrency = run.run_op_concurrency
        if tags and concurrency and MODEL_POOL in (concurrency.all_pools or ()):
            self._instance.add_run_tags(run.run_id, tags)
        return super().submit_run(context)
