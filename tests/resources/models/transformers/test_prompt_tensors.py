from pathlib import Path
from typing import Any

import pytest
from PIL import Image as PILImage

from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.image_tokens import ImageTokens
from bench_resources.models.transformers.processor import load_processor
from bench_resources.models.transformers.prompt_tensors import PromptTensors
from tests.resources.models.transformers.tiny_engine import spec_of


def prompt_tensors(folder: Path, template: object = "", **options: Any) -> PromptTensors:
    processor = load_processor(spec_of(folder), pin(str(folder)))
    processor.chat_template = template or processor.chat_template
    return PromptTensors(processor, ImageTokens(processor), variables={}, **options)


def user_turn(*sizes: tuple[int, int]) -> dict[str, Any]:
    """A turn with images of these sizes and a question."""
    images = [{"type": "image", "image": PILImage.new("RGB", size, "red")} for size in sizes]
    return {"role": "user", "content": [*images, {"type": "text", "text": "How many?"}]}


def test_a_batch_is_padded_on_the_left(vlm: Path) -> None:
    turns = [user_turn((40, 30)), user_turn((40, 30), (64, 64)), user_turn()]
    batch = prompt_tensors(vlm).encode([[turn] for turn in turns])
    assert batch.image_tokens == [(4,), (4, 4), ()]  # an image of any size has 4
    one_image, two_images, no_image = batch.prompt_tokens
    assert (one_image - no_image, two_images - one_image) == (4, 4)
    assert batch.inputs["attention_mask"].tolist() == [
        [0] * 4 + [1] * one_image,
        [1] * two_images,
        [0] * 8 + [1] * no_image,
    ]


def test_two_images_are_refused_where_a_prompt_takes_one(vlm: Path) -> None:
    single_image = prompt_tensors(vlm, one_image=True)
    assert single_image.encode([[user_turn((9, 9))]]).image_tokens == [(4,)]
    with pytest.raises(ValueError, match="one image per prompt"):
        single_image.encode([[user_turn((9, 9), (9, 9))]])


@pytest.mark.parametrize(
    ("size", "note"),
    [
        # 300 / 100 = 3, less than the least side of 28; 6000 / 100 = 60.
        pytest.param((1, 300), "enlarged for the processor: 1x300 px to 28x300 px", id="1 x 300"),
        pytest.param(
            (6000, 2), "enlarged for the processor: 6000x2 px to 6000x60 px", id="6000 x 2"
        ),
        pytest.param((300, 200), "", id="a wide enough image stays"),
    ],
)
def test_narrow_images_are_enlarged_with_a_note(release, size, note):
    batch = prompt_tensors(release("qwen2_5_vl")).encode([[user_turn((56, 56))], [user_turn(size)]])
    assert batch.notes == ["", note]


def test_the_default_of_several_templates_is_used(vlm: Path) -> None:
    default = load_processor(spec_of(vlm), pin(str(vlm))).chat_template
    templates = {"default": default, "rag": "{{ documents }}"}
    expected = prompt_tensors(vlm).encode([[user_turn()]]).prompt_tokens
    assert prompt_tensors(vlm, templates).encode([[user_turn()]]).prompt_tokens == expected
