"""Runs all checks of one table in one op, which reads the table once.

Each op costs milliseconds when definitions load, and more in each run. Only a non-blocking check
that may raise gets its own op, so that it cannot stop downstream assets.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, NamedTuple

import dagster as dg

from bench_assets.asset_factory.suite_assets import list_of


class TableCheck(NamedTuple):
    """A check of a table.

    Attributes:
        run: The check; its parameters are names of tables and resources.
        deps: Other tables that it depends on.
    """

    name: str
    description: str
    run: Callable[..., dg.AssetCheckResult]
    blocking: bool = False
    deps: Sequence[dg.AssetKey] = ()


def joint_checks(
    checks: Sequence[TableCheck],
    table: Sequence[str],
    ins: Mapping[str, tuple[Sequence[str], type[Any]]],
    *,
    resources: Sequence[str] = (),
    partitions: dg.PartitionsDefinition | None = None,
) -> dg.AssetChecksDefinition:
    """Build the checks of a table; all of them run by default, or those selected.

    ``ins`` are the tables that the checks read, by name: key and row type.
    """
    specs = [
        dg.AssetCheckSpec(
            check.name,
            asset=list(table),
            blocking=check.blocking,
            partitions_def=partitions,
            additional_deps=check.deps or None,
            description=check.description,
        )
        for check in checks
    ]

    def run_checks(
        context: dg.AssetCheckExecutionContext, **tables: list[Any]
    ) -> Iterator[dg.AssetCheckResult]:
        inputs = {**tables, **{name: getattr(context.resources, name) for name in resources}}
        for check, spec in zip(checks, specs, strict=True):
            if spec.key in context.selected_asset_check_keys:
                arguments = {name: inputs[name] for name in signature(check.run).parameters}
                result = check.run(**arguments)
                yield result._replace(asset_key=spec.asset_key, check_name=spec.name)

    # Dagster takes the names and types of tables from the signature.
    table_types = {name: list_of(row_type) for name, (_, row_type) in ins.items()}
    types = {"context": dg.AssetCheckExecutionContext, **table_types}
    run_checks.__annotations__ = types
    run_checks.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)
            for name, annotation in types.items()
        ]
    )
    return dg.multi_asset_check(
        name=f"{specs[0].asset_key.to_python_identifier()}_checks",
        specs=specs,
        ins={name: dg.AssetKey(list(key)) for name, (key, _) in ins.items()},
        required_resource_keys={*resources},
        can_subset=True,
    )(run_checks)
