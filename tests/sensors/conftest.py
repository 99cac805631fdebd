from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.sensors.watched import Daemon, record_question_tables, watch_runs


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield record_question_tables(ephemeral)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs"


@pytest.fixture
def daemon(tmp_path: Path, runs: Path, instance: dg.DagsterInstance) -> Daemon:
    return Daemon(watch_runs(tmp_path / "home", suites='["codis", "blink"]'), instance)
