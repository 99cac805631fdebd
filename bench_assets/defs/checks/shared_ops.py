"""Runs all checks of one table in one op, which reads the table once.

Each op costs milliseconds when definitions load, and more in each run. Only a non-blocking check
that may raise gets its own op, so that it cannot stop downstream assets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import dagster as dg


def joint_name(specs: Sequence[dg.AssetCheckSpec]) -> str:
    """Name the op of a table's checks."""
    return f"{specs[0].asset_key.to_python_identifier()}_checks"


def results(
    context: dg.AssetCheckExecutionContext,
    specs: Sequence[dg.AssetCheckSpec],
    found: Mapping[str, Callable[[], dg.AssetCheckResult]],
) -> Iterator[dg.AssetCheckResult]:
    """Run the selected checks by name; by default all."""
    for spec in specs:
        if spec.key in context.selected_asset_check_keys:
            yield found[spec.name]()._replace(asset_key=spec.asset_key, check_name=spec.name)
