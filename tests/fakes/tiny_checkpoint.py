"""Vision-language and language models of a few thousand random weights, made from a config."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.families.parts import language, save_model, tokenizer, tower

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
    """Write a LLaVA: a CLIP tower that makes 4 tokens of an image, and a Llama of two layers."""
    from transformers import (
        CLIPImageProcessorPil,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    words, sizes = _words(), {"image_size": _SIDE, "patch_size": _PATCH}
    config = LlavaConfig(
        vision_config=tower(model_type="clip_vision_model", projection_dim=32, **sizes),
        text_config=language(words, model_type="llama", max_position_embeddings=_CONTEXT),
        image_token_index=words.convert_tokens_to_ids("<image>"),
        image_seq_length=(_SIDE // _PATCH) ** 2,
        vision_feature_select_strategy="default",
        vision_feature_layer=-1,
    )
    save_model(folder, LlavaForConditionalGeneration, config, words, seed=seed)
    images = CLIPImageProcessorPil(
        size={"shortest_edge": _SIDE}, crop_size={"height": _SIDE, "width": _SIDE}
    )
    LlavaProcessor(
        image_processor=images,
        tokenizer=words,
        patch_size=_PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=_CHAT,
    ).save_pretrained(folder)
    return folder


def save_tiny_language_model(folder: Path, seed: int = 0) -> Path:
    """Write a Llama of two layers, without eyes."""
    from transformers import LlamaConfig, LlamaForCausalLM

    words = _words()
    config = LlamaConfig(**language(words, max_position_embeddings=_CONTEXT))
    save_model(folder, LlamaForCausalLM, config, words, seed=seed)
    words.save_pretrained(folder)
    return folder


@contextmanager
def edited_tensors(weights: Path) -> Iterator[dict[str, Any]]:
    """The tensors of a file by name, which is written anew when the block ends."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(weights)
    yield tensors
    save_file(tensors, weights, {"format": "pt"})


def _words() -> Any:
    words = tokenizer(
        ("<|pad|>", "<|start|>", "<|end|>", "<image>"),
        bos="<|start|>", eos="<|end|>", pad="<|pad|>", names={"image_token": "<image>"},
    )  # fmt: skip
    words.padding_side, words.chat_template = "left", _CHAT
    return words
