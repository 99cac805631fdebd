"""What [storage] may say, and that no password of a database is told."""

import sys
from pathlib import Path

import pytest

from bench_assets.core.errors import SettingsError
from resources.replies.store import ReplyStore
from resources.settings.bench_toml import known_secrets, load_settings
from resources.settings.stores import remembered_replies, replies_of


def written(home: Path, storage: str) -> Path:
    (home / "bench.toml").write_text(f"[storage]\n{storage}\n", encoding="utf-8")
    return home


def test_without_it_replies_are_in_a_file_of_the_home(tmp_path: Path) -> None:
    settings = load_settings(tmp_path)
    assert remembered_replies(settings) is None
    store = replies_of(settings)
    assert isinstance(store, ReplyStore)
    assert store.file == tmp_path / "replies.sqlite"
    assert remembered_replies(settings) is not None


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bench:hidden-word@db/bench",
        "host=db password=hidden-word",
        "env:",
        "env:9NAME",
        "env:MY NAME",
        "env:NAME ",
        "ENV:NAME",
        "$BENCH_DATABASE",
        "BENCH_DATABASE",
        "sqlite:///replies",
    ],
)
def test_anything_but_the_name_of_a_variable_is_refused_and_not_told(
    tmp_path: Path, address: str
) -> None:
    with pytest.raises(SettingsError, match=r'entry storage\.database: .* "env:NAME"') as why:
        load_settings(written(tmp_path, f'database = "{address}"'))
    assert "hidden-word" not in str(why.value)


@pytest.mark.parametrize("name", ["databse", "objects", "endpoint"])
def test_what_is_no_entry_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match=f"entry storage.{name}: "):
        load_settings(written(tmp_path, f'{name} = "s3://bucket"'))


def test_a_variable_that_is_not_set_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEAM_DATABASE", raising=False)
    settings = load_settings(written(tmp_path, 'database = "env:TEAM_DATABASE"'))
    with pytest.raises(SettingsError, match="the environment variable TEAM_DATABASE is not set"):
        replies_of(settings)
    assert not (tmp_path / "replies.sqlite").exists()


def test_without_the_driver_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_DATABASE", "postgresql://db/bench")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    settings = load_settings(written(tmp_path, 'database = "env:TEAM_DATABASE"'))
    with pytest.raises(
        SettingsError, match=r"needs psycopg: pip install 'bench-assets\[cluster\]'"
    ):
        replies_of(settings)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://bench:hidden-word@db:5432/bench",
        "postgres://bench:hidden-word@db1,db2/bench",
        "postgresql://db/bench?user=bench&password=hidden-word",
        "host=db password=hidden-word dbname=bench",
        "host=db password = 'hidden-word' dbname=bench",
    ],
)
def test_the_password_of_a_database_is_known_as_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("TEAM_DATABASE", address)
    secrets = known_secrets(written(tmp_path, 'database = "env:TEAM_DATABASE"'))
    assert secrets.redacted("failed: hidden-word, at db") == "failed: ***, at db"


def test_a_password_with_odd_letters_is_known_as_it_is_and_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_DATABASE", "postgresql://bench:hidden%2Fword%20x@db/bench")
    secrets = known_secrets(written(tmp_path, 'database = "env:TEAM_DATABASE"'))
    assert secrets.redacted("hidden/word x, hidden%2Fword%20x") == "***, ***"
