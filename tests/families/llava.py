"""LLaVA and what grew out of it: squares from CLIP or SigLIP, and a projection."""

from pathlib import Path
from typing import Any

from tests.families.parts import (
    PATCH,
    SIDE,
    WIDTH,
    ids,
    language,
    save_model,
    save_processor,
    square,
    tokenizer,
    tower,
)

_CROPPED = {
    "image_processor_type": "CLIPImageProcessor",
    "size": {"shortest_edge": SIDE},
    "crop_size": {"height": SIDE, "width": SIDE},
}
_PATCHES = {
    "patch_size": PATCH,
    "vision_feature_select_strategy": "default",
    "num_additional_image_tokens": 1,
}
_TALL, _WIDE, _LARGE = [2 * SIDE, SIDE], [SIDE, 2 * SIDE], [2 * SIDE, 2 * SIDE]
_LONG = [[3 * SIDE, SIDE], [SIDE, 3 * SIDE]]


def llava_1_5(folder: Path, writes_bos: bool = True) -> None:
    """llava-hf/llava-1.5-7b-hf: not the template but the tokenizer writes <s>."""
    from transformers import LlavaConfig, LlavaForConditionalGeneration

    words = _llama_words(writes_bos)
    config = LlavaConfig(
        vision_config=_clip(),
        text_config=language(words, model_type="llama"),
        image_seq_length=16,
        vision_feature_layer=-2,
        **ids(words, image_token_index="<image>"),
    )
    save_model(folder, LlavaForConditionalGeneration, config, words)
    save_processor(
        folder, "LlavaProcessor", words, _CROPPED, "llava_1_5", processor_config=_PATCHES
    )


def llava_without_bos(folder: Path) -> None:
    """A LLaVA as trainers save it with a tokenizer that writes nothing in front."""
    llava_1_5(folder, writes_bos=False)


def vip_llava(folder: Path) -> None:
    """llava-hf/vip-llava-7b-hf: features of several layers of the tower."""
    from transformers import VipLlavaConfig, VipLlavaForConditionalGeneration

    words = _llama_words()
    config = VipLlavaConfig(
        vision_config=_clip(),
        text_config=language(words, model_type="llama"),
        image_seq_length=16,
        vision_feature_layers=[-2, -1],
        **ids(words, image_token_index="<image>"),
    )
    save_model(folder, VipLlavaForConditionalGeneration, config, words)
    save_processor(
        folder, "LlavaProcessor", words, _CROPPED, "llava_1_5", processor_config=_PATCHES
    )


def llava_next(folder: Path) -> None:
    """llava-hf/llava-v1.6-mistral-7b-hf: an image, and its tiles in one of five grids."""
    from transformers import LlavaNextConfig, LlavaNextForConditionalGeneration

    words = _llama_words()
    grids = [_WIDE, _TALL, _LARGE, *_LONG]
    config = LlavaNextConfig(
        vision_config=_clip(),
        text_config=language(words, model_type="mistral", head_dim=16),
        image_seq_length=16,
        image_grid_pinpoints=grids,
        **ids(words, image_token_index="<image>"),
    )
    save_model(folder, LlavaNextForConditionalGeneration, config, words)
    image = _CROPPED | {
        "image_processor_type": "LlavaNextImageProcessor",
        "image_grid_pinpoints": grids,
    }
    save_processor(
        folder, "LlavaNextProcessor", words, image, "llava_next", processor_config=_PATCHES
    )


def llava_onevision(folder: Path) -> None:
    """llava-hf/llava-onevision-qwen2-0.5b-ov-hf: tiles on SigLIP and Qwen2; films as well."""
    from transformers import LlavaOnevisionConfig, LlavaOnevisionForConditionalGeneration

    special = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>", "<video>")
    words = tokenizer(special, eos="<|im_end|>", pad="<|endoftext|>")
    grids = [[SIDE * high, SIDE * wide] for high in (1, 2, 3) for wide in (1, 2, 3)]
    config = LlavaOnevisionConfig(
        vision_config=tower(model_type="siglip_vision_model", vision_use_head=False),
        text_config=language(words, model_type="qwen2"),
        image_grid_pinpoints=grids,
        **ids(words, image_token_index="<image>", video_token_index="<video>"),
    )
    save_model(folder, LlavaOnevisionForConditionalGeneration, config, words)
    save_processor(
        folder,
        "LlavaOnevisionProcessor",
        words,
        square("LlavaOnevisionImageProcessor", image_grid_pinpoints=grids),
        "llava_onevision",
        video_preprocessor_config={
            "video_processor_type": "LlavaOnevisionVideoProcessor",
            "size": {"height": SIDE, "width": SIDE},
        },
        processor_config={"num_image_tokens": 16, "vision_feature_select_strategy": "full"},
    )


def _llama_words(writes_bos: bool = True) -> Any:
    special = ("<unk>", "<s>", "</s>", "<pad>", "<image>")
    names = {"image_token": "<image>"}
    return tokenizer(
        special, bos="<s>", eos="</s>", pad="<pad>", writes_bos=writes_bos, names=names
    )


def _clip() -> dict[str, Any]:
    return tower(model_type="clip_vision_model", num_hidden_layers=3, projection_dim=WIDTH)
