"""The mini edition, drawn and built once for all tests that look at it."""

from pathlib import Path
from typing import NamedTuple

import pytest

from bench_assets.suites.blink.build import Built, build_all
from bench_assets.suites.blink.mini import edition as mini
from bench_assets.suites.blink.recipes import Parameters
from resources.pictures.images import ImageStore

HEIGHT = 256  # px; drawing and encoding at the paper's 1024 takes ten seconds of CPU


class MiniEdition(NamedTuple):
    folder: Path
    store: ImageStore
    built: Built


@pytest.fixture(scope="session")
def mini_edition(tmp_path_factory) -> MiniEdition:
    folder = tmp_path_factory.mktemp("blink")
    mini.write(folder / "raw")
    store = ImageStore(folder=str(folder / "images"))
    parameters = Parameters(height=HEIGHT)
    built = build_all(folder / "raw", store.put, edition="mini", seed=0, parameters=parameters)
    return MiniEdition(folder / "raw", store, built)
