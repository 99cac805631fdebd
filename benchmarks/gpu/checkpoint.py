"""A Qwen2.5-VL of real size with random weights, made from its configuration, without a network.

It has no end token, so that every response is as long as it may be.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.families.parts import save_processor, token_ids

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

_SPECIAL = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"),
)
_IMAGES = {
    "image_processor_type": "Qwen2VLImageProcessor",
    **{"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2},
    **{"min_pixels": 4 * 28 * 28, "max_pixels": 1280 * 28 * 28},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tower:
    """Size of the vision half."""

    width: int = 1280
    layers: int = 32
    heads: int = 16
    inner: int = 3420


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Size of a model."""

    name: str
    vocabulary: int  # tokens
    width: int
    layers: int
    heads: int
    key_value_heads: int
    inner: int  # width of the layer between
    tower: Tower = Tower()


SIZES = (
    Size(
        name="Qwen2.5-VL 2B",
        vocabulary=151_936,
        width=1536,
        layers=28,
        heads=12,
        key_value_heads=2,
        inner=8960,
    ),
    Size(
        name="Qwen2.5-VL 7B",
        vocabulary=152_064,
        width=3584,
        layers=28,
        heads=28,
        key_value_heads=4,
        inner=18_944,
    ),
)
TINY = Size(
    name="tiny Qwen2.5-VL",
    vocabulary=400,
    width=32,
    layers=2,
    heads=2,
    key_value_heads=2,
    inner=64,
    tower=Tower(width=32, layers=4, heads=2, inner=64),
)


def save(folder: Path, size: Size) -> None:
    """Write weights and processor into a folder."""
    import torch
    from transformers import AutoModelForImageTextToText, Qwen2_5_VLConfig

    words = _tokenizer(size.vocabulary)
    names = {"image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>"}
    names |= {f"vision_{end}_token_id": f"<|vision_{end}|>" for end in ("start", "end")}
    half = size.width // size.heads // 2
    axes = [half - 2 * (half * 3 // 8), half * 3 // 8, half * 3 // 8]  # 16, 24, 24 of 64
    tower = size.tower
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": size.vocabulary,
            "hidden_size": size.width,
            "intermediate_size": size.inner,
            "num_hidden_layers": size.layers,
            "num_attention_heads": size.heads,
            "num_key_value_heads": size.key_value_heads,
            "max_position_embeddings": 4096,
            **{"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0},
            "rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": axes},
        },
        vision_config={
            "depth": tower.layers,
            "hidden_size": tower.width,
            "num_heads": tower.heads,
            "intermediate_size": tower.inner,
            "out_hidden_size": size.width,
            "fullatt_block_indexes": list(range(tower.layers // 4 - 1, tower.layers, 8)),
        },
        **token_ids(words, **names),
    )
    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = AutoModelForImageTextToText.from_config(config, dtype=torch.bfloat16)
    model.generation_config.eos_token_id = None
    model.save_pretrained(folder)
    video = {**_IMAGES, "video_processor_type": "Qwen2VLVideoProcessor"}
    save_processor(
        folder,
        "Qwen2_5_VLProcessor",
        words,
        _IMAGES,
        "qwen2_vl",
        video_preprocessor_config=video,
    )


def _tokenizer(size: int) -> "PreTrainedTokenizerFast":
    """Make a tokenizer of bytes, filled up to ``size`` tokens that no text becomes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known = [*_SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    known += [f"word{number}" for number in range(size - len(known))]
    bytes_ = Tokenizer(models.BPE({token: n for n, token in enumerate(known)}, []))
    bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_.decoder = decoders.ByteLevel()
    bytes_.add_special_tokens(list(_SPECIAL))
    return PreTrainedTokenizerFast(
        tokenizer_object=bytes_,
        pad_token="<|endoftext|>",
        extra_special_tokens={"image_token": "<|image_pad|>"},
    )
