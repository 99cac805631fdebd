"""What a user configures, and what a mistake in it says."""

import re
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.evaluation.suite import SuiteSettings
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.environment import default_home
from bench_resources.config.sections.models import RandomSpec
from bench_resources.models.registry.named_models import resolve_name
from tests.cases import read_cases

SECRET = "(?i)h1dd3n|hidden|sesame|Tr0ub4dor|0123456789abcdef|a3f1c9d27be8"


def settings(home: Path, text: str) -> Settings:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    return load_settings(home)


def check(home: Path, text: str) -> None:
    """Read settings, and those of the suites that they name."""
    loaded = settings(home, text)
    load_catalog(loaded, only={*loaded.suites}).check(loaded)


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path)
    assert (loaded.home, loaded.sources, loaded.models) == (tmp_path, {}, {})
    assert resolve_name("random", loaded).spec == RandomSpec(kind="random")


@pytest.mark.parametrize(("text", "message"), read_cases(__file__, "refused.jsonl"))
def test_a_mistake_names_file_and_entry_and_no_secret(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(BenchError, match=rf"bench\.toml.*{message}") as raised:
        check(tmp_path, text)
    assert not re.search(SECRET, str(raised.value))
    assert raised.value.__cause__ is None  # whose text would be told with ours


def test_a_suite_reads_its_own_entries(tmp_path: Path) -> None:
    loaded = settings(tmp_path, '[suites.codis]\njudge = "hosted"')
    assert loaded.suite("codis", SuiteSettings) == SuiteSettings(judge="hosted")
    assert loaded.suite("blink", SuiteSettings) == SuiteSettings(judge="rules", scorer="")


def test_the_home_folder_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    assert default_home() == tmp_path
    monkeypatch.delenv("BENCH_HOME")
    assert default_home().name == "bench_home"


def test_pools_are_added_and_changed(tmp_path: Path) -> None:
    loaded = settings(tmp_path, "[cluster]\nruns = 12\npools = { gpu = 8, gpu-80gb = 2 }\n").cluster
    assert (loaded.runs, loaded.limits) == (12, {"gpu": 8, "judge": 4, "server": 4, "gpu-80gb": 2})


SHARED = '[storage]\ndatabase = "env:TEAM_DATABASE"\n'


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        pytest.param("", False, id="one home alone"),
        pytest.param(SHARED, False, id="responses alone"),
        pytest.param('[storage]\nobjects = "file:///mnt/shared"\n', False, id="tables alone"),
        pytest.param(f'{SHARED}objects = "file:///mnt/shared"\n', True, id="both"),
    ],
)
def test_dagster_records_in_common_where_tables_are_in_common(
    tmp_path: Path, text: str, shared: bool
) -> None:
    assert settings(tmp_path, text).storage.shares_records == shared
