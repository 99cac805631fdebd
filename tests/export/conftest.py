"""A home in which a quiz was measured."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import measure, questions


@pytest.fixture
def home(tmp_path: Path) -> Path:
    measure(TableFiles(folder=str(tmp_path / "tables")), questions("published"))
    return tmp_path


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    """A home in which the quiz has images: one with the first question, two with the others."""
    file = BytesIO()
    Image.new("RGB", (20, 20), "red").save(file, "PNG")
    image = ImageStore(folder=str(tmp_path / "images")).put(file.getvalue(), "red.png")
    rows = questions("mini", image.sha256)
    measure(TableFiles(folder=str(tmp_path / "tables")), rows)
    return tmp_path
