"""Benchmarks come in by entry points: shipped ones, installed ones, and none that is broken."""

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


@pytest.fixture
def site(tmp_path, monkeypatch):
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


@pytest.fixture
def home(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_the_shipped_suites_come_in_by_the_same_door_in_the_order_of_the_alphabet(site):
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
    ("more", "why"),
    [
        pytest.param("SUITE = TASK", "it is of type Task, expected Suite", id="no suite"),
        pytest.param(
            "SUITE = Suite(name='fridge', tasks=(), assets=list)", "no tasks", id="no tasks"
        ),
        pytest.param(
            "SUITE = Suite(name='cooler', tasks=(TASK,), assets=list)",
            "'cooler' is not the name of its entry point; task fridge: its name should begin with",
            id="another name",
        ),
    ],
)
def test_one_that_cannot_be_used_is_reported_once_and_the_others_load(site, request, more, why):
    install_fridge(site, f"fridge_{request.node.callspec.id.replace(' ', '_')}", more)
    catalog = load_catalog()
    assert catalog.names == SHIPPED
    (problem,) = catalog.problems
    assert problem.startswith("fridge-bench 1.0, entry point fridge")
    assert why in problem or all(part in problem for part in why.split("; "))


_BROKEN = [
    pytest.param(
        "published=type('Odd', (type(Path()),), {'is_file': lambda path: 1 / 0})('a.csv')",
        "is left out: ZeroDivisionError",
        id="an object that raises when it is looked at",
    ),
    pytest.param(
        "assets=lambda: None",
        "its assets cannot be loaded: TypeError: 'NoneType' object is not iterable",
        id="no assets",
    ),
    pytest.param(
        "assets=lambda: [questions, None]",
        "None is neither an asset nor an asset check",
        id="no asset",
    ),
]


@pytest.mark.parametrize(("fields", "why"), _BROKEN)
def test_one_that_always_raises_is_reported_by_name_and_the_others_stay(
    site, home, request, fields, why
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
    assert why in problem


def test_a_section_whose_name_a_suite_has_is_left_out_and_changes_nothing_of_that_suite(home):
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
    ("written", "error", "why"),
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
def test_a_mistake_in_the_settings_of_a_suite_is_reported_at_the_start(home, written, error, why):
    (home / "bench.toml").write_text(written)
    with pytest.raises(error, match=why):
        load_catalog().check(load_settings(home))
    shown = CliRunner().invoke(app, ["tables", "questions", "codis"])
    assert (shown.exit_code, "error: " in shown.stderr) == (1, True)


def test_a_suite_that_breaks_stops_no_other_and_its_settings_stay_right(site, home):
    install_fridge(site, "fridge_broken", "1 / 0")
    (home / "bench.toml").write_text("[sources]\nfridge = '.'\n[suites.fridge]\nany = 1\n")
    load_catalog().check(load_settings(home))
    shown = CliRunner().invoke(app, ["tables", "questions", "cods"])
    assert shown.stderr.count("warning: fridge-bench 1.0, entry point fridge") == 1
    assert "error: no suite named 'cods'; known: blink" in shown.stderr
