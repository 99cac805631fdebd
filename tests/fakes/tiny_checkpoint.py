"""Vision-language and language models of a few thousand random weights."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.families.parts import language, save_model, tower, train_tokenizer

_CHAT = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for part in m['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
_SIDE, _PATCH = 32, 16  # px
_CONTEXT = 1024  # tokens


def save_tiny_vlm(folder: Path, seed: int = 0) -> Path:
    """Write a LLaVA of a CLIP tower, with 4 tokens an image, and a Llama of two layers."""
    from transformers import (
        CLIPImageProcessorPil,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = _tokenizer()
    sizes = {"image_size": _SIDE, "patch_size": _PATCH}
    config = LlavaConfig(
        vision_config=tower(model_type="clip_vision_model", projection_dim=32, **sizes),
        text_config=language(tokenizer, model_type="llama", max_position_embeddings=_CONTEXT),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=(_SIDE // _PATCH) ** 2,
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
    )
    save_model(folder, LlavaForConditionalGeneration, config, tokenizer, seed=seed)
    images = CLIPImageProcessorPil(
        size={"shortest_edge": _SIDE}, crop_size={"height": _SIDE, "width": _SIDE}
    )
    LlavaProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        patch_size=_PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_CHAT,
    ).save_pretrained(folder)
    return folder


def save_tiny_language_model(folder: Path, seed: int = 0) -> Path:
    """Write a Llama of two layers, which takes text alone."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _tokenizer()
    config = LlamaConfig(**language(tokenizer, max_position_embeddings=_CONTEXT))
    save_model(folder, LlamaForCausalLM, config, tokenizer, seed=seed)
    tokenizer.save_pretrained(folder)
    return folder


@contextmanager
def edited_tensors(weights: Path) -> Iterator[dict[str, Any]]:
    """The tensors of a file by name; changes are written back when the block ends."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(weights)
    yield tensors
    save_file(tensors, weights, {"format": "pt"})


def _tokenizer() -> Any:
    tokenizer = train_tokenizer(
        ("<|pad|>", "<|start|>", "<|end|>", "<image>"),
        bos="<|start|>", eos="<|end|>", pad="<|pad|>", names={"image_token": "<image>"},
    )  # fmt: skip
    tokenizer.padding_side = "left"
    tokenizer.chat_template = _CHAT
    return tokenizer
