"""Known public benchmarks: a shipped section for each, with the source of its data.

The data are never part of this project. When a command names a benchmark, its section is copied to
the home (``benchmarks/mmmu.toml``), where it may be edited; bench.toml takes precedence. For a
TOML file of the user, such as ``mybench.toml``, the copy holds only its path.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.environment import expand_user
from bench_resources.config.sections.benchmarks import BenchmarkName, FileBenchmarkSettings
from bench_resources.config.toml_validation import describe_validation_error, read_toml
from bench_resources.storage.atomic_write import open_atomic

FOLDER = "benchmarks"
"""Folder of a home: sections of benchmarks that commands named."""

_ORIGIN = "from"  # the key of a file that names another file
_PATHS = ("file", "image_folder", "shots_file")
_PACKAGED = Path(__file__).with_name("known")
_BENCHMARKS = TypeAdapter(dict[BenchmarkName, FileBenchmarkSettings])


def known_benchmarks() -> tuple[str, ...]:
    """Names of the known benchmarks, sorted."""
    return tuple(sorted(file.stem for file in _PACKAGED.glob("*.toml")))


def add_known(home: Path, suites: Iterable[str]) -> list[str]:
    """Add known benchmarks, and those of TOML files, to a home; returns suite and task names.

    A known benchmark is copied into the home. A TOML file is only referenced: its paths are
    relative to its folder, and later changes in it take effect.

    Raises:
        HomeError: If the home cannot be written to.
        SettingsError: If a TOML file is unreadable or invalid, has no section ``[benchmarks.NAME]``
            or a taken name; or if a suite is the name of another file.
    """
    known = known_benchmarks()
    names: list[str] = []
    for suite in suites:
        if suite.endswith(".toml"):
            names += _add_file(home, expand_user(suite).absolute())
            continue
        if Path(suite).is_file():
            raise SettingsError(
                f"{suite}: expected a suite, or a .toml file with a section [benchmarks.NAME] whose"
                f" entry `file` is {Path(suite).name}; see docs/build-a-benchmark.md"
            )
        names.append(suite)
        name = suite.partition("/")[0]
        if name in known and not (home / FOLDER / f"{name}.toml").exists():
            _write_section(home, name, (_PACKAGED / f"{name}.toml").read_bytes())
    return names


class NamedBenchmarks(NamedTuple):
    """Benchmarks from files other than bench.toml, by name."""

    sections: dict[str, Any]
    files: dict[str, Path]  # with the sections
    left_out: dict[str, str]  # reason why a section or its file cannot be used


def named_benchmarks(home: Path) -> NamedBenchmarks:
    """Read the sections of a home's known benchmarks and of referenced files.

    An invalid section or file is left out, with the reason; a missing section is skipped.
    """
    benchmarks = NamedBenchmarks(sections={}, files={}, left_out={})
    for file in sorted((home / FOLDER).glob("*.toml")):
        name = file.stem
        benchmarks.files[name] = file
        try:
            origin = read_toml(file).get(_ORIGIN)
            if isinstance(origin, str):
                benchmarks.files[name] = Path(origin)
            section = _sections(benchmarks.files[name]).get(name)
            if section is None:
                continue
            if reason := _validation_error(name, section):
                benchmarks.left_out[name] = reason
            else:
                benchmarks.sections[name] = section
        except SettingsError as error:
            benchmarks.left_out[name] = str(error)
    return benchmarks


def _add_file(home: Path, file: Path) -> list[str]:
    """Reference all benchmarks of a TOML file in a home, or none; returns their names."""
    sections = _sections(file)
    if not sections:
        fault = "no section [benchmarks.NAME]" if file.is_file() else "no such file"
        raise SettingsError(f"{file}: {fault}")
    bench_toml = home / "bench.toml"
    own_sections = _sections(bench_toml)
    for name, section in sections.items():
        target = home / FOLDER / f"{name}.toml"
        if name in own_sections or (target.exists() and _ORIGIN not in read_toml(target)):
            taken_by = bench_toml if name in own_sections else target
            raise SettingsError(f"{file}, [benchmarks.{name}]: the name is taken by {taken_by}")
        if reason := _validation_error(name, section):
            raise SettingsError(f"{file}, [benchmarks]: {reason}")
    for name in sections:
        _write_section(home, name, f"{_ORIGIN} = {json.dumps(str(file))}\n".encode())
    return list(sections)


def _validation_error(name: str, section: dict[str, Any]) -> str:
    """What is wrong with a section; "" if it is valid."""
    try:
        _BENCHMARKS.validate_python({name: section})
    except ValidationError as error:
        return describe_validation_error(error, dict[str, FileBenchmarkSettings])
    return ""


def _sections(file: Path) -> dict[str, Any]:
    """Benchmark sections of a TOML file, with absolute paths; {} without a file."""
    sections = read_toml(file).get("benchmarks", {})
    if not isinstance(sections, dict):
        return {}
    return {
        name: {key: _absolute_path(file.parent, key, value) for key, value in section.items()}
        for name, section in sections.items()
        if isinstance(section, dict)
    }


def _absolute_path(folder: Path, key: str, value: object) -> object:
    """Resolve the value of an entry if it is a path, relative to the folder of its file.

    A file of answers that is not there may lie beside the questions, and stays as it is.
    """
    if key == "answers_file" and isinstance(value, dict) and isinstance(value.get("file"), str):
        answers_file = folder / expand_user(value["file"])
        return {**value, "file": str(answers_file)} if answers_file.exists() else value
    if key not in _PATHS or not isinstance(value, str):
        return value
    is_address = value.startswith("hf:") or "://" in value
    return value if is_address else str(folder / expand_user(value))


def _write_section(home: Path, name: str, data: bytes) -> None:
    file = home / FOLDER / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    with open_atomic(file) as stream:
        stream.write(data)
