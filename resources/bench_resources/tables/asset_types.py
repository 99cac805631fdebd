"""Dagster types of tables: inputs and outputs, column schemas, previews."""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from inspect import cleandoc
from typing import Any, TypeVar, cast, get_args, get_type_hints

import dagster as dg

from bench_assets.core.tables.arrow import to_json

Function = TypeVar("Function", bound=Callable[..., Any])


def asset_row_type(context: dg.OutputContext | dg.InputContext) -> type[Any]:
    """Row type of a table that an asset writes or reads."""
    (row_type,) = get_args(context.dagster_type.typing_type)
    assert isinstance(row_type, type)
    return row_type


def row_type_of(asset: dg.AssetsDefinition, key: dg.AssetKey) -> type[Any] | None:
    """Row type of a table that an asset writes; None of another output."""
    output = asset.op.output_dict[asset.get_output_name_for_asset_key(key)]
    return next(iter(get_args(output.dagster_type.typing_type)), None)


def column_schemas(asset: dg.AssetsDefinition) -> dict[dg.AssetKey, dg.TableSchema]:
    """Column schemas of the tables that an asset writes; none for other outputs."""
    schemas = {}
    for output in asset.op.output_defs:
        row_type = next(iter(get_args(output.dagster_type.typing_type)), None)
        key = asset.keys_by_output_name.get(output.name)
        if key and is_dataclass(row_type):
            schemas[key] = _column_schema(cast(Hashable, row_type))
    return schemas


@cache
def _column_schema(row_type: Any) -> dg.TableSchema:  # noqa: ANN401
    hints = get_type_hints(row_type)
    kinds = {field.name: hints[field.name] for field in fields(row_type)}
    descriptions = _attribute_descriptions(row_type.__doc__ or "")
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name,
                kind.__name__ if isinstance(kind, type) else _format_type(kind),
                description=descriptions.get(name),
            )
            for name, kind in kinds.items()
        ]
    )


def _attribute_descriptions(docstring: str) -> dict[str, str]:
    r"""Parse the descriptions of attributes in a docstring.

    >>> _attribute_descriptions("A row.\n\n    Attributes:\n        a: One.\n            More.")
    {'a': 'One. More.'}
    """
    listed = cleandoc(docstring).partition("Attributes:\n")[2]
    _, *names_and_texts = re.split(r"^    (\w+): ", listed, flags=re.M)
    names, texts = names_and_texts[::2], names_and_texts[1::2]
    return {name: " ".join(text.split()) for name, text in zip(names, texts, strict=True)}


def _format_type(kind: object) -> str:
    """Format a type as code, without module names."""
    return str(kind).replace("typing.", "").replace("collections.abc.", "")


_PREVIEW_ROWS = 8  # rows of a preview
_PREVIEW_CHARACTERS = 160  # characters of a cell in a preview


def preview(rows: Sequence[Any]) -> dict[str, dg.MetadataValue]:
    """Format the first rows as a table for the UI, long texts shortened; {} without rows."""
    if not rows:
        return {}
    records = [
        dg.TableRecord({name: _format_cell(value) for name, value in to_json(row).items()})
        for row in rows[:_PREVIEW_ROWS]
    ]
    return {"preview": dg.MetadataValue.table(records)}


def _format_cell(value: object) -> str | int | float | bool | None:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text if len(text) <= _PREVIEW_CHARACTERS else text[: _PREVIEW_CHARACTERS - 1] + "…"
