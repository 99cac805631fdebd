import shutil
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.processor import load_processor
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.families import generic, releases
from tests.resources.models.transformers.tiny_engine import (
    MIXED,
    RED,
    engine_of,
    identity_of,
    outputs,
    responses_of,
    set_entries,
    spec_of,
)


def load(folder: Path, **fields: Any) -> Any:
    """The processor of a section with these fields."""
    spec = spec_of(folder, **fields)
    return load_processor(spec, pin(str(folder), processor=spec.processor))


@pytest.mark.skipif(find_spec("torchvision") is not None, reason="torchvision is there")
def test_the_error_without_torchvision_names_the_extra_to_install(tmp_path: Path) -> None:
    releases.build("llama4", tmp_path)
    with pytest.raises(ModelError) as raised:
        load(tmp_path)
    assert str(raised.value) == (
        f"{tmp_path}, for its images, needs torchvision, which is not installed:"
        " pip install 'bench-assets[vision]'"
    )


@pytest.mark.parametrize(
    "model_type", ["qwen2_5_vl", "smolvlm", "llava_next_video", "minicpmv4_6", "video_llava"]
)
def test_a_processor_is_loaded_without_its_video_processor(model_type: str, tmp_path: Path) -> None:
    generic.build(model_type, tmp_path)
    from transformers import BaseImageProcessor, PreTrainedTokenizerBase

    processor = load(tmp_path)
    assert "video_processor" not in processor.to_dict()
    assert isinstance(processor.image_processor, BaseImageProcessor)
    assert isinstance(processor.tokenizer, PreTrainedTokenizerBase)
    assert processor.tokenizer.padding_side == "left"


def test_a_model_of_videos_alone_is_refused(vlm: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(vlm, tmp_path / "vlm")
    set_entries(folder / "config.json", model_type="instructblipvideo", architectures=[])
    set_entries(folder / "processor_config.json", processor_class="InstructBlipVideoProcessor")
    with pytest.raises(ValueError, match="responds to videos and takes no images"):
        load(folder)


@pytest.mark.parametrize(
    ("build", "expected_prompt"),
    [
        pytest.param(save_tiny_vlm, "<image>one", id="the prompt has an image token"),
        pytest.param(
            partial(releases.build, "blip-2"), "one", id="the processor puts the image in front"
        ),
    ],
)
def test_the_plain_template_has_an_image_token_where_the_processor_needs_it(
    build: Callable[[Path], Any], expected_prompt: str, tmp_path: Path
) -> None:
    build(tmp_path)
    processor = load(tmp_path, chat_template="plain")
    image = {"type": "image"}
    conversation = [{"role": "user", "content": [image, {"type": "text", "text": "one"}]}]
    assert processor.apply_chat_template(conversation, tokenize=False) == expected_prompt


def test_a_template_from_a_file_is_used_and_part_of_the_identity(vlm: Path, tmp_path: Path) -> None:
    requests = [Request(prompt=prompt) for prompt in MIXED]
    file = tmp_path / "mine.jinja"
    file.write_text((vlm / "chat_template.jinja").read_text())
    engine = engine_of(vlm, chat_template=str(file))
    identity, responses = identity_of(engine), outputs(responses_of(engine, requests))
    assert responses == outputs(responses_of(engine_of(vlm), requests))

    file.write_text(file.read_text() + "Well, ")
    changed_engine = engine_of(vlm, chat_template=str(file))
    assert outputs(responses_of(changed_engine, requests)) != responses
    assert identity_of(changed_engine) != identity


def test_a_template_file_that_is_missing_is_named(vlm: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    with pytest.raises(ModelError, match=rf"chat_template {file}: .*No such file"):
        load(vlm, chat_template=str(file))


def test_a_template_file_that_is_no_text_is_named(vlm: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_bytes(b"\xff\xfe{{ a }}")
    with pytest.raises(ModelError, match=rf"chat_template {file}: .*can't decode"):
        load(vlm, chat_template=str(file))


def test_a_template_that_is_no_jinja_is_an_error_of_each_request(vlm: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text("{% for m in messages %}")
    responses = responses_of(engine_of(vlm, chat_template=str(file)), [Request(prompt=MIXED[0])])
    assert "the chat template refuses the conversation" in responses[0].error


def test_a_checkpoint_without_a_template_needs_a_file_or_plain(vlm: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(vlm, tmp_path / "base"))
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(
        ModelError, match=r'Set chat_template to a file, or to "plain" for a base model'
    ):
        load(folder)
    (response,) = responses_of(
        engine_of(folder, chat_template="plain"), [Request(prompt=Prompt.of(RED, "What colour?"))]
    )
    assert not response.error


def test_a_tokenizer_alone_is_no_processor(vlm: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(vlm, tmp_path / "tokenizer alone"))
    (folder / "processor_config.json").unlink()
    with pytest.raises(ValueError, match="no processor of texts and images"):
        load(folder)


def test_a_processor_from_another_folder_is_used_and_part_of_the_identity(vlm, tmp_path):
    weights = tmp_path / "weights"
    weights.mkdir()
    for name in ("config.json", "generation_config.json", "model.safetensors"):
        shutil.copy(vlm / name, weights)
    requests = [Request(prompt=prompt) for prompt in MIXED]
    engine = engine_of(weights, processor=str(vlm))
    expected = outputs(responses_of(engine_of(vlm), requests))
    assert outputs(responses_of(engine, requests)) == expected
    assert "+processor:sha256:" in identity_of(engine)
