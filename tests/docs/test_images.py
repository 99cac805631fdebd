"""The README's images show the models and tasks of this checkout, in light and dark."""

import json
import re
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from tests.docs.blocks import CHECKOUT

FOLDER = CHECKOUT / "docs"


@pytest.fixture(scope="module")
def screenshots() -> ModuleType:
    pytest.importorskip("playwright")
    spec = spec_from_file_location("screenshots", FOLDER / "screenshots.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_has_each_image_in_light_and_dark(screenshots: ModuleType) -> None:
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"docs/images/([\w-]+)\.png", text))
    assert named == {
        f"{name}-{scheme}" for name in screenshots.README for scheme in screenshots.SCHEMES
    }
    assert all((FOLDER / "images" / f"{name}.png").is_file() for name in named)


def test_the_images_are_not_older_than_what_they_show(screenshots: ModuleType) -> None:
    kept = json.loads(screenshots.SHOWN.read_text(encoding="utf-8"))
    assert kept == screenshots.shown(), "make demo screenshots takes them anew"
