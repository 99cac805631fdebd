"""A checkpoint of Qwen2.5-VL with random weights, written without a network.

It has no end token: each response has the maximum length.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.families.parts import save_processor, token_ids

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_SPECIAL_TOKENS = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"),
)
_IMAGE_PROCESSOR = {
    "image_processor_type": "Qwen2VLImageProcessor",
    **{"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2},
    **{"min_pixels": 4 * 28 * 28, "max_pixels": 1280 * 28 * 28},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionSize:
    """Size of the vision encoder."""

    width: int = 1280
    layers: int = 32
    heads: int = 16
    feed_forward_width: int = 3420


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Size of a model."""

    name: str
    vocabulary: int  # tokens
    width: int
    layers: int
    heads: int
    key_value_heads: int
    feed_forward_width: int
    vision: VisionSize = VisionSize()


SIZES = (
    Size(
        name="Qwen2.5-VL 2B",
        vocabulary=151_936,
        width=1536,
        layers=28,
        heads=12,
        key_value_heads=2,
        feed_forward_width=8960,
    ),
    Size(
        name="Qwen2.5-VL 7B",
        vocabulary=152_064,
        width=3584,
        layers=28,
        heads=28,
        key_value_heads=4,
        feed_forward_width=18_944,
    ),
)
TINY = Size(
    name="tiny Qwen2.5-VL",
    vocabulary=400,
    width=32,
    layers=2,
    heads=2,
    key_value_heads=2,
    feed_forward_width=64,
    vision=VisionSize(width=32, layers=4, heads=2, feed_forward_width=64),
)


def save_checkpoint(folder: Path, size: Size) -> None:
    """Write weights and processor to a folder."""
    import torch
    from transformers import AutoModelForImageTextToText, Qwen2_5_VLConfig

    tokenizer = _build_tokenizer(size.vocabulary)
    token_names = {"image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>"}
    token_names |= {f"vision_{end}_token_id": f"<|vision_{end}|>" for end in ("start", "end")}
    n_pairs = size.width // size.heads // 2  # of rotated channels: 64 in the large models
    n_spatial = n_pairs * 3 // 8
    sections = [n_pairs - 2 * n_spatial, n_spatial, n_spatial]  # time, height, width
    vision = size.vision
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": size.vocabulary,
            "hidden_size": size.width,
            "intermediate_size": size.feed_forward_width,
            "num_hidden_layers": size.layers,
            "num_attention_heads": size.heads,
            "num_key_value_heads": size.key_value_heads,
            "max_position_embeddings": 4096,
            **{"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0},
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e6,
                "mrope_section": sections,
            },
        },
        vision_config={
            "depth": vision.layers,
            "hidden_size": vision.width,
            "num_heads": vision.heads,
            "intermediate_size": vision.feed_forward_width,
            "out_hidden_size": size.width,
            "fullatt_block_indexes": list(range(vision.layers // 4 - 1, vision.layers, 8)),
        },
        **token_ids(tokenizer, **token_names),
    )
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = AutoModelForImageTextToText.from_config(config, dtype=torch.bfloat16)
    model.generation_config.eos_token_id = None
    model.save_pretrained(folder)
    video_processor = {**_IMAGE_PROCESSOR, "video_processor_type": "Qwen2VLVideoProcessor"}
    save_processor(
        folder,
        "Qwen2_5_VLProcessor",
        tokenizer,
        _IMAGE_PROCESSOR,
        "qwen2_vl",
        video_preprocessor_config=video_processor,
    )


def _build_tokenizer(n_tokens: int) -> "PreTrainedTokenizerFast":
    """Build a tokenizer of bytes, with further tokens that no text contains."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    tokens = [*_SPECIAL_TOKENS, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    tokens += [f"word{number}" for number in range(n_tokens - len(tokens))]
    byte_tokenizer = Tokenizer(models.BPE({token: index for index, token in enumerate(tokens)}, []))
    byte_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    byte_tokenizer.decoder = decoders.ByteLevel()
    byte_tokenizer.add_special_tokens(list(_SPECIAL_TOKENS))
    return PreTrainedTokenizerFast(
        tokenizer_object=byte_tokenizer,
        pad_token="<|endoftext|>",
        extra_special_tokens={"image_token": "<|image_pad|>"},
    )
