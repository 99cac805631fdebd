"""What the tests here share."""

import shutil
from pathlib import Path

import pytest

from tests.bundles.shelf import measure, packed


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    measure(folder / "home")
    packed(folder / "home", folder / "b.zip")
    return folder / "b.zip"


@pytest.fixture
def bundle(whole, tmp_path):
    return Path(shutil.copy(whole, tmp_path))
