"""Tokens of images, counted by hand for each kind of family, and kept within a limit."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as PILImage

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.image_tokens import ImageTokens, limit_tokens
from bench_resources.models.transformers.processor import load_processor
from tests.families import idefics, llava, qwen, tiles
from tests.resources.models.transformers.tiny_engine import spec_of

Build = Callable[[Path], None]

BUILDS: dict[str, Build] = {
    "Qwen2.5-VL": qwen.qwen2_5_vl,
    "InternVL": tiles.internvl3,
    "LLaVA-NeXT": llava.llava_next,
    "Idefics3": idefics.idefics3,
    "SmolVLM": idefics.smolvlm,
    "Idefics2": idefics.idefics2,
    "LLaVA-1.5": llava.llava_1_5,
}


@cache
def home() -> "TemporaryDirectory[str]":
    return TemporaryDirectory()  # goes when Python ends


@cache
def folder_of(family: str) -> Path:
    folder = Path(home().name, family)
    BUILDS[family](folder)
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


@pytest.mark.parametrize(
    ("family", "limit", "size", "expected"),
    [
        # 50 tokens are 39200 px: a square of 7 x 7.
        pytest.param("Qwen2.5-VL", 50, (1000, 1000), 49, id="Qwen2.5-VL: the area shrinks"),
        pytest.param("Qwen2.5-VL", 50, (140, 140), 25, id="Qwen2.5-VL: a small one stays"),
        # (n + 1) tiles of 4 tokens and two marks: 5 tiles are 26, 6 are 30.
        pytest.param("InternVL", 26, (560, 112), 26, id="InternVL: five tiles and a copy"),
        pytest.param("InternVL", 10, (1000, 1000), 6, id="InternVL: one tile"),
        # Without 112 x 112 (88 tokens): 168 x 56, 16 + 4 * (12 + 1) = 68.
        pytest.param("LLaVA-NeXT", 70, (3000, 1000), 68, id="LLaVA-NeXT: three squares in a row"),
        pytest.param("LLaVA-1.5", 16, (640, 480), 16, id="LLaVA-1.5: just enough"),
    ],
)
def test_a_limit_leaves_as_many_tokens_as_can_be(
    family: str, limit: int, size: tuple[int, int], expected: int
) -> None:
    processor = processor_of(family)
    limit_tokens(processor, limit, "a checkpoint")
    assert ImageTokens(processor).of(*size) == expected


@pytest.mark.parametrize(
    ("family", "limit", "least"),
    [
        pytest.param("LLaVA-1.5", 15, 16, id="LLaVA-1.5"),
        pytest.param("InternVL", 5, 6, id="InternVL: 4 and two marks"),
    ],
)
def test_a_limit_below_the_least_says_the_least(family: str, limit: int, least: int) -> None:
    with pytest.raises(ModelError) as raised:
        limit_tokens(processor_of(family), limit, "a checkpoint")
    assert str(raised.value) == (
        f"a checkpoint: max_image_tokens = {limit}, but an image has at least {least} tokens"
    )


_LIMITS = {"Qwen2.5-VL": 60, "InternVL": 30, "LLaVA-NeXT": 70, "Idefics3": 60, "SmolVLM": 60}


@cache
def limited(family: str) -> ImageTokens:
    processor = processor_of(family)
    limit_tokens(processor, _LIMITS[family], family)
    return ImageTokens(processor)


@pytest.mark.parametrize("family", _LIMITS)
@settings(max_examples=25)
@given(short=st.integers(28, 1000), ratio=st.floats(1, 150), upright=st.booleans())
def test_images_of_every_shape_stay_within_the_limit(
    family: str, short: int, ratio: float, upright: bool
) -> None:
    long = int(short * ratio)
    size = (short, long) if upright else (long, short)
    image = PILImage.new("1", size)
    shown = limited(family).within(image, _LIMITS[family])
    assert limited(family).of(*shown.size) <= _LIMITS[family]
    if ratio <= 5:
        assert shown is image  # shrunk by the family itself, if at all
