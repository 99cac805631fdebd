"""Conversations as tensors: of a LLaVA whose processor makes 4 tokens of every image."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PILImage

from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.image_tokens import ImageTokens
from bench_resources.models.transformers.processor import load_processor
from bench_resources.models.transformers.prompt_tensors import PromptTensors
from tests.resources.models.transformers.tiny_engine import spec_of


def tensors(folder: Path, template: object = "", **how: Any) -> PromptTensors:
    processor = load_processor(spec_of(folder), pin(str(folder)))
    processor.chat_template = template or processor.chat_template
    return PromptTensors(processor, ImageTokens(processor), variables={}, **how)


def shown(*sizes: tuple[int, int]) -> dict[str, Any]:
    images = [{"type": "image", "image": PILImage.new("RGB", size, "red")} for size in sizes]
    return {"role": "user", "content": [*images, {"type": "text", "text": "How many?"}]}


def test_a_batch_is_padded_on_the_left(vlm: Path) -> None:
    made = tensors(vlm).encode([[shown((40, 30))], [shown((40, 30), (64, 64))], [shown()]])
    assert made.image_tokens == [(4,), (4, 4), ()]
    one, two, none = made.prompt_tokens
    assert (one - none, two - one) == (4, 4)
    mask = made.inputs["attention_mask"]
    assert mask.shape[1] == two
    assert [row.tolist() for row in mask] == [[0] * (two - n) + [1] * n for n in (one, two, none)]


def test_one_image_where_there_is_one_place(vlm: Path) -> None:
    one_place = tensors(vlm, one_image=True)
    assert one_place.encode([[shown((9, 9))]]).image_tokens == [(4,)]
    with pytest.raises(ValueError, match="one image per prompt"):
        one_place.encode([[shown((9, 9), (9, 9))]])


@pytest.mark.parametrize(
    ("size", "note"),
    [
        # 300 / 100 = 3, less than the least side of 28; 6000 / 100 = 60.
        pytest.param((1, 300), "1x300 px to 28x300 px", id="1 x 300"),
        pytest.param((6000, 2), "6000x2 px to 6000x60 px", id="6000 x 2"),
        pytest.param((300, 200), "", id="what it takes stays"),
    ],
)
def test_narrow_images_are_enlarged_with_a_note(
    release: Callable[[str], Path], size: tuple[int, int], note: str
) -> None:
    made = tensors(release("qwen2_5_vl")).encode([[shown((56, 56))], [shown(size)]])
    assert made.notes == ["", f"enlarged for the processor: {note}" if note else ""]


def test_a_template_of_several_is_its_default(vlm: Path) -> None:
    made = tensors(vlm)
    template = {"default": made._processor.chat_template, "rag": "{{ documents }}"}
    assert tensors(vlm, template).encode([[shown()]]).prompt_tokens
