"""What a user configures, and what a mistake in it says."""

from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.evaluation.suite import SuiteSettings
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.environment import default_home
from bench_resources.config.sections.models import RandomSpec
from bench_resources.models.registry.named_models import resolve_name
from tests.cases import read_rows

SERVER = 'kind = "server"\nbase_url = "http://127.0.0.1:8000/v1"\nmodel = "x"\n'


def settings(home: Path, text: str) -> Settings:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    return load_settings(home)


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path)
    assert (loaded.home, loaded.sources, loaded.models) == (tmp_path, {}, {})
    assert resolve_name("random", loaded).spec == RandomSpec(kind="random")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("[models.a\n", "not a TOML file: ", id="no TOML"),
        pytest.param(
            "foo = 1",
            "entry foo: unknown; known: accept, annotation, audit, benchmarks, checkpoints",
            id="an unknown entry",
        ),
        pytest.param(
            f"[models.a]\n{SERVER}concurrency = 0",
            r"models\.a\.concurrency: .*greater than 0 \(given: 0\)",
            id="a number that cannot be",
        ),
        pytest.param(
            '[models.a]\nkind = "server"\nmodel = "x"\nbase_url = "127.0.0.1:8000/v1"',
            r"models\.a\.base_url: .*expected an address like http://",
            id="an address without http",
        ),
        pytest.param(
            '[models."a,b"]\nkind = "random"',
            r"entry models\.a,b.*should match pattern",
            id="a name with a comma cannot be a partition",
        ),
    ],
)
def test_a_mistake_names_file_and_entry(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError, match=f"{tmp_path / 'bench.toml'}.*{message}"):
        settings(tmp_path, text)


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


# What [cluster] may say, and what is refused because half of it is missing.


SHARED = '[storage]\ndatabase = "env:TEAM_DATABASE"\n'
RAY = 'launcher = "ray"\naddress = "http://head:8265"\n'


def test_pools_are_added_and_changed(tmp_path: Path) -> None:
    loaded = settings(tmp_path, "[cluster]\nruns = 12\npools = { gpu = 8, gpu-80gb = 2 }\n").cluster
    assert (loaded.runs, loaded.limits) == (12, {"gpu": 8, "judge": 4, "server": 4, "gpu-80gb": 2})


@pytest.mark.parametrize(("entry", "message"), read_rows(__file__, "refused_entries.jsonl"))
def test_a_mistake_names_its_entry(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message) as raised:
        settings(tmp_path, f"[cluster]\n{entry}\n{SHARED}")
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            f"[cluster]\n{RAY}",
            r'entry cluster\.launcher: "ray" .*\[storage\] database = "env:NAME" is missing',
            id="runs elsewhere are recorded in a file here",
        ),
        pytest.param(
            f"[cluster]\n{RAY}{SHARED}",
            r'entry cluster\.launcher: "ray" .*\[storage\] objects .* on the leaderboard',
            id="records are shared, and tables are not",
        ),
        pytest.param(
            f'[models.mine]\nkind = "auto"\npath = "a"\n[cluster]\n{RAY}{SHARED}',
            r'entry models\.mine\.kind: "auto" depends on the machine',
            id="each machine would choose its engine",
        ),
    ],
)
def test_what_would_lose_something_in_silence_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        settings(tmp_path, text)


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


# An entry of bench.toml that nothing reads is refused wherever it stands; the nearest is named.


FILE = '[benchmarks.b]\nfile = "b.jsonl"\n'


def checked(home: Path, text: str) -> None:
    loaded = settings(home, text)
    load_catalog(loaded, only={*loaded.suites}).check(loaded)


@pytest.mark.parametrize(
    ("text", "place", "meant"),
    [
        pytest.param("[model.x]", "entry model", "models", id="a section"),
        pytest.param(
            f"[models.a]\n{SERVER}concurency = 3",
            "models.a.concurency",
            "concurrency",
            id="a model",
        ),
        pytest.param(f"{FILE}imagefolder = 'x'", "b.imagefolder", "image_folder", id="a benchmark"),
        pytest.param("[suites.codis]\nscorr = 'x'", "entry scorr", "scorer", id="a suite"),
        pytest.param(
            "[suites.journeybench.encoders.e]\npath = 'x'\nrevison = 'y'",
            "encoders.e.revison",
            "revision",
            id="an encoder, two tables below a suite",
        ),
    ],
)
def test_the_entry_and_the_nearest_name_are_shown(
    tmp_path: Path, text: str, place: str, meant: str
) -> None:
    with pytest.raises(BenchError, match=f"bench.toml.*{place}.*did you mean '{meant}'"):
        checked(tmp_path, text)


@pytest.mark.parametrize("text", ["home = '/'", "[home]"])
def test_the_home_is_no_entry(tmp_path: Path, text: str) -> None:
    with pytest.raises(BenchError, match="entry home: unknown"):
        checked(tmp_path, text)
