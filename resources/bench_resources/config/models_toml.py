"""``models.toml`` beside bench.toml: ad-hoc models, which commands were given by location.

The UI, the leaderboard and later commands find them by name. A section of the same name in
bench.toml takes precedence; sections may be moved there.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.environment import MODELS_FILE
from bench_resources.config.sections.base import ModelSpec
from bench_resources.config.sections.engine_kinds import UNKNOWN_KIND, read_model_section
from bench_resources.config.toml_validation import read_toml
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.home_files import hold_file

_ABOUT = (
    "# Models that `bench` was given by location. `bench home remove MODEL` removes one.\n"
    "# Sections may be moved to bench.toml.\n"
)


def read_models(home: Path) -> dict[str, ModelSpec]:
    """Read the ad-hoc models, without those that this version cannot read any more.

    Of an unreadable file there are none; ``save_models`` reports it.
    """
    try:
        sections = _read_sections(home)
    except SettingsError:
        return {}
    models = {}
    for name, section in sections.items():
        with suppress(ValueError):  # includes pydantic's ValidationError
            spec = read_model_section(section)
            if spec.kind != UNKNOWN_KIND:
                models[name] = spec
    return models


def save_models(home: Path, sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Write models beside the present ones; returns the names of the new and changed ones.

    Raises:
        HomeError: If the home cannot be written to.
        SettingsError: If the file cannot be read.
    """
    with hold_file(home, MODELS_FILE):
        existing = _read_sections(home)
        new = [name for name, section in sections.items() if existing.get(name) != dict(section)]
        if new:
            _write_sections(home, {**existing, **sections})
    return new


def remove_model(home: Path, name: str) -> bool:
    """Remove a model; returns whether it existed. Raises as ``save_models``."""
    with hold_file(home, MODELS_FILE):
        existing = _read_sections(home)
        if name not in existing:
            return False
        del existing[name]
        _write_sections(home, existing)
    return True


def _read_sections(home: Path) -> dict[str, dict[str, Any]]:
    sections = read_toml(home / MODELS_FILE).get("models", {})
    return {name: section for name, section in sections.items() if isinstance(section, dict)}


def _write_sections(home: Path, sections: Mapping[str, Mapping[str, Any]]) -> None:
    with open_atomic(home / MODELS_FILE) as file:
        file.write(_ABOUT.encode())
        for name, section in sections.items():
            lines = [f"{key} = {toml_value(value)}" for key, value in section.items()]
            file.write("\n".join(["", f"[models.{toml_value(name)}]", *lines, ""]).encode())


def toml_value(value: object) -> str:
    """Write a value as TOML, within one line."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{toml_value(k)} = {toml_value(v)}" for k, v in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, float):  # JSON writes inf and nan differently
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
