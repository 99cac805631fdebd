"""`bench home migrate` without a database; with one: tests/workspace/test_shared_responses.py."""

from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.workspace.maintain.migration import migrate
from bench_resources.config.bench_toml import load_settings


def test_a_home_without_a_database_is_refused_with_what_to_configure(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no database is configured\. Set \[storage\]"):
        migrate(load_settings(tmp_path), back=False)
