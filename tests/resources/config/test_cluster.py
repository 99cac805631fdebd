"""What [cluster] may say, and what is refused because half of it is missing."""

from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import Settings, load_settings
from tests.conftest import CHECKOUT

SHARED = '[storage]\ndatabase = "env:TEAM_DATABASE"\n'
RAY = 'launcher = "ray"\naddress = "http://head:8265"\n'


def read(home: Path, text: str) -> Settings:
    (home / "bench.toml").write_text(text, encoding="utf-8")
    return load_settings(home)


def test_without_it_runs_are_processes_of_this_machine(tmp_path: Path) -> None:
    found = read(tmp_path, "").cluster
    assert (found.launcher, found.limits) == ("local", {"gpu": 1, "judge": 4})
    assert f"max_concurrent_runs: {found.runs} " in (CHECKOUT / "dagster.yaml").read_text()


def test_pools_are_added_and_changed(tmp_path: Path) -> None:
    found = read(tmp_path, "[cluster]\nruns = 12\npools = { gpu = 8, gpu-80gb = 2 }\n").cluster
    assert (found.runs, found.limits) == (12, {"gpu": 8, "judge": 4, "gpu-80gb": 2})


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('launcher = "pbs"', r"entry cluster\.launcher: .*'local', 'ray', 'slurm' or 'k8s'"),
        ("lancher = 1", r"entry cluster\.lancher: unknown; did you mean 'launcher'"),
        ("runs = 0", r"entry cluster\.runs: .*greater than or equal to 1"),
        ("runs = true", r"entry cluster\.runs: .*valid integer"),
        ('runs = "8"', r"entry cluster\.runs: .*valid integer"),
        ("pools = { gpu = 0 }", r"entry cluster\.pools\.gpu: .*greater than or equal to 1"),
        ("pools = { gpu = 1001 }", r"entry cluster\.pools\.gpu: .*less than or equal to 1000"),
        ("pools = { gpu = 1.5 }", r"entry cluster\.pools\.gpu: .*valid integer"),
        ("pools = 8", r"entry cluster\.pools: "),
        ("pools = { GPU = 1 }", r'entry cluster\.pools\.GPU.*: .*expected a name like "gpu"'),
        ('pools = { "" = 1 }', r'entry cluster\.pools\..*: .*expected a name like "gpu"'),
        ('pool_of = { "big-*" = "gpus" }', r"entry cluster: .*names gpus, .*known: gpu, judge"),
        ('address = "http://head:8265"', r'entry cluster: .*address needs launcher = "ray"'),
        ("wait_for_room = 3600", r"entry cluster: .*wait_for_room needs a cluster"),
        ("wait_for_room = -1", r"entry cluster\.wait_for_room: .*greater than or equal to 0"),
        ('launcher = "ray"', r'entry cluster: .*needs address, such as "http://head:8265"'),
        (
            'launcher = "ray"\naddress = "head:8265"',
            r"entry cluster\.address: .*expected an address",
        ),
        (
            'launcher = "ray"\naddress = "ray://head:10001"',
            r"entry cluster\.address: .*expected an address",
        ),
        (
            'launcher = "ray"\naddress = "http://me:hidden@head:8265"',
            r"entry cluster\.address: .*without a password",
        ),
    ],
)
def test_a_mistake_is_told_by_the_name_of_its_entry(tmp_path: Path, entry: str, said: str) -> None:
    with pytest.raises(SettingsError, match=said) as why:
        read(tmp_path, f"[cluster]\n{entry}\n{SHARED}")
    assert "hidden" not in str(why.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            f"[cluster]\n{RAY}",
            r'entry cluster\.launcher: "ray" .*\[storage\] database = "env:NAME" is missing',
            id="runs elsewhere are recorded in a file here",
        ),
        pytest.param(
            '[cluster]\nlauncher = "k8s"\n',
            r'entry cluster\.launcher: "k8s" .*\[storage\] database = "env:NAME" is missing',
            id="runs in pods are recorded in a file here",
        ),
        pytest.param(
            f'[cluster]\n{RAY}[storage]\nobjects = "file:///mnt/shared"\n',
            r"entry cluster\.launcher: .*\[storage\] database .* is missing",
            id="tables are shared, and records are not",
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
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        read(tmp_path, text)


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
    assert read(tmp_path, text).storage.shares_records == shared


def test_a_whole_one_is_taken(tmp_path: Path) -> None:
    whole = f'[cluster]\n{RAY}runs = 8\n{SHARED}objects = "s3://bucket/prefix"\n'
    assert read(tmp_path, whole).cluster.address == "http://head:8265"
