import re
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_assets.evaluation.suite import SuiteSettings
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.environment import default_home
from bench_resources.config.sections.cluster import POOL_LIMITS
from bench_resources.config.sections.models import RandomSpec
from bench_resources.models.registry.named_models import resolve_name
from tests.cases import read_cases

SECRET = "(?i)h1dd3n|hidden|sesame|Tr0ub4dor|0123456789abcdef|a3f1c9d27be8"


def load_toml(home: Path, text: str) -> Settings:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    return load_settings(home)


def check_toml(home: Path, text: str) -> None:
    """Read settings, and those of the suites that they name."""
    settings = load_toml(home, text)
    load_catalog(settings, only={*settings.suites}).check(settings)


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    settings = load_settings(tmp_path)
    assert (settings.home, settings.sources, settings.models) == (tmp_path, {}, {})
    assert resolve_name("random", settings).spec == RandomSpec(kind="random")


@pytest.mark.parametrize(("text", "message"), read_cases(__file__, "refused.jsonl"))
def test_a_mistake_names_file_and_entry_and_no_secret(tmp_path, text, message):
    with pytest.raises(BenchError, match=rf"bench\.toml.*{message}") as raised:
        check_toml(tmp_path, text)
    assert not re.search(SECRET, str(raised.value))
    assert raised.value.__cause__ is None  # a traceback would show its text, with the secret


def test_a_suite_reads_its_own_entries(tmp_path: Path) -> None:
    settings = load_toml(tmp_path, '[suites.codis]\njudge = "hosted"')
    assert settings.suite("codis", SuiteSettings) == SuiteSettings(judge="hosted")
    assert settings.suite("blink", SuiteSettings) == SuiteSettings(judge="rules", scorer="")


def test_bench_home_names_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    assert default_home() == tmp_path


def test_the_home_folder_is_bench_home_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_HOME", raising=False)
    assert default_home().name == "bench_home"


def test_a_path_of_a_user_without_a_home_is_taken_literally(tmp_path: Path) -> None:
    assert load_toml(tmp_path, "").resolve("~nobody-here/x") == tmp_path / "~nobody-here" / "x"


def test_pools_change_the_default_limits_and_add_to_them(tmp_path: Path) -> None:
    text = "[cluster]\nruns = 12\npools = { gpu = 8, gpu-80gb = 2 }\n"
    cluster = load_toml(tmp_path, text).cluster
    assert cluster.runs == 12
    assert cluster.limits == POOL_LIMITS | {"gpu": 8, "gpu-80gb": 2}


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
def test_dagster_records_are_shared_where_responses_and_tables_are(tmp_path, text, shared):
    assert load_toml(tmp_path, text).storage.shares_records == shared
