import sys
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import known_secrets
from bench_resources.config.stores import open_response_store, open_shared_blobs


def write_storage_section(home: Path, storage: str) -> Path:
    """Write bench.toml, and return the home."""
    (home / "bench.toml").write_text(f"[storage]\n{storage}\n", encoding="utf-8")
    return home


def test_without_a_database_responses_are_in_a_file_of_the_home(tmp_path: Path) -> None:
    store = open_response_store(load_settings(tmp_path))
    assert store.place == str(tmp_path / "responses.sqlite")


def test_a_variable_that_is_not_set_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("TEAM_DATABASE", raising=False)
    settings = load_settings(write_storage_section(tmp_path, 'database = "env:TEAM_DATABASE"'))
    with pytest.raises(SettingsError, match="the environment variable TEAM_DATABASE is not set"):
        open_response_store(settings)
    assert not (tmp_path / "responses.sqlite").exists()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bench:h1dd3n%2Dw0rd%2DQx7@db:5432/bench",
        "postgres://bench:h1dd3n-w0rd-Qx7@db1,db2/bench",
        "postgresql://db/bench?user=bench&password=h1dd3n-w0rd-Qx7",
        "host=db password=h1dd3n-w0rd-Qx7 dbname=bench",
        "host=db password = 'h1dd3n-w0rd-Qx7' dbname=bench",
    ],
)
def test_the_password_of_a_database_is_redacted(tmp_path, monkeypatch, address):
    monkeypatch.setenv("TEAM_DATABASE", address)
    secrets = known_secrets(write_storage_section(tmp_path, 'database = "env:TEAM_DATABASE"'))
    assert secrets.redacted("failed: h1dd3n-w0rd-Qx7, at db") == "failed: ***, at db"


def test_tables_lie_in_the_folder_that_objects_names(tmp_path: Path) -> None:
    settings = load_settings(write_storage_section(tmp_path, 'objects = "file:///mnt/shared/"'))
    blobs = open_shared_blobs(settings.home, "tables", **settings.storage.shared)
    assert blobs.place == "/mnt/shared/tables"


def test_tables_lie_in_the_home_by_default(tmp_path: Path) -> None:
    settings = load_settings(write_storage_section(tmp_path, 'objects = ""'))
    blobs = open_shared_blobs(settings.home, "tables", **settings.storage.shared)
    assert blobs.place == f"{tmp_path}/tables"


@pytest.mark.parametrize(
    ("package", "storage", "open_store"),
    [
        ("psycopg", 'database = "env:TEAM_DATABASE"', open_response_store),
        (
            "obstore",
            'objects = "s3://bucket/team-without"',
            lambda settings: open_shared_blobs(settings.home, "tables", **settings.storage.shared),
        ),
    ],
)
def test_without_its_driver_the_error_names_what_to_install(
    tmp_path, monkeypatch, package, storage, open_store
):
    monkeypatch.setenv("TEAM_DATABASE", "postgresql://db/bench")
    monkeypatch.setitem(sys.modules, package, None)
    message = rf"needs {package}, .*: pip install 'bench-assets\[cluster\]'"
    with pytest.raises(SettingsError, match=message):
        open_store(load_settings(write_storage_section(tmp_path, storage)))
