"""Versions of the code that builds tables: digests of the syntax trees that it imports.

Comments, docstrings, layout and installed packages do not count; a wheel has the versions of the
checkout that it was built from. Data files of a suite count by their bytes.
"""

import ast
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

import bench_assets
from bench_assets.core.schema.errors import HomeError
from bench_assets.core.schema.provenance import json_digest
from bench_assets.evaluation.suite import Suite
from bench_resources.storage.atomic_write import open_atomic
from bench_resources.storage.file_digests import file_states

CODE_FILE = "code.json"
"""File of the home with the versions, and the digest of the files that they are of."""

_ROOT = Path(bench_assets.__path__[0])
_BUILD = ("core", "suites", "evaluation", "file_benchmarks", "asset_factory", "annotation")
_BOARD = ("core", "evaluation", "comparison", "defs")
_FILE_BENCHMARKS = _ROOT / "file_benchmarks" / "assets.py"
_LEADERBOARD = _ROOT / "defs" / "tables" / "leaderboard.py"
_NO_CODE = (".md", ".pyc")
_DIGITS = 12  # hexadecimal digits of a digest


class _StoredVersion(NamedTuple):
    state: str  # of the suite's code outside of our packages
    version: str


class _StoredVersions(NamedTuple):
    state: str  # of the files of our packages
    versions: dict[str, _StoredVersion]  # by suite


_STORED_VERSIONS = TypeAdapter(_StoredVersions)


class _Module(NamedTuple):
    digest: str
    imports: frozenset[str]


def code_versions(home: Path, suites: Iterable[Suite]) -> dict[str, str]:
    """Versions of the code of each suite's dataset build, and of the leaderboard ("").

    They are stored in the home, and computed when a file has changed, by size and time. A command
    of one suite keeps the others.
    """
    code: dict[str, tuple[Path, ...]] = {
        suite.name: suite.code or (_FILE_BENCHMARKS,) for suite in suites
    }
    code[""] = (_LEADERBOARD,)
    state = _state(_ROOT / name for name in sorted({*_BUILD, *_BOARD}))
    stored_versions: dict[str, _StoredVersion] = {}
    with suppress(OSError, ValidationError):
        stored = _STORED_VERSIONS.validate_json((home / CODE_FILE).read_bytes())
        stored_versions = stored.versions if stored.state == state else {}
    computed: dict[tuple[tuple[Path, ...], str], str] = {}  # file benchmarks share one version
    for name, paths in code.items():
        own_state = _state(path for path in paths if not path.is_relative_to(_ROOT))
        if name in stored_versions and stored_versions[name].state == own_state:
            continue
        if (paths, own_state) not in computed:
            packages = _BUILD if name else _BOARD
            computed[paths, own_state] = _version(paths, packages, state + own_state)
        stored_versions[name] = _StoredVersion(own_state, computed[paths, own_state])
    if computed and home.is_dir():
        with suppress(HomeError), open_atomic(home / CODE_FILE, sync=False) as file:
            file.write(_STORED_VERSIONS.dump_json(_StoredVersions(state, stored_versions)))
    return {name: stored_versions[name].version for name in code}


def _state(paths: Iterable[Path]) -> str:
    """Digest of the sizes and times of files, also of those in folders."""
    return json_digest([*file_states(paths)])


def _version(code: Collection[Path], packages: Collection[str], state: str) -> str:
    """Digest the code in files and folders, and the modules of our packages that it imports."""
    digests: dict[str, str] = {}
    names: dict[Path, str] = {}
    for path in code:
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.suffix == ".py":
                names[file] = _relative_name(file, path)
            elif file.is_file() and file.suffix not in _NO_CODE:
                digests[_relative_name(file, path)] = sha256(file.read_bytes()).hexdigest()
    pending = [*names]
    while pending:
        file = pending.pop()
        module = _parse(file, state)
        digests[names[file]] = module.digest
        imported = {found for name in module.imports for found in _module_files(name, packages)}
        for imported_file in imported - names.keys():
            pending.append(imported_file)
            names[imported_file] = _relative_name(imported_file, _ROOT)
    return json_digest(digests)[:_DIGITS]


def _relative_name(file: Path, path: Path) -> str:
    """Name of a file from a path on: the same on all machines."""
    return str(file.relative_to(path.parent).as_posix())


@cache
def _parse(file: Path, state: str) -> _Module:
    """Digest of a module's syntax tree, and its imports; cached until a file changes ``state``."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:  # its import reports it
        return _Module(str(error), frozenset())
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [*_without_docstrings(node.body)]
    return _Module(sha256(ast.dump(tree).encode()).hexdigest(), frozenset(names))


def _without_docstrings(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that are not texts alone, such as docstrings."""
    for statement in body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
            yield statement


def _module_files(name: str, packages: Collection[str]) -> Iterator[Path]:
    """The file of a module in one of our packages; none for another name."""
    top, *parts = name.split(".")
    if top == bench_assets.__name__ and parts and parts[0] in packages:
        path = _ROOT.joinpath(*parts)
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.is_file():
                yield file
