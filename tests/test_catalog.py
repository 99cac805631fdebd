import pytest
from typer.testing import CliRunner

from bench_assets.catalog import load_catalog
from bench_assets.cli.main import app
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import SourceFiles
from tests.fakes.fridge import GROUP, install_fridge

SHIPPED = ("blink", "codis", "cogbench", "journeybench", "multi")


def test_shipped_and_installed_suites_are_in_alphabetical_order(site):
    module = install_fridge(site)
    catalog = load_catalog()
    assert catalog.problems == ()
    assert catalog.names == tuple(sorted(("fridge", *SHIPPED)))
    assert catalog.suite("fridge").code == (module,)
    assert [path.name for path in catalog.suite("codis").code] == ["codis"]


def test_only_requested_suites_are_imported_and_the_others_still_have_names(site):
    install_fridge(site, "fridge_not_wanted", "raise RuntimeError")
    catalog = load_catalog(only=["codis"])
    assert (catalog.names, catalog.problems) == (("codis",), ())
    with pytest.raises(UnknownNameError, match=r"blink, .*fridge"):
        catalog.tasks_of("cods")


@pytest.mark.parametrize(
    ("statement", "expected_problems"),
    [
        pytest.param("SUITE = TASK", ["it is of type Task, expected Suite"], id="no suite"),
        pytest.param(
            "SUITE = Suite(name='fridge', tasks=(), assets=list)", ["no tasks"], id="no tasks"
        ),
        pytest.param(
            "SUITE = Suite(name='cooler', tasks=(TASK,), assets=list)",
            [
                "'cooler' is not the name of its entry point",
                "task fridge: its name should begin with",
            ],
            id="another name",
        ),
    ],
)
def test_an_unusable_suite_is_reported_and_the_others_load(
    site, request, statement, expected_problems
):
    install_fridge(site, f"fridge_{request.node.callspec.id.replace(' ', '_')}", statement)
    catalog = load_catalog()
    assert catalog.names == SHIPPED
    (problem,) = catalog.problems
    assert problem.startswith("fridge-bench 1.0, entry point fridge")
    assert [expected for expected in expected_problems if expected not in problem] == []


@pytest.mark.parametrize(
    ("fields", "expected_message"),
    [
        pytest.param(
            "published=type('Odd', (type(Path()),), {'is_file': lambda path: 1 / 0})('a.csv')",
            "is left out: ZeroDivisionError",
            id="an object whose methods raise",
        ),
        pytest.param(
            "assets=lambda: [questions, None]",
            "None is neither an asset nor an asset check",
            id="no asset",
        ),
    ],
)
def test_a_suite_that_raises_is_reported_by_its_entry_point(
    site, home, request, fields, expected_message
):
    module = f"fridge_raises_{request.node.callspec.id.replace(' ', '_')}"
    install_fridge(
        site,
        module,
        "from dataclasses import replace; from pathlib import Path\n"
        f"SUITE = replace(SUITE, {fields})",
    )
    with Workbench(load_settings(home)) as bench:
        assert bench.catalog.names == SHIPPED
        (problem,) = bench.catalog.problems
    assert problem.startswith(f"fridge-bench 1.0, entry point fridge = '{module}:SUITE' of {GROUP}")
    assert expected_message in problem


def test_a_section_with_the_name_of_a_suite_is_left_out(home):
    (home / "bench.toml").write_text('[benchmarks.codis]\nfile = "a"\njudge = "m"\n')
    settings = load_settings(home)
    catalog = load_catalog(settings)
    assert catalog.names == SHIPPED
    (problem,) = catalog.problems
    assert problem.startswith(f"{home}/bench.toml, [benchmarks.codis], is left out: ")
    assert "another suite of this name: bench-assets " in problem
    assert settings.suite("codis", catalog.suite("codis").settings).judge == "rules"
    assert SourceFiles(settings=load_settings(home)).open("codis").is_mini


@pytest.mark.parametrize(
    ("toml", "error", "expected_message"),
    [
        pytest.param(
            "[suites.codis]\ncaptoner = 'x'",
            SettingsError,
            r"bench.toml, \[suites.codis\]: entry captoner: unknown; did you mean 'captioner'",
            id="an entry that its suite does not know",
        ),
        pytest.param(
            "[annotation.tasks.'codis/vote']",
            UnknownNameError,
            r"annotation task, in .*bench.toml.*'codis/vote'.*did you mean 'codis/votes'",
            id="an annotation task that its suite has not",
        ),
    ],
)
def test_a_mistake_in_the_settings_of_a_suite_is_reported(home, toml, error, expected_message):
    (home / "bench.toml").write_text(toml)
    with pytest.raises(error, match=expected_message):
        load_catalog().check(load_settings(home))
    result = CliRunner().invoke(app, ["tables", "questions", "codis"])
    assert result.exit_code == 1
    assert "error: " in result.stderr


def test_settings_of_a_suite_that_cannot_be_imported_are_no_mistake(site, home):
    install_fridge(site, "fridge_broken", "1 / 0")
    (home / "bench.toml").write_text("[sources]\nfridge = '.'\n[suites.fridge]\nany = 1\n")
    load_catalog().check(load_settings(home))
    result = CliRunner().invoke(app, ["tables", "questions", "cods"])
    assert result.stderr.count("warning: fridge-bench 1.0, entry point fridge") == 1
    assert "error: no suite named 'cods'; known: blink" in result.stderr
