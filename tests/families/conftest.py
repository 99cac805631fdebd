"""What the families' tests need before anything of transformers is imported."""

import pytest

from resources.checkpoints.torchvision_operators import let_torchvision_load


@pytest.fixture(scope="session", autouse=True)
def _torchvision() -> None:
    let_torchvision_load()
