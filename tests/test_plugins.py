"""What other packages add is found by their entry points; one that is broken stops no other."""

from hashlib import sha256

import pytest

from bench_assets.plugins import find_plugins
from tests.distributions import write_distribution

GROUP = "bench_assets.tests"


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_what_several_packages_add_is_found_with_the_code_that_it_is_written_in(site):
    write_distribution(site, "acme", {GROUP: {"one": "plug_alone:ONE"}}, plug_alone="ONE = 'one'")
    write_distribution(site, "brim", {GROUP: {"two": "plug_pack.inner:TWO"}})
    (site / "plug_pack").mkdir()
    (site / "plug_pack" / "__init__.py").touch()
    (site / "plug_pack" / "inner.py").write_text("TWO = 'two'")
    plugins = find_plugins(GROUP, str)
    assert plugins.found == {"one": "one", "two": "two"}
    assert plugins.code == {"one": site / "plug_alone.py", "two": site / "plug_pack"}
    assert plugins.problems == []


@pytest.mark.parametrize(
    ("written", "why"),
    [
        pytest.param("import nothing_of_this_name", "ModuleNotFoundError", id="a missing library"),
        pytest.param("1 / 0", "ZeroDivisionError: division by zero", id="any error"),
        pytest.param("raise SystemExit(3)", "SystemExit: 3", id="a script that ends the program"),
        pytest.param("ONE = (", "SyntaxError", id="no Python"),
        pytest.param("TWO = 'two'", "AttributeError", id="no object of that name"),
        pytest.param("ONE = 1", "it is of type int, expected str", id="another type"),
    ],
)
def test_one_that_cannot_be_used_is_told_of_by_name_and_the_others_load(site, written, why):
    module = "plug_" + sha256(written.encode()).hexdigest()[:8]
    write_distribution(site, "acme", {GROUP: {"one": f"{module}:ONE"}}, **{module: written})
    write_distribution(site, "brim", {GROUP: {"fine": "plug_fine:FINE"}}, plug_fine="FINE = 'so'")
    plugins = find_plugins(GROUP, str)
    assert plugins.found == {"fine": "so"}
    (problem,) = plugins.problems
    assert problem.startswith(f"acme 1.0, entry point one = '{module}:ONE' of {GROUP}, is left out")
    assert why in problem


@pytest.mark.parametrize(
    ("owners", "keeper"),
    [
        pytest.param(("acme", "bench-assets"), "bench-assets", id="this project"),
        pytest.param(("zulu", "acme"), "acme", id="the first of the alphabet"),
    ],
)
def test_a_name_that_is_taken_twice_is_kept_by(site, owners, keeper):
    for owner in owners:
        module = f"plug_of_{owner.replace('-', '_')}"
        entries = {"shared": f"{module}:ME", owner: f"{module}:ME"}
        write_distribution(site, owner, {GROUP: entries}, **{module: f"ME = {owner!r}"})
    plugins = find_plugins(GROUP, str)
    assert plugins.found == {"shared": keeper} | dict(zip(owners, owners, strict=True))
    (problem,) = plugins.problems
    (other,) = set(owners) - {keeper}
    assert problem.startswith(f"{other} 1.0, entry point shared = ")
    assert f"the name is taken by {plugins.origins['shared']};" in problem
    assert plugins.origins["shared"].startswith(f"{keeper} 1.0, entry point shared = ")


def test_a_group_that_nobody_adds_to_is_empty():
    plugins = find_plugins("bench_assets.nothing", str)
    assert (plugins.found, plugins.problems) == ({}, [])
