import shutil
from pathlib import Path

import pytest

from tests.bundles.shelf import measure, pack_bundle


@pytest.fixture(scope="module")
def shared_bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    measure(folder / "home")
    pack_bundle(folder / "home", folder / "b.zip")
    return folder / "b.zip"


@pytest.fixture
def bundle(shared_bundle, tmp_path):
    return Path(shutil.copy(shared_bundle, tmp_path))
