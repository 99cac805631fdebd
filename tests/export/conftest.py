from pathlib import Path

import pytest

from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import measure, questions


@pytest.fixture
def home(tmp_path: Path) -> Path:
    measure(TableFiles(folder=str(tmp_path / "tables")), questions("published"))
    return tmp_path
