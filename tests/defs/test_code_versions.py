from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.defs import code_versions as module
from bench_assets.defs.code_versions import code_versions
from bench_assets.suites.codis.suite import SUITE
from tests.conftest import CHECKOUT

CODE = '''"""A build."""

from bench_assets.core.stats.means import mean

LIMIT = 3


def build(rows: list[int]) -> list[int]:
    """Build rows."""
    return [row for row in rows if row < LIMIT]  # small ones
'''


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "build"
    folder.mkdir()
    (folder / "rows.py").write_text(CODE)
    (folder / "words.json").write_text("[]")
    return folder


def version_of(package: Path) -> str:
    return code_versions(package.parent, [replace(SUITE, code=(package,))])["codis"]


def edit(old: str, new: str) -> Callable[[Path], object]:
    """A change of a text in the code of a package."""

    def change(package: Path) -> None:
        assert old in CODE
        (package / "rows.py").write_text(CODE.replace(old, new))

    return change


@pytest.mark.parametrize(
    ("change", "is_change"),
    [
        pytest.param(edit("  # small ones", ""), False, id="a comment"),
        pytest.param(edit('"""Build rows."""\n    ', ""), False, id="a docstring"),
        pytest.param(edit("A build.", "Builds."), False, id="a module's docstring"),
        pytest.param(edit("LIMIT = 3", "LIMIT = (\n    3\n)"), False, id="layout"),
        pytest.param(edit("LIMIT = 3", "LIMIT = 4"), True, id="a literal"),
        pytest.param(edit("means import mean", "means import Mean"), True, id="an import"),
        pytest.param(
            lambda package: (package / "words.json").write_text("[1]"), True, id="a data file"
        ),
        pytest.param(
            lambda package: (package / "README.md").write_text("Rows."), False, id="a README"
        ),
        pytest.param(lambda package: (package / "new.py").write_text("N = 1"), True, id="a module"),
    ],
)
def test_only_changes_of_behaviour_change_the_version(package, change, *, is_change):
    version = version_of(package)
    change(package)
    assert (version_of(package) != version) == is_change


def test_a_moved_package_has_the_same_version(package: Path, tmp_path: Path) -> None:
    version = version_of(package)
    (tmp_path / "wheel").mkdir()
    moved = package.rename(tmp_path / "wheel" / "build")
    assert version_of(moved) == version


def test_the_version_includes_imported_modules_only(package, monkeypatch):
    parsed_files: set[Path] = set()
    parse = module._parse

    def record(file: Path, state: str) -> object:
        parsed_files.add(file)
        return parse(file, state)

    monkeypatch.setattr(module, "_parse", record)
    version_of(package)
    parsed = {str(f.relative_to(CHECKOUT)) for f in parsed_files if f.is_relative_to(CHECKOUT)}
    assert "bench_assets/core/stats/means.py" in parsed
    assert not [name for name in parsed if name.startswith(("bench_assets/suites/", "resources/"))]


def test_versions_are_kept_in_the_home(tmp_path, monkeypatch):
    suites = load_catalog().suites
    versions = code_versions(tmp_path, suites)
    assert versions.keys() == {"", *(suite.name for suite in suites)}
    monkeypatch.setattr(module, "_version", None)  # computing a version would fail
    assert code_versions(tmp_path, suites) == versions
    # A command of one suite keeps the versions of the others.
    assert code_versions(tmp_path, suites[:1]).items() <= versions.items()
    assert code_versions(tmp_path, suites) == versions
