"""Shell completion of suites, tasks, models, conditions, judges, scorers and tables.

Loading all suites takes seconds, so names are cached in the home until its settings, its
imported results or the code of a suite change.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from bench_assets.core.schema.errors import BenchError

Kind: TypeAlias = Literal["suites", "models", "conditions", "judges", "scorers"]

CACHE_FILE = "names.json"

_SUITES = Path(__file__).parents[2] / "suites"


def complete_suites(incomplete: str) -> list[str]:
    """Suites and tasks."""
    return _with_prefix(incomplete, _names("suites"))


def complete_models(incomplete: str) -> list[str]:
    """Models and encoders of the home, and the embedded models."""
    return _with_prefix(incomplete, _names("models"))


def complete_conditions(incomplete: str) -> list[str]:
    """Conditions of any task."""
    return _with_prefix(incomplete, _names("conditions"))


def complete_judges(incomplete: str) -> list[str]:
    """Judges of any task, people, and all models."""
    return _with_prefix(incomplete, [*_names("judges"), "people", *_names("models")])


def complete_scorers(incomplete: str) -> list[str]:
    """Scorers of any task."""
    return _with_prefix(incomplete, _names("scorers"))


def complete_tables(incomplete: str) -> list[str]:
    """Materialized tables."""
    from bench_resources.config.environment import default_home

    folder = default_home() / "tables"
    tables = {file.parent.relative_to(folder).as_posix() for file in folder.rglob("*.parquet")}
    return _with_prefix(incomplete, sorted(tables))


def _with_prefix(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def _names(kind: Kind) -> list[str]:
    """Names of one kind; none if bench.toml is invalid, since completion must not print errors."""
    from bench_resources.config.environment import default_home

    with suppress(BenchError, OSError):
        home = default_home()
        return _cached_names(home, _collect_names)[kind]
    return []


def _cached_names(
    home: Path, gather: Callable[[Path], dict[Kind, list[str]]]
) -> dict[Kind, list[str]]:
    """Names from the cache if nothing changed since; otherwise collect and cache them."""
    note, state = home / CACHE_FILE, _cache_key(home)
    try:
        cached = json.loads(note.read_text(encoding="utf-8"))
        if cached["state"] == state:
            return dict(cached["names"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # no usable cache
        pass
    names = gather(home)
    if home.is_dir():
        with suppress(BenchError):
            _write_cache(note, {"state": state, "names": names})
    return names


def _write_cache(note: Path, content: Any) -> None:  # noqa: ANN401
    from bench_resources.storage.atomic_write import open_atomic

    with open_atomic(note, sync=False) as file:
        file.write(json.dumps(content).encode())


def _cache_key(home: Path) -> list[Any]:
    """Modification times of the files that names depend on."""
    import sysconfig

    files = [home / name for name in ("bench.toml", "models.toml", "imports.json")]
    files += [*sorted(home.glob("benchmarks/*.toml")), Path(sysconfig.get_path("purelib"))]
    files += sorted(_SUITES.rglob("task.py"))
    return [[str(file), file.stat().st_mtime_ns] for file in files if file.exists()]


def _collect_names(home: Path) -> dict[Kind, list[str]]:
    from bench_assets.catalog import load_catalog
    from bench_resources.config.bench_toml import load_settings
    from bench_resources.config.sections.models import list_models

    settings = load_settings(home)
    catalog = load_catalog(settings)
    tasks = catalog.tasks
    return {
        "suites": [*catalog.names, *dict.fromkeys(task.name for task in tasks)],
        "models": [
            *settings.models,
            *(model.name for model in list_models(settings.models)),
            *settings.encoders,
        ],
        "conditions": _sorted(name for task in tasks for name in task.conditions),
        "judges": _sorted(name for task in tasks for name in task.judges),
        "scorers": _sorted(name for task in tasks for name in task.scorers),
    }


def _sorted(names: Iterator[str]) -> list[str]:
    return sorted(set(names))
