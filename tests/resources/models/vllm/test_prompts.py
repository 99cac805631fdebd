"""What vLLM is asked are the tokens that transformers reads, one place for each image."""

from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from PIL import Image as PILImage

from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.image_tokens import ImageTokens
from bench_resources.models.transformers.processor import load_processor
from bench_resources.models.transformers.prompt_tensors import PromptTensors
from bench_resources.models.vllm.model import TokenPrompts
from bench_resources.models.workers.local_model import Message
from tests.families.llava import llava_1_5
from tests.families.qwen import qwen2_5_vl
from tests.resources.models.transformers.tiny_engine import spec_of

RED, BLUE = (PILImage.new("RGB", (56, 84), colour) for colour in ("red", "blue"))


def turn(*parts: str | PILImage.Image, role: str = "user") -> Message:
    content = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image", "image": part}
        for part in parts
    ]
    return {"role": role, "content": content}


CONVERSATIONS = [
    pytest.param([turn("How many?")], id="no image"),
    pytest.param([turn(RED, "What colour?")], id="an image"),
    pytest.param(
        [turn(RED, "one"), turn("yes", role="assistant"), turn("two", BLUE)], id="several turns"
    ),
    pytest.param([turn(RED, "Is <image> or <|image_pad|> a tag?")], id="spells control tokens"),
]


@pytest.fixture(scope="module")
def made(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., tuple[TokenPrompts, PromptTensors]]:
    """Builds a family and both ways of writing its prompts."""
    folders: dict[Callable[[Path], None], Path] = {}

    def of(
        family: Callable[[Path], None], limit: int | None = None
    ) -> tuple[TokenPrompts, PromptTensors]:
        if family not in folders:
            folders[family] = tmp_path_factory.mktemp("family")
            family(folders[family])
        spec, checkpoint = spec_of(folders[family]), pin(str(folders[family]))
        prompts, tensors = (
            kind(processor, ImageTokens(processor), variables={}, max_image_tokens=limit)
            for kind in (TokenPrompts, PromptTensors)
            for processor in [load_processor(spec, checkpoint)]
        )
        assert isinstance(prompts, TokenPrompts)
        return prompts, tensors

    return of


@pytest.mark.parametrize("conversation", CONVERSATIONS)
@pytest.mark.parametrize(
    ("family", "placeholder"), [(qwen2_5_vl, "<|image_pad|>"), (llava_1_5, "<image>")]
)
def test_tokens_are_those_that_transformers_reads(
    made: Callable[..., tuple[TokenPrompts, PromptTensors]],
    family: Callable[[Path], None],
    placeholder: str,
    conversation: list[Message],
) -> None:
    prompts, tensors = made(family)
    asked, read = prompts.asked(conversation), tensors.of([conversation])
    number = prompts._processor.tokenizer.convert_tokens_to_ids(placeholder)
    tokens = read.inputs["input_ids"][0].tolist()
    narrow = [
        one for token, run in groupby(tokens) for one in ([token] if token == number else run)
    ]
    assert asked.prompt["prompt_token_ids"] == narrow
    assert asked.least_tokens == len(tokens)
    assert asked.image_tokens == read.image_tokens[0]
    assert asked.ending == read.endings[0]
    images = asked.prompt.get("multi_modal_data", {}).get("image", [])
    assert len(images) == narrow.count(number) == len(asked.image_tokens)


def test_a_image_is_shrunk_to_the_tokens_that_are_allowed(
    made: Callable[..., tuple[TokenPrompts, PromptTensors]],
) -> None:
    prompts, _ = made(qwen2_5_vl, limit=20)
    asked = prompts.asked([turn(PILImage.new("RGB", (640, 480)), "?")])
    (image,) = asked.prompt["multi_modal_data"]["image"]
    (tokens,) = asked.image_tokens
    assert 12 <= tokens <= 20
    assert image.width / image.height == pytest.approx(4 / 3, abs=0.02)
    assert prompts.asked([turn(RED, "?")]).prompt["multi_modal_data"]["image"] == [RED]


def test_a_family_that_cannot_make_fewer_tokens_says_so(
    made: Callable[..., tuple[TokenPrompts, PromptTensors]],
) -> None:
    prompts, _ = made(llava_1_5, limit=3)
    with pytest.raises(ValueError, match="an image has 16 tokens or more"):
        prompts.asked([turn(RED, "?")])


def test_a_image_too_narrow_for_the_family_is_enlarged_and_said(
    made: Callable[..., tuple[TokenPrompts, PromptTensors]],
) -> None:
    prompts, _ = made(qwen2_5_vl)
    asked = prompts.asked([turn(PILImage.new("RGB", (1, 300)), "?")])
    assert asked.note == "enlarged for the processor: 1x300 px to 28x300 px"
    assert asked.prompt["multi_modal_data"]["image"][0].size == (28, 300)
