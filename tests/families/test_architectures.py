"""Architectures that were refused or misread, built tiny from their own classes and asked."""

from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.engine import TransformersEngine
from tests.families import generic
from tests.families.architectures import ROWS, Row
from tests.families.questions import IMAGES, SINGLE, image

_TWO = ("an image", "another image")


def responses(model_type: str, folder: Path, *prompts: Prompt) -> list[str]:
    generic.build(model_type, folder)
    plain = ROWS.get(model_type, Row()).template == "plain"
    spec = TransformersSpec(
        kind="transformers",
        path=str(folder),
        device="cpu",
        max_tokens=6,
        chat_template="plain" if plain else "",
    )
    engine = TransformersEngine(spec, str(folder), IMAGES.__getitem__)
    answered = dict(engine.stream([Request(prompt=prompt) for prompt in prompts]))
    assert [answered[at].error for at in sorted(answered)] == [""] * len(prompts)
    return [answered[at].text for at in sorted(answered)]


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
    one, other = responses(model_type, tmp_path, *(SINGLE[name].prompt for name in _TWO))
    assert one != other


def test_a_prompt_that_the_model_rewrites_is_no_part_of_its_response(tmp_path: Path) -> None:
    [text] = responses("blip", tmp_path, Prompt.of(image(64, 64, 1), "birds birds birds birds"))
    assert "birds" not in text
