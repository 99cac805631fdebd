"""GLM-4.1V and GLM-4.5V: patches of any number; <|user|> ends a response."""

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
    tokenizer,
)

_CONTROL = {
    "image_token_id": "<|image|>",
    "video_token_id": "<|video|>",
    "image_start_token_id": "<|begin_of_image|>",
    "image_end_token_id": "<|end_of_image|>",
    "video_start_token_id": "<|begin_of_video|>",
    "video_end_token_id": "<|end_of_video|>",
}
_TOWER = {
    "depth": 2,
    "hidden_size": WIDTH,
    "out_hidden_size": WIDTH,
    "intermediate_size": 2 * WIDTH,
    "num_heads": 2,
    "image_size": SIDE,
    "patch_size": PATCH,
}
_AXES = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 3, 3]}
_ROPE = {**_AXES, "partial_rotary_factor": 1.0}
_CARD = {"do_sample": True, "temperature": 1.0, "top_p": 0.6, "top_k": 2}


def glm4v(folder: Path) -> None:
    """zai-org/GLM-4.1V-9B-Thinking."""
    from transformers import Glm4vConfig, Glm4vForConditionalGeneration

    words = _words()
    config = Glm4vConfig(
        text_config=language(words, rope_parameters=_ROPE),
        vision_config=_TOWER,
        **ids(words, **_CONTROL),
    )
    _save(folder, Glm4vForConditionalGeneration, config, words)


def glm4v_moe(folder: Path) -> None:
    """zai-org/GLM-4.5V: experts behind a first layer without."""
    from transformers import Glm4vMoeConfig, Glm4vMoeForConditionalGeneration

    words = _words()
    experts = {
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "moe_intermediate_size": WIDTH,
        "first_k_dense_replace": 1,
    }
    config = Glm4vMoeConfig(
        text_config=language(words, head_dim=16, rope_parameters=_ROPE, **experts),
        vision_config=_TOWER,
        **ids(words, **_CONTROL),
    )
    _save(folder, Glm4vMoeForConditionalGeneration, config, words)


def _words() -> Any:
    special = ("<|endoftext|>", "[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>")
    words = tokenizer([*special, *_CONTROL.values()], eos="<|endoftext|>", pad="<|endoftext|>")
    words.add_tokens(["<think>", "</think>", "<answer>", "</answer>"])  # text, no control tokens
    return words


def _save(folder: Path, kind: Any, config: Any, words: Any) -> None:
    save_model(folder, kind, config, words, _CARD, also_ends=["<|user|>"])
    of_images = {
        "patch_size": PATCH,
        "merge_size": 2,
        "temporal_patch_size": 2,
        "size": {"shortest_edge": 112 * 112, "longest_edge": 512 * 28 * 28},
    }
    save_processor(
        folder,
        "Glm4vProcessor",
        words,
        {"image_processor_type": "Glm4vImageProcessor", **of_images},
        "glm4v",
        video_preprocessor_config={"video_processor_type": "Glm4vVideoProcessor", **of_images},
    )
