"""Checkpoints of real size with random weights, made from configurations: nothing is downloaded.

They have no end token, so that every response is as long as it may be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.families.parts import ids, save_processor

if TYPE_CHECKING:
    from transformers import PretrainedConfig

_QWEN = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"),
)
_LLAVA = ("<pad>", "<s>", "</s>", "<image>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a model is."""

    vocabulary: int  # tokens
    width: int
    layers: int
    heads: int
    key_value_heads: int
    inner: int  # width of the layer between
    tower_width: int
    tower_layers: int
    tower_heads: int
    tower_inner: int
    side: int = 336  # px of an image; of LLaVA
    context: int = 4096  # tokens

    @property
    def language(self) -> dict[str, Any]:
        """The language half, as configurations name it."""
        return {
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "intermediate_size": self.inner,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.key_value_heads,
            "max_position_embeddings": self.context,
            "bos_token_id": None,
            "eos_token_id": None,
            "pad_token_id": 0,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A checkpoint that can be made."""

    name: str
    save: Callable[[Path, Size], None]
    size: Size


def qwen2_5_vl(folder: Path, size: Size) -> None:
    """Write a Qwen2.5-VL, with the processor of the release."""
    from transformers import Qwen2_5_VLConfig

    words = _tokenizer(_QWEN, size.vocabulary, pad="<|endoftext|>", image_token="<|image_pad|>")
    names = {"image_token_id": "<|image_pad|>", "video_token_id": "<|video_pad|>"}
    names |= {f"vision_{end}_token_id": f"<|vision_{end}|>" for end in ("start", "end")}
    half = size.width // size.heads // 2
    axes = [half - 2 * (half * 3 // 8), half * 3 // 8, half * 3 // 8]  # 16, 24, 24 of 64
    config = Qwen2_5_VLConfig(
        text_config=size.language
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6, "mrope_section": axes}},
        vision_config={
            "depth": size.tower_layers,
            "hidden_size": size.tower_width,
            "num_heads": size.tower_heads,
            "intermediate_size": size.tower_inner,
            "out_hidden_size": size.width,
            "fullatt_block_indexes": list(range(size.tower_layers // 4 - 1, size.tower_layers, 8)),
        },
        **ids(words, **names),
    )
    _save_weights(folder, config)
    images = {"image_processor_type": "Qwen2VLImageProcessor", "patch_size": 14}
    images |= {"temporal_patch_size": 2, "merge_size": 2}
    images |= {"min_pixels": 4 * 28 * 28, "max_pixels": 1280 * 28 * 28}
    video = {**images, "video_processor_type": "Qwen2VLVideoProcessor"}
    save_processor(
        folder,
        "Qwen2_5_VLProcessor",
        words,
        images,
        "qwen2_vl",
        video_preprocessor_config=video,
    )


def llava_1_5(folder: Path, size: Size) -> None:
    """Write a LLaVA-1.5, with the processor of the release."""
    from transformers import LlavaConfig

    words = _tokenizer(_LLAVA, size.vocabulary, pad="<pad>", image_token="<image>")
    patches = {"patch_size": 14, "vision_feature_select_strategy": "default"}
    config = LlavaConfig(
        text_config=size.language | {"model_type": "llama"},
        vision_config={
            "model_type": "clip_vision_model",
            "hidden_size": size.tower_width,
            "intermediate_size": size.tower_inner,
            "num_hidden_layers": size.tower_layers,
            "num_attention_heads": size.tower_heads,
            "image_size": size.side,
            "patch_size": 14,
        },
        image_seq_length=(size.side // 14) ** 2,
        vision_feature_layer=-2,
        vision_feature_select_strategy="default",
        **ids(words, image_token_index="<image>"),
    )
    _save_weights(folder, config)
    cropped = {"size": {"shortest_edge": size.side}}
    cropped |= {"crop_size": {"height": size.side, "width": size.side}}
    save_processor(
        folder,
        "LlavaProcessor",
        words,
        {"image_processor_type": "CLIPImageProcessor", **cropped},
        "llava_1_5",
        processor_config=patches | {"num_additional_image_tokens": 1},
    )


_OF_QWEN = {"tower_width": 1280, "tower_layers": 32, "tower_heads": 16, "tower_inner": 3420}
_OF_LLAVA = {"tower_width": 1024, "tower_layers": 24, "tower_heads": 16, "tower_inner": 4096}
_TINY = Size(
    vocabulary=400,
    width=32,
    layers=2,
    heads=2,
    key_value_heads=2,
    inner=64,
    tower_width=32,
    tower_layers=4,
    tower_heads=2,
    tower_inner=64,
    side=28,
)

REAL = (
    Model(
        name="Qwen2.5-VL 2B",
        save=qwen2_5_vl,
        size=Size(
            vocabulary=151_936,
            width=1536,
            layers=28,
            heads=12,
            key_value_heads=2,
            inner=8960,
            **_OF_QWEN,
        ),
    ),
    Model(
        name="Qwen2.5-VL 7B",
        save=qwen2_5_vl,
        size=Size(
            vocabulary=152_064,
            width=3584,
            layers=28,
            heads=28,
            key_value_heads=4,
            inner=18_944,
            **_OF_QWEN,
        ),
    ),
    Model(
        name="LLaVA-1.5 2B",
        save=llava_1_5,
        size=Size(
            vocabulary=32_064,
            width=2560,
            layers=24,
            heads=20,
            key_value_heads=20,
            inner=6912,
            **_OF_LLAVA,
        ),
    ),
    Model(
        name="LLaVA-1.5 7B",
        save=llava_1_5,
        size=Size(
            vocabulary=32_064,
            width=4096,
            layers=32,
            heads=32,
            key_value_heads=32,
            inner=11_008,
            **_OF_LLAVA,
        ),
    ),
)
TINY = (
    Model(name="tiny Qwen2.5-VL", save=qwen2_5_vl, size=_TINY),
    Model(name="tiny LLaVA-1.5", save=llava_1_5, size=_TINY),
)


def _tokenizer(special: Sequence[str], size: int, *, pad: str, **names: str) -> Any:  # noqa: ANN401 - a tokenizer of transformers
    """Make a tokenizer of bytes, filled up to ``size`` tokens that no text becomes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    known += [f"word{number}" for number in range(size - len(known))]
    bytes_ = Tokenizer(models.BPE({token: n for n, token in enumerate(known)}, []))
    bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_.decoder = decoders.ByteLevel()
    bytes_.add_special_tokens(list(special))
    return PreTrainedTokenizerFast(
        tokenizer_object=bytes_, pad_token=pad, extra_special_tokens=names
    )


def _save_weights(folder: Path, config: "PretrainedConfig") -> None:
    import torch
    from transformers import AutoModelForImageTextToText

    with torch.device("cuda" if torch.cuda.is_available() else "cpu"):
        model = AutoModelForImageTextToText.from_config(config, dtype=torch.bfloat16)
    model.generation_config.eos_token_id = None
    model.save_pretrained(folder)
