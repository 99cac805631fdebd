import sys

import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints import torchvision_operators


def test_a_torchvision_that_cannot_be_imported_is_a_model_error(monkeypatch):
    monkeypatch.setattr(torchvision_operators, "find_spec", lambda _: "installed")
    monkeypatch.setitem(sys.modules, "torchvision", None)  # an import raises ImportError
    with pytest.raises(ModelError, match="the installed torchvision does not match torch"):
        torchvision_operators.enable_torchvision.__wrapped__()
