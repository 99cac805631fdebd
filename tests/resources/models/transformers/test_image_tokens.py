"""Tokens of images, counted by hand for each kind of family."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.image_tokens import ImageTokens
from bench_resources.models.transformers.processor import load_processor
from tests.families import releases
from tests.resources.models.transformers.tiny_engine import spec_of

RELEASES = {
    "Qwen2.5-VL": "qwen2_5_vl",
    "InternVL": "internvl",
    "LLaVA-NeXT": "llava_next",
    "SmolVLM": "smolvlm",
    "Idefics2": "idefics2",
    "LLaVA-1.5": "llava",
}


@cache
def home() -> "TemporaryDirectory[str]":
    return TemporaryDirectory()  # goes when Python ends


@cache
def folder_of(family: str) -> Path:
    folder = Path(home().name, family)
    releases.build(RELEASES[family], folder)
    return folder


def processor_of(family: str) -> Any:
    folder = folder_of(family)
    return load_processor(spec_of(folder), pin(str(folder)))


@pytest.mark.parametrize(
    ("family", "size", "expected"),
    [
        # A token is 28 x 28 px; sides are rounded to multiples of that.
        pytest.param("Qwen2.5-VL", (280, 140), 10 * 5, id="Qwen2.5-VL: by area"),
        pytest.param("Qwen2.5-VL", (290, 130), 10 * 5, id="Qwen2.5-VL: rounded"),
        # Tiles of 56 x 56 px and a small copy of the whole, 4 tokens each, and two marks around.
        pytest.param("InternVL", (56, 56), 4 + 2, id="InternVL: one tile needs no copy"),
        pytest.param("InternVL", (224, 56), (4 + 1) * 4 + 2, id="InternVL: four tiles in a row"),
        # 16 of the whole; of a 112 x 112 grid 8 x 8, each of 8 rows with an end of line.
        pytest.param("LLaVA-NeXT", (200, 200), 16 + 8 * (8 + 1), id="LLaVA-NeXT: a square grid"),
        pytest.param("LLaVA-NeXT", (112, 56), 16 + 4 * (8 + 1), id="LLaVA-NeXT: a wide grid"),
        pytest.param("LLaVA-1.5", (640, 480), 16, id="LLaVA-1.5: 4 x 4 patches, always"),
    ],
)
def test_tokens_of_an_image(family: str, size: tuple[int, int], expected: int) -> None:
    assert ImageTokens(processor_of(family)).of(*size) == expected


def test_a_family_that_makes_one_size_is_known_by_it() -> None:
    tokens = ImageTokens(processor_of("Idefics2"))
    assert tokens.of(640, 480) == tokens.of(1, 7) == 4 + 2  # with a mark before and behind
