"""``models.toml`` beside bench.toml: the models that commands were given by where they are.

Kept so that the UI, the leaderboard and later commands know them by the names of their tables.
What bench.toml says of a name counts before it; sections may be moved there.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_assets.core.schema.errors import SettingsError
from resources.config.environment import MODELS_FILE
from resources.config.sections.base import ModelSpec
from resources.config.sections.engine_kinds import UNKNOWN_KIND, read_model_section
from resources.config.toml_validation import read_toml
from resources.storage.atomic_write import open_atomic
from resources.storage.locks import hold_locks

_ABOUT = (
    "# Models that `bench` was given by where they are. `bench home remove MODEL` takes one away;\n"
    "# a section that is moved to bench.toml counts there.\n"
)


def read_models(home: Path) -> dict[str, ModelSpec]:
    """The models that were given; without those that this version cannot read any more."""
    try:
        sections = read_sections(home)
    except SettingsError:  # who writes the file says so
        return {}
    return dict(_readable(sections))


def save_models(home: Path, sections: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Write models; returns the new and changed ones.

    Raises:
        HomeError: If the home cannot be written to.
        SettingsError: If the file cannot be read.
    """
    with hold_locks(home / "locks", [MODELS_FILE], _ignore_wait):
        there = read_sections(home)
        new = [name for name, section in sections.items() if there.get(name) != dict(section)]
        if new:
            _write(home, {**there, **sections})
    return new


def remove_model(home: Path, name: str) -> bool:
    """Remove a model; returns whether it existed."""
    with hold_locks(home / "locks", [MODELS_FILE], _ignore_wait):
        there = read_sections(home)
        if name not in there:
            return False
        _write(home, {one: section for one, section in there.items() if one != name})
    return True


def _ignore_wait(_: str) -> None:
    """Ignore messages about short waits."""


def read_sections(home: Path) -> dict[str, dict[str, Any]]:
    """Read the sections as they are written.

    Raises:
        SettingsError: If the file cannot be read.
    """
    written = read_toml(home / MODELS_FILE)
    return {n: one for n, one in written.get("models", {}).items() if isinstance(one, dict)}


def _readable(sections: Mapping[str, Any]) -> list[tuple[str, ModelSpec]]:
    found = []
    for name, section in sections.items():
        try:
            if (spec := read_model_section(section)).kind != UNKNOWN_KIND:
                found.append((name, spec))
        except ValueError:  # pydantic's is one
            continue
    return found


def _write(home: Path, sections: Mapping[str, Mapping[str, Any]]) -> None:
    with open_atomic(home / MODELS_FILE) as file:
        file.write(_ABOUT.encode())
        for name, section in sections.items():
            lines = [f"{entry} = {_toml(value)}" for entry, value in section.items()]
            file.write("\n".join(["", f"[models.{_toml(name)}]", *lines, ""]).encode())


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(k)} = {_toml(v)}' for k, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, float):  # JSON has another word for inf
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
