from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt
from tests.families import generic
from tests.families.questions import SINGLE, image
from tests.families.support import ask, is_plain, open_engine


def response_texts(model_type: str, folder: Path, *prompts: Prompt) -> list[str]:
    """Build a tiny checkpoint of an architecture; returns its response to each prompt."""
    generic.build(model_type, folder / "model")
    engine = open_engine(folder / "model", plain=is_plain(model_type))
    responses = ask(engine, {str(index): prompt for index, prompt in enumerate(prompts)})
    assert {response.error for response in responses.values()} == {""}
    return [response.text for response in responses.values()]


@pytest.mark.parametrize(
    "model_type",
    [
        pytest.param("llava_next_video", id="its video processor is listed first"),
        pytest.param("git", id="its processor names no image token"),
        pytest.param("glm_ocr", id="its text half has no end token"),
        pytest.param("qwen2_5_omni", id="it also speaks"),
        pytest.param("cosmos3_edge", id="it returns token types only on request"),
    ],
)
def test_the_response_depends_on_the_image(model_type: str, tmp_path: Path) -> None:
    prompts = [SINGLE[name].prompt for name in ("an image", "another image")]

    first, second = response_texts(model_type, tmp_path, *prompts)

    assert first != second


def test_the_response_leaves_out_a_prompt_that_the_model_repeats(tmp_path: Path) -> None:
    prompt = Prompt.of(image(64, 64, 1), "birds birds birds birds")

    [text] = response_texts("blip", tmp_path, prompt)

    assert "birds" not in text
