"""The shipped benchmarks."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any


def load_assets(suite: str) -> Sequence[Any]:
    """Load a shipped suite's assets and asset checks; Dagster is imported here and not before."""
    from bench_assets.asset_factory.suite_assets import load_package_assets

    return load_package_assets(import_module(f"bench_assets.suites.{suite}"))
