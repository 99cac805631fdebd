"""Settings that an architecture needs beside the defaults of its classes, to be built tiny.

The rules of ``generic`` build a checkpoint of every architecture of transformers; a row here is
for a number that follows from another one, or for what releases set and no class defaults to.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

Settings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Settings of one architecture, on top of the defaults of its classes."""

    config: Settings | Callable[[Any], Settings] = field(default_factory=dict)  # or of a tokenizer
    image: Settings = field(default_factory=dict)  # of preprocessor_config.json
    processor: Settings = field(default_factory=dict)  # of processor_config.json
    processor_class: str = ""  # where transformers maps none
    image_processor_class: str = ""  # likewise
    names: Mapping[str, str] = field(default_factory=dict)  # tokenizer attribute -> token
    special: tuple[str, ...] = ()  # further control tokens
    image_place: str = ""  # text in the chat template; default: the processor's image token
    template: Literal["own", "plain"] = "own"  # "plain": releases have none


_CODES = 16  # in the codebook of an image's tokens
_EMU_CODES = tuple(f"<|visual token {n:06}|>" for n in range(_CODES))
_EMU_VQ = {
    "codebook_size": _CODES,
    "base_channels": 32,
    "embed_dim": 4,
    "hidden_size": 32,
    "channel_multiplier": [1, 1, 1, 1],
    "num_res_blocks": 1,
}
_CHAMELEON_CODES = tuple(f"IMGIMG{'AB'[n // 10]}{'ABCDEFGHIJ'[n % 10]}Z" for n in range(_CODES))
_CHAMELEON_VQ = {
    "num_embeddings": _CODES,
    "base_channels": 32,
    "embed_dim": 32,
    "latent_channels": 32,
    "channel_multiplier": [1, 1],
    "num_res_blocks": 1,
    "resolution": 64,
}


def _vocabulary(tokenizer: Any) -> Settings:
    return {"vocabulary_map": tokenizer.get_added_vocab()}


def _read_rows() -> dict[str, Row]:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return {
        name: Row(**row | {"special": tuple(row.get("special", ()))})
        for name, row in tomllib.loads(text).items()
    }


ROWS: dict[str, Row] = _read_rows() | {
    "chameleon": Row(
        config=lambda tokenizer: {**_vocabulary(tokenizer), "vq_config": _CHAMELEON_VQ},
        special=_CHAMELEON_CODES,
        image={"size": {"shortest_edge": 16}, "crop_size": {"height": 16, "width": 16}},
        processor={"image_seq_length": 64},
    ),
    "emu3": Row(
        config=lambda tokenizer: {**_vocabulary(tokenizer), "vq_config": _EMU_VQ},
        names={"eof_token": "<|extra_201|>", "image_token": "<image>"},
        special=("<|extra_200|>", *_EMU_CODES),
        image={"min_pixels": 64 * 64, "max_pixels": 96 * 96},
    ),
    "molmo2": Row(
        config=lambda tokenizer: {
            "image_patch_id": tokenizer.convert_tokens_to_ids("<im_patch>"),
            "adapter_config": {"vision_feature_layer": [1, 0]},
            "text_config": {"rope_scaling_layers": [0, 1]},
            "vision_config": {"num_position_embeddings": 16},
        },
        image={"overlap_margins": [1, 1]},
    ),
}

UNFIT = frozenset(
    {
        *("deepseek_ocr2", "diffusion_gemma", "dots3_note", "gemma3n", "inkling_mm_model"),
        "kosmos-2.5",
        *("minimax_m3_vl", "muse_spark", "shieldgemma2", "step3p7", "unlimited_ocr"),
    }
)
"""Architectures whose sizes no rule or row makes fit together: releases of them may well run."""
