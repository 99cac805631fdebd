"""What counts as a change of the code that builds tables."""

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


def version(package: Path) -> str:
    return code_versions(package.parent, [replace(SUITE, code=(package,))])["codis"]


def edit(before: str, after: str) -> Callable[[Path], object]:
    def change(package: Path) -> None:
        assert before in CODE
        (package / "rows.py").write_text(CODE.replace(before, after))

    return change


@pytest.mark.parametrize(
    ("change", "counts"),
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
def test_change(package: Path, change: Callable[[Path], object], *, counts: bool) -> None:
    before = version(package)
    change(package)
    assert (version(package) != before) == counts


def test_a_moved_package_has_the_same_version(package: Path, tmp_path: Path) -> None:
    before = version(package)
    (tmp_path / "wheel").mkdir()
    moved = package.rename(tmp_path / "wheel" / "build")
    assert version(moved) == before


def test_imported_modules_count_and_others_do_not(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: set[str] = set()
    parse = module._parse

    def record(file: Path, state: str) -> object:
        read.add(str(file))
        return parse(file, state)

    monkeypatch.setattr(module, "_parse", record)
    version(package)
    own = {str(Path(name).relative_to(CHECKOUT)) for name in read if str(CHECKOUT) in name}
    assert "bench_assets/core/stats/means.py" in own
    assert not [name for name in own if name.startswith(("bench_assets/suites/", "resources/"))]


def test_versions_are_kept_in_the_home_until_a_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suites = load_catalog().suites
    versions = code_versions(tmp_path, suites)
    assert versions.keys() == {"", *(suite.name for suite in suites)}
    monkeypatch.setattr(module, "_version", None)
    assert code_versions(tmp_path, suites) == versions
    # Commands of one suite and of all take turns.
    assert code_versions(tmp_path, suites[:1]).items() <= versions.items()
    assert code_versions(tmp_path, suites) == versions
