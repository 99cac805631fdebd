"""Blocks what lies downstream of a table that is not as expected, without Great Expectations.

``expectations.py`` tries the same with it, and all that does not block; its import takes seconds.
"""

from collections.abc import Sequence
from typing import Any, get_args

import dagster as dg

from bench_assets.check_results import check_result
from bench_assets.core.expected import EXPECTED, problems
from bench_assets.core.rows import SourceFile
from bench_assets.graph.links import linked_expectations
from resources.home.table_types import gone_through

AS_EXPECTED = "as_expected"
"""Name of the check."""

_ABOUT = "The expectations that block hold: what is made of the table stays as it is otherwise."


def source_checks(left: Sequence[Any]) -> list[dg.AssetChecksDefinition]:
    """Build a check for each suite that has a table of its source's files."""
    return [
        _of_source(key)
        for one in left
        if isinstance(one, dg.AssetsDefinition)
        for key in one.keys
        if key.path[1:] == ["source"] and _row_type(one, key) is SourceFile
    ]


def _row_type(assets: dg.AssetsDefinition, key: dg.AssetKey) -> object:
    output = assets.get_output_name_for_asset_key(key)
    rows = get_args(assets.op.output_dict[output].dagster_type.typing_type)
    return rows[0] if rows else None


def _of_source(key: dg.AssetKey) -> dg.AssetChecksDefinition:
    @dg.asset_check(asset=key, name=AS_EXPECTED, blocking=True, description=_ABOUT)
    @gone_through(source=SourceFile)
    def source_as_expected(source: Sequence[SourceFile]) -> dg.AssetCheckResult:
        return as_expected(key.path, source)

    return source_as_expected


def expected_spec(
    key: Sequence[str], partitions: dg.PartitionsDefinition | None = None
) -> dg.AssetCheckSpec:
    """What the UI says of the check, where it is tried with the other checks of its table."""
    return dg.AssetCheckSpec(
        AS_EXPECTED, asset=list(key), blocking=True, partitions_def=partitions, description=_ABOUT
    )


def as_expected(key: Sequence[str], rows: Sequence[Any]) -> dg.AssetCheckResult:
    """Try what is expected of a table, by the last part of its key, and blocks."""
    blocking = [one for one in EXPECTED[key[-1]] if one.blocking]
    holds = f"{len(blocking)} of {len(blocking)} expectations that block hold."
    result = check_result(problems(rows, blocking), n=len(rows), holds=holds)
    return linked_expectations(result, key)
