from hashlib import sha256

import pytest

from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.plugins import find_owners, find_plugins, plugin_error_reporting
from tests.cases import read_cases
from tests.fakes.distributions import write_distribution

GROUP = "bench_assets.tests"


def test_plugins_of_several_packages_are_found_with_the_files_of_their_code(site):
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
    ("code", "expected_reason"), read_cases(__file__, "unusable_plugins.jsonl")
)
def test_an_unusable_plugin_is_reported_by_name_and_the_others_load(site, code, expected_reason):
    module = "plug_" + sha256(code.encode()).hexdigest()[:8]
    write_distribution(site, "acme", {GROUP: {"one": f"{module}:ONE"}}, **{module: code})
    write_distribution(site, "brim", {GROUP: {"fine": "plug_fine:FINE"}}, plug_fine="FINE = 'so'")
    plugins = find_plugins(GROUP, str)
    assert plugins.objects == {"fine": "so"}
    (problem,) = plugins.problems
    assert problem.startswith(f"acme 1.0, entry point one = '{module}:ONE' of {GROUP}, is left out")
    assert expected_reason in problem
    assert expected_reason in plugins.unusable["one"]
    assert "(acme 1.0, entry point one = " in plugins.unusable["one"]
    assert (set(plugins.origins), set(plugins.code)) == ({"fine"}, {"fine"})


@pytest.mark.parametrize(
    ("owners", "keeper", "loser"),
    [
        pytest.param(("acme", "bench-assets"), "bench-assets", "acme", id="this project"),
        pytest.param(("zulu", "acme"), "acme", "zulu", id="the first of the alphabet"),
    ],
)
def test_a_name_of_two_packages_belongs_to_the_preferred_one(site, owners, keeper, loser):
    for owner in owners:
        module = f"plug_of_{owner.replace('-', '_')}"
        entry_points = {"shared": f"{module}:ME", owner: f"{module}:ME"}
        write_distribution(site, owner, {GROUP: entry_points}, **{module: f"ME = {owner!r}"})
    plugins = find_plugins(GROUP, str)
    assert plugins.objects == {"shared": keeper, keeper: keeper, loser: loser}
    (problem,) = plugins.problems
    assert problem.startswith(f"{loser} 1.0, entry point shared = ")
    assert f"the name is taken by {plugins.origins['shared']};" in problem
    assert plugins.origins["shared"].startswith(f"{keeper} 1.0, entry point shared = ")
    assert plugins.unusable == {}
    assert find_owners(GROUP) == plugins.origins


@pytest.mark.parametrize(
    ("error", "message"),
    [(KeyError("a b"), r"^KeyError: 'a b'$"), (SystemExit(3), r"^SystemExit: 3$")],
)
def test_an_error_of_a_plugin_becomes_a_settings_error_of_one_line(error, message):
    with pytest.raises(SettingsError, match=message), plugin_error_reporting():
        raise error


@pytest.mark.parametrize(
    ("error", "passed_through"),
    [(ModelError("no weights"), ()), (KeyError("a"), (KeyError,)), (KeyboardInterrupt(), ())],
)
def test_our_own_errors_expected_errors_and_interrupts_pass_unchanged(error, passed_through):
    with pytest.raises(type(error)) as raised, plugin_error_reporting(*passed_through):
        raise error
    assert raised.value is error
