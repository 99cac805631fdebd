"""The reference of bench.toml, generated from the types of its sections.

``python -m tests.docs.settings_page`` writes docs/settings.md.
"""

import ast
import inspect
import json
import re
import textwrap
import types
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from bench_assets.catalog import load_catalog
from bench_assets.evaluation.suite import SuiteSettings
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.base import DrawsSection, ModelSpec, SamplingSection
from bench_resources.config.sections.benchmarks import AuditSettings, FileBenchmarkSettings
from bench_resources.config.sections.cluster import ClusterSettings, StorageSettings
from bench_resources.config.sections.local_models import SERVER_KEYS
from bench_resources.config.sections.models import SPECS
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.config.sections.watched import (
    AnnotationSettings,
    AnnotationTaskSettings,
    CheckpointSettings,
)
from bench_resources.encoders.dual_encoder import EncoderSpec
from tests.cases import read_rows
from tests.docs.blocks import CHECKOUT

PAGE = CHECKOUT / "docs" / "settings.md"
_TOP = """\
# Settings

```console named: never overwrites a bench.toml
bench home init
```

This writes a commented bench.toml to `$BENCH_HOME` (default: `bench_home`). An unknown key is an error.

Each entry below is a key with its type, and with its default or `required`. Without a default, the key is unset or empty.
† marks keys that are part of a response's identity. If such a key or the content of a file that it names changes, requests are sent again.

This page is generated from the types of the settings (`python -m tests.docs.settings_page`).
"""  # noqa: E501
_TOML_TYPES = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    Path: "path",
    date: "date",
    datetime: "date-time",
}
_ABOUT_KINDS = dict(read_rows(__file__, "kinds.jsonl"))
_SAMPLING = "`kind` is one of the headings from `auto` to `scripted` below. These keys apply to the kinds `auto`, `transformers`, `vllm` and `server`."  # noqa: E501
_SEVERAL = "This key also applies to `random`, `recorded` and `python`."
_VLLM_SETS = ", ".join(f"`{name}`" for name in sorted(SERVER_KEYS))


class Section(NamedTuple):
    """A part of the page: a heading, a sentence, and the class with the keys."""

    heading: str
    about: str
    keys: type[BaseModel]


def sections() -> Iterator[Section]:
    """The sections of bench.toml, in the order of the page."""
    yield Section("## suites.NAME", "These keys apply to every suite.", SuiteSettings)
    for suite in load_catalog().suites:
        if suite.settings is not SuiteSettings:
            yield Section(f"### suites.{suite.name}", "", suite.settings)
    yield Section("### suites.journeybench.encoders.NAME", "", EncoderSpec)
    yield Section("## models.NAME", _SAMPLING, SamplingSection)
    yield Section("### Several responses", _SEVERAL, DrawsSection)
    for kind, spec in SPECS.items():
        yield Section(f"### {kind}", _ABOUT_KINDS[kind].format(_VLLM_SETS), spec)
    yield Section(
        "## benchmarks.NAME", "A benchmark in a file of questions.", FileBenchmarkSettings
    )
    yield Section("## checkpoints", "", CheckpointSettings)
    yield Section("## annotation", "", AnnotationSettings)
    yield Section('### annotation.tasks."suite/task"', "", AnnotationTaskSettings)
    yield Section("## audit", "", AuditSettings)
    yield Section("## storage", "", StorageSettings)
    yield Section("## cluster", "", ClusterSettings)


SHARED = (DrawsSection, SamplingSection, ServerSpec, SuiteSettings)


def own_fields(keys: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a section that no section above it on the page lists."""
    shared = {
        name
        for base in SHARED
        if base is not keys and issubclass(keys, base)
        for name in base.model_fields
        if name not in keys.__annotations__
    }
    return {
        name: field
        for name, field in keys.model_fields.items()
        if name not in shared and not (name == "kind" and issubclass(keys, ModelSpec))
    }


def page() -> str:
    top = describe(Settings)
    parts = [
        _TOP,
        f"## accept\n\n`accept` (list): {top['accept']}\n",
        f"## drift\n\n`drift` (number, `0.05`): {top['drift']}\n",
        f"## sources\n\n`[sources]`: {top['sources']}\n",
    ]
    for heading, about, keys in sections():
        meanings = describe(keys)
        lines = [
            f"- `{field.alias or name}` ({kind_of(field)}): {meanings[name]}"
            for name, field in own_fields(keys).items()
        ]
        paragraphs = [heading, about, "\n".join(lines)]
        parts.append("\n\n".join(filter(None, paragraphs)) + "\n")
    return "\n".join(parts)


def kind_of(field: FieldInfo) -> str:
    """Type and default of a key.

    >>> kind_of(FieldInfo(annotation=int, default=16))
    'integer, `16`'
    """
    kind = toml_type(field.annotation)
    if field.is_required():
        return f"{kind}, required"
    default = field.get_default(call_default_factory=True, validated_data={})
    if default in (None, "", (), {}, []) or default is PydanticUndefined:
        return kind
    if isinstance(default, str | int | float):
        return f"{kind}, `{json.dumps(default)}`"
    return kind


def toml_type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return toml_type(arguments[0])
    if origin is Literal:
        values = [json.dumps(value) for value in arguments if value != ""]
        return f"`{'/'.join(values)}`"
    if origin in (Union, types.UnionType):
        names = [toml_type(member) for member in arguments if member is not types.NoneType]
        return " or ".join(dict.fromkeys(names))
    if origin in (list, tuple):
        return "list"
    if origin in (dict, Mapping):
        return "table"
    return _TOML_TYPES.get(annotation, "table")


def describe(keys: type[BaseModel]) -> dict[str, str]:
    """The docstring of each field, as Markdown."""
    docstrings: dict[str, str] = {}
    for owner in reversed(keys.__mro__):
        if issubclass(owner, BaseModel) and owner is not BaseModel:
            docstrings |= _docstrings(owner)
    return docstrings


def _docstrings(owner: type[BaseModel]) -> dict[str, str]:
    """The docstring below each field in the source of a class, as Markdown."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(tree, ast.ClassDef)
    docstrings = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            docstrings[field.target.id] = _markdown(text)
    return docstrings


def _markdown(node: ast.stmt) -> str:
    """A docstring as Markdown, with links and marks; empty if the statement is none."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return ""
    text = " ".join(str(node.value.value).split()).replace("\n", "\\n")
    linked = re.sub(r"docs/([\w-]+\.md)", r"[\1](\1)", text)
    marked = re.sub(r"[;.] [Pp]art of a response's identity(?:; ([^.]*))?\.", r"; \1. †", linked)
    return marked.replace("; . †", ". †").replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
