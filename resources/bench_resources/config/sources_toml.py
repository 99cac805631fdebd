"""``sources.toml`` beside bench.toml: the source that each suite was evaluated from last.

It lists the suites whose last evaluation was given ``--source``. Commands that read take it;
commands that evaluate take it unless bench.toml names a source. The UI and its sensors follow
bench.toml. An entry counts until bench.toml names another source.
"""

from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import TypeAdapter, ValidationError

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import Settings
from bench_resources.config.known_benchmarks import known_benchmarks
from bench_resources.config.models_toml import toml_value
from bench_resources.config.sections.base import StrictSection
from bench_resources.config.toml_validation import describe_validation_error, read_toml
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.home_files import hold_file

SOURCES_FILE = "sources.toml"

BENCH_TOML = "default"
"""The ``--source`` that stands for bench.toml's, or the mini edition."""

SourceRule: TypeAlias = Literal["evaluated last", "stated", "bench.toml"]
"""Source of a suite without ``--source``: that of its last evaluation; the same, unless bench.toml
states one; or bench.toml's."""

_ABOUT = (
    "# Sources that suites were evaluated from last, as `--source` named them.\n"
    "# To make one permanent, move it to [sources] in bench.toml.\n"
)


class RememberedSource(StrictSection):
    """Source of a suite's last evaluation."""

    source: str
    instead_of: str
    """bench.toml's source at that time; "": none."""


_ENTRIES = dict[str, RememberedSource]


def remembered_sources(settings: Settings, rule: SourceRule) -> dict[str, str]:
    """Sources by suite that replace those of bench.toml, as a rule says.

    Raises:
        SettingsError: If the file cannot be read, or has an invalid entry.
    """
    if rule == "bench.toml":
        return {}
    return {
        suite: remembered.source
        for suite, remembered in _read_entries(settings.home).items()
        if remembered.instead_of == _stated_source(settings, suite)
        and (rule == "evaluated last" or not remembered.instead_of)
    }


def remember_source(settings: Settings, suite: str, source: str) -> None:
    """Record the source that a suite is evaluated from; "": forget an earlier one.

    Raises:
        HomeError: If the home cannot be written to.
        SettingsError: If the file cannot be read, or has an invalid entry.
    """
    instead_of = _stated_source(settings, suite)
    new = RememberedSource(source=source, instead_of=instead_of) if source else None
    if _read_entries(settings.home).get(suite) == new:
        return
    with hold_file(settings.home, SOURCES_FILE):
        entries = _read_entries(settings.home)
        entries.pop(suite, None)
        if new:
            entries[suite] = new
        with open_atomic(settings.home / SOURCES_FILE) as file:
            file.write(_ABOUT.encode())
            for name, remembered in entries.items():
                value = toml_value(remembered.model_dump())
                file.write(f"{toml_value(name)} = {value}\n".encode())


def _stated_source(settings: Settings, suite: str) -> str:
    """Source of a suite in bench.toml, or of a benchmark's own file there; "" without one."""
    benchmark = settings.benchmarks.get(suite)
    own_file = str(benchmark.file) if benchmark and suite not in known_benchmarks() else ""
    return settings.sources.get(suite) or own_file


def _read_entries(home: Path) -> dict[str, RememberedSource]:
    file = home / SOURCES_FILE
    try:
        return TypeAdapter(_ENTRIES).validate_python(read_toml(file))
    except ValidationError as error:
        raise SettingsError(f"{file}, {describe_validation_error(error, _ENTRIES)}") from None
