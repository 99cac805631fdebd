"""Qwen-VL: images of any size as patches that are merged in fours; positions in three axes."""

from pathlib import Path
from typing import Any

from tests.families.parts import WIDTH, ids, language, save_model, save_processor, tokenizer

_SPECIAL = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"),
)
_LARGEST = 512 * 28 * 28  # px; the releases allow 12845056
_AXES = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3]}
_MIXED_AXES = {**_AXES, "mrope_section": [3, 3, 2], "mrope_interleaved": True}


def qwen2_vl(folder: Path) -> None:
    """Qwen/Qwen2-VL-2B-Instruct: its generation configuration draws, from one candidate."""
    from transformers import Qwen2VLConfig, Qwen2VLForConditionalGeneration

    words = _words()
    config = Qwen2VLConfig(
        text_config=language(words, rope_parameters=_AXES),
        vision_config=_tower(embed_dim=WIDTH, mlp_ratio=2, patch_size=14),
        **_control(words),
    )
    card = {"do_sample": True, "temperature": 0.01, "top_p": 0.001, "top_k": 1}
    save_model(
        folder, Qwen2VLForConditionalGeneration, config, words, card, also_ends=["<|endoftext|>"]
    )
    _save_processor(folder, "Qwen2VLProcessor", words, "qwen2_vl", patch_size=14)


def qwen2_5_vl(folder: Path) -> None:
    """Qwen/Qwen2.5-VL-3B-Instruct: its generation configuration punishes repetition."""
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    words = _words()
    config = Qwen2_5_VLConfig(
        text_config=language(words, rope_parameters=_AXES),
        vision_config=_tower(
            intermediate_size=2 * WIDTH,
            out_hidden_size=WIDTH,
            patch_size=14,
            window_size=112,
            fullatt_block_indexes=[1],
        ),
        **_control(words),
    )
    card = {"do_sample": True, "temperature": 1e-6, "repetition_penalty": 1.05}
    save_model(
        folder, Qwen2_5_VLForConditionalGeneration, config, words, card, also_ends=["<|endoftext|>"]
    )
    _save_processor(folder, "Qwen2_5_VLProcessor", words, "qwen2_vl", patch_size=14)


def qwen3_vl(folder: Path) -> None:
    """Qwen/Qwen3-VL-2B-Instruct: features of several layers go into several layers."""
    from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

    words = _words()
    config = Qwen3VLConfig(
        text_config=language(words, head_dim=16, rope_parameters=_MIXED_AXES),
        vision_config=_wide_tower(deepstack_visual_indexes=[0, 1]),
        **_control(words),
    )
    save_model(folder, Qwen3VLForConditionalGeneration, config, words, _QWEN3_CARD, seed=4)
    _save_processor(folder, "Qwen3VLProcessor", words, "qwen3_vl", patch_size=16)


def qwen3_vl_moe(folder: Path) -> None:
    """Qwen/Qwen3-VL-30B-A3B-Instruct: the same with experts."""
    from transformers import Qwen3VLMoeConfig, Qwen3VLMoeForConditionalGeneration

    words = _words()
    experts = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": WIDTH}
    config = Qwen3VLMoeConfig(
        text_config=language(words, head_dim=16, rope_parameters=_MIXED_AXES, **experts),
        vision_config=_wide_tower(deepstack_visual_indexes=[0, 1]),
        **_control(words),
    )
    save_model(folder, Qwen3VLMoeForConditionalGeneration, config, words, _QWEN3_CARD)
    _save_processor(folder, "Qwen3VLProcessor", words, "qwen3_vl", patch_size=16)


def qwen3_5(folder: Path) -> None:
    """Qwen/Qwen3.5-4B: linear attention beside full, and a template that opens a thought."""
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    words = _words()
    words.add_tokens(["<think>", "</think>"])  # text, no control tokens
    config = Qwen3_5Config(
        text_config=language(
            words,
            head_dim=16,
            layer_types=["linear_attention", "full_attention"],
            linear_key_head_dim=16,
            linear_value_head_dim=16,
            linear_num_key_heads=2,
            linear_num_value_heads=2,
            rope_parameters={**_MIXED_AXES, "partial_rotary_factor": 1.0},
        ),
        vision_config=_wide_tower(),
        **_control(words),
    )
    save_model(folder, Qwen3_5ForConditionalGeneration, config, words, _QWEN3_CARD, seed=5)
    _save_processor(folder, "Qwen3VLProcessor", words, "qwen3_5", patch_size=16)


_QWEN3_CARD = {"do_sample": True, "temperature": 0.7, "top_p": 0.8, "top_k": 20}


def _words() -> Any:
    return tokenizer(_SPECIAL, eos="<|im_end|>", pad="<|endoftext|>")


def _control(words: Any) -> dict[str, int]:
    return ids(
        words,
        image_token_id="<|image_pad|>",
        video_token_id="<|video_pad|>",
        vision_start_token_id="<|vision_start|>",
        vision_end_token_id="<|vision_end|>",
    )


def _tower(**more: Any) -> dict[str, Any]:
    return {"depth": 2, "hidden_size": WIDTH, "num_heads": 2} | more


def _wide_tower(**more: Any) -> dict[str, Any]:
    return _tower(
        intermediate_size=2 * WIDTH,
        out_hidden_size=WIDTH,
        patch_size=16,
        num_position_embeddings=256,
        **more,
    )


def _save_processor(folder: Path, kind: str, words: Any, template: str, patch_size: int) -> None:
    """Write the processor with its video half, which only torchvision can load."""
    of_images = {
        "patch_size": patch_size,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "min_pixels": 4 * (2 * patch_size) ** 2,
        "max_pixels": _LARGEST,
    }
    video = "Qwen3VLVideoProcessor" if patch_size == 16 else "Qwen2VLVideoProcessor"
    save_processor(
        folder,
        kind,
        words,
        {"image_processor_type": "Qwen2VLImageProcessor", **of_images},
        template,
        video_preprocessor_config={"video_processor_type": video, **of_images},
    )
