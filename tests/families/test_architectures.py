"""Architectures that were refused or misread, built tiny from their own classes and asked."""

from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt
from tests.families import generic
from tests.families.questions import SINGLE, image
from tests.families.support import is_plain, open_engine, responses

_TWO = ("an image", "another image")


def texts(model_type: str, folder: Path, *prompts: Prompt) -> list[str]:
    generic.build(model_type, folder / "model")
    engine = open_engine(folder / "model", is_plain(model_type))
    answered = responses(engine, {str(number): prompt for number, prompt in enumerate(prompts)})
    assert {response.error for response in answered.values()} == {""}
    return [response.text for response in answered.values()]


@pytest.mark.parametrize(
    "model_type",
    [
        pytest.param("llava_next_video", id="the video processor stands first"),
        pytest.param("git", id="a processor that names no image token"),
        pytest.param("glm_ocr", id="a text half without an end token"),
        pytest.param("qwen2_5_omni", id="a model that also speaks"),
        pytest.param("cosmos3_edge", id="token types that are told only when asked for"),
    ],
)
def test_the_response_follows_the_image(model_type: str, tmp_path: Path) -> None:
    one, other = texts(model_type, tmp_path, *(SINGLE[name].prompt for name in _TWO))
    assert one != other


def test_a_prompt_that_the_model_rewrites_is_no_part_of_its_response(tmp_path: Path) -> None:
    [text] = texts("blip", tmp_path, Prompt.of(image(64, 64, 1), "birds birds birds birds"))
    assert "birds" not in text
