from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from PIL import Image

from bench_assets.core.images.drawing import Mark, Point, draw_labelled_circles
from bench_assets.core.tables.source_folder import write_files
from bench_assets.suites.blink.builders import drafts
from bench_assets.suites.blink.construction.recipes import RECIPES, BuilderParameters
from bench_assets.suites.blink.synthetic import edition as mini
from bench_resources.images.store import ImageStore
from tests.fakes.blink_builds import Built, build_all

PARTIAL_EDITION = {  # folders of raw data that are quick to draw, with the task of each
    "diw": "Relative_Depth",
    "funkpoint": "Functional_Correspondence",
    "lvis": "Object_Localization",
    "photographs": "Jigsaw",
    "puzzles": "IQ_Test",
    "spair": "Semantic_Correspondence",
    "tallyqa": "Counting",
    "vsr": "Spatial_Relation",
}
HEIGHT = 256  # px; drawing and encoding at the paper's 1024 takes ten seconds of CPU


class MiniEdition(NamedTuple):
    folder: Path
    store: ImageStore
    result: Built
    tasks: tuple[str, ...]


@pytest.fixture(scope="session")
def whole_edition(tmp_path_factory) -> MiniEdition:
    folder = tmp_path_factory.mktemp("blink")
    mini.write(folder / "raw")
    return build_edition(folder, sorted(RECIPES))


@pytest.fixture(scope="session", params=["part", pytest.param("whole", marks=pytest.mark.long)])
def mini_edition(request, tmp_path_factory) -> MiniEdition:
    """Eight of the fourteen tasks, or all: drawing and building the other six takes ten seconds."""
    if request.param == "whole":
        return request.getfixturevalue("whole_edition")
    folder = tmp_path_factory.mktemp("blink-part")
    for name in PARTIAL_EDITION:
        write_files(folder / "raw" / name, mini.material(name, 0))
    return build_edition(folder, sorted(PARTIAL_EDITION.values()))


@pytest.fixture
def circles(monkeypatch) -> list[dict[str, Point]]:
    """Circled points by label, in px of the image as it is shown; one dict for each image."""
    circled: list[dict[str, Point]] = []

    def draw(image: Image.Image, marks: Sequence[Mark], **style: Any) -> Image.Image:
        circled.append({mark.label: mark.point for mark in marks})
        return draw_labelled_circles(image, marks, **style)

    monkeypatch.setattr(drafts, "draw_labelled_circles", draw)
    return circled


def build_edition(folder: Path, tasks: Iterable[str]) -> MiniEdition:
    store = ImageStore(folder=str(folder / "images"))
    result = build_all(folder / "raw", store=store.put, parameters=BuilderParameters(height=HEIGHT))
    return MiniEdition(folder=folder / "raw", store=store, result=result, tasks=tuple(tasks))
