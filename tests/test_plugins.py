"""What other packages add is found by their entry points; one that is broken stops no other."""

from hashlib import sha256

import pytest

from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.plugins import find_owners, find_plugins, plugin_error_reporting
from tests.fakes.distributions import write_distribution

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
    assert plugins.objects == {"one": "one", "two": "two"}
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
        pytest.param(
            "raise ImportError('no CUDA\\n  on this machine')",
            "it cannot be imported: ImportError: no CUDA on this machine",
            id="a reason of several lines",
        ),
    ],
)
def test_one_that_cannot_be_used_is_reported_by_name_and_the_others_load(site, written, why):
    module = "plug_" + sha256(written.encode()).hexdigest()[:8]
    write_distribution(site, "acme", {GROUP: {"one": f"{module}:ONE"}}, **{module: written})
    write_distribution(site, "brim", {GROUP: {"fine": "plug_fine:FINE"}}, plug_fine="FINE = 'so'")
    plugins = find_plugins(GROUP, str)
    assert plugins.objects == {"fine": "so"}
    (problem,) = plugins.problems
    assert problem.startswith(f"acme 1.0, entry point one = '{module}:ONE' of {GROUP}, is left out")
    assert why in problem
    assert why in plugins.unusable["one"]
    assert "(acme 1.0, entry point one = " in plugins.unusable["one"]
    assert (set(plugins.origins), set(plugins.code)) == ({"fine"}, {"fine"})


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
    assert plugins.objects == {"shared": keeper} | dict(zip(owners, owners, strict=True))
    (problem,) = plugins.problems
    (other,) = set(owners) - {keeper}
    assert problem.startswith(f"{other} 1.0, entry point shared = ")
    assert f"the name is taken by {plugins.origins['shared']};" in problem
    assert plugins.origins["shared"].startswith(f"{keeper} 1.0, entry point shared = ")
    assert plugins.unusable == {}
    assert find_owners(GROUP) == plugins.origins


def test_what_a_strangers_object_raises_is_one_line_and_our_own_errors_pass():
    with pytest.raises(SettingsError, match=r"^KeyError: 'a b'$"), plugin_error_reporting():
        raise KeyError("a b")
    with pytest.raises(SettingsError, match=r"^SystemExit: 3$"), plugin_error_reporting():
        raise SystemExit(3)
    with pytest.raises(ModelError, match=r"^no weights$"), plugin_error_reporting():
        raise ModelError("no weights")
    with pytest.raises(KeyError), plugin_error_reporting(KeyError):
        raise KeyError
    with pytest.raises(KeyboardInterrupt), plugin_error_reporting():
        raise KeyboardInterrupt
