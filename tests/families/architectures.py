"""What architectures need beside their own classes, to be built tiny.

The rules of ``generic`` make a checkpoint of every architecture of transformers; a row here is
where a number follows from another one, or where the releases say what no class defaults to.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tests.families import (
    captioners,
    deepseek,
    gemma,
    glm,
    idefics,
    llama,
    llava,
    mistral,
    others,
    qwen,
    tiles,
)

Settings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What an architecture needs that its own classes do not say."""

    config: Settings | Callable[[Any], Settings] = field(default_factory=dict)  # or of a tokenizer
    image: Settings = field(default_factory=dict)  # of preprocessor_config.json
    processor: Settings = field(default_factory=dict)  # of processor_config.json
    kind: str = ""  # processor class, where transformers maps none
    image_kind: str = ""  # image processor class, likewise
    names: Mapping[str, str] = field(default_factory=dict)  # tokenizer attribute -> token
    special: tuple[str, ...] = ()  # further control tokens
    place: str = ""  # of an image in the chat template; default: the processor's image token
    template: Literal["own", "plain"] = "own"  # plain: releases have none


_SAM = {"hidden_size": 32, "window_size": 2, "global_attn_indexes": [1], "num_pos_feats": 16}
_ROPE = {"rope_type": "default", "rope_theta": 1e4}
_MIXED_AXES = {"text_config": {"rope_parameters": {**_ROPE, "mrope_section": [2, 3, 3]}}}
_THINKER = {**_MIXED_AXES, "audio_config": {"output_dim": 32, "n_window": 4}}
_FULL = ["full_attention"] * 2
_FULL_ROPE = {"full_attention": _ROPE}
_HEARING = {"feature_extractor_type": "WhisperFeatureExtractor"}
_PIXTRAL = {"size": {"longest_edge": 448}, "patch_size": 14}
_GEMMA4_TOWER = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "patch_size": 14,
}
_PE = {  # of timm
    "architecture": "vit_pe_lang_large_patch14_448",
    "hidden_size": 32,
    "model_args": {
        "embed_dim": 32,
        "depth": 2,
        "num_heads": 2,
        "img_size": [56, 56],
        "global_pool": "",
        "use_post_transformer_norm": False,
        "init_values": 0.1,
        "ref_feat_shape": [4, 4],
    },
}
_CODES = 16  # that an image's tokens are drawn from
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


def _vocabulary(words: Any) -> Settings:
    return {"vocabulary_map": words.get_added_vocab()}


ROWS: dict[str, Row] = {
    "blip": Row(template="plain"),
    "blip-2": Row(template="plain"),
    "chameleon": Row(
        config=lambda words: {**_vocabulary(words), "vq_config": _CHAMELEON_VQ},
        special=_CHAMELEON_CODES,
        image={"size": {"shortest_edge": 16}, "crop_size": {"height": 16, "width": 16}},
        processor={"image_seq_length": 64},
    ),
    "cohere_compass": Row(
        config={"text_config": {"rope_parameters": _FULL_ROPE, "layer_types": _FULL}},
        names={
            "image_token": "<|IMAGE_PAD|>",
            "video_token": "<|VIDEO_PAD|>",
            "vision_start_token": "<|VISION_START|>",
            "vision_end_token": "<|VISION_END|>",
        },
    ),
    "deepseek_ocr2": Row(
        config={
            "text_config": {"mlp_layer_types": ["dense", "sparse"]},
            "vision_config": {
                "sam_config": {**_SAM, "downsample_channels": [32, 32]},
                "encoder_config": {"hidden_size": 32},
            },
        },
    ),
    "deepseek_vl_hybrid": Row(
        config={"high_res_vision_config": {**_SAM, "image_size": 112}},
        image={"high_res_size": {"height": 112, "width": 112}},
        processor={"num_image_tokens": 16},
    ),
    "emu3": Row(
        config=lambda words: {**_vocabulary(words), "vq_config": _EMU_VQ},
        names={"eof_token": "<|extra_201|>", "image_token": "<image>"},
        special=("<|extra_200|>", *_EMU_CODES),
        image={"min_pixels": 64 * 64, "max_pixels": 96 * 96},
    ),
    "ernie4_5_vl_moe": Row(
        config={"text_config": {"rope_parameters": {**_ROPE, "mrope_section": [3, 3, 2]}}}
    ),
    "florence2": Row(template="plain"),
    "fast_vlm": Row(
        kind="LlavaProcessor",
        image_kind="CLIPImageProcessor",
        config={"vision_config": {"architecture": "fastvit_t8", "hidden_size": 768}},
        image={"size": {"shortest_edge": 64}, "crop_size": {"height": 64, "width": 64}},
        processor={
            "patch_size": 32,
            "num_additional_image_tokens": 0,
            "vision_feature_select_strategy": "full",
        },
    ),
    "fuyu": Row(special=("|SPEAKER|", "|NEWLINE|"), template="plain"),
    "gemma4": Row(config={"vision_config": _GEMMA4_TOWER}, image=_HEARING),
    "gemma4_unified": Row(
        config={"vision_config": {"patch_size": 14, "mm_embed_dim": 32, "output_proj_dims": 32}},
        image=_HEARING,
    ),
    "git": Row(template="plain"),
    "glm46v": Row(config=_MIXED_AXES),
    "glm_ocr": Row(kind="Glm46VProcessor", image_kind="Glm46VImageProcessor", config=_MIXED_AXES),
    "glmga": Row(kind="Glm46VProcessor", image_kind="Glm46VImageProcessor", config=_MIXED_AXES),
    "glm5_next": Row(
        config={
            "text_config": {
                "qk_rope_head_dim": 0,
                "qk_nope_head_dim": 16,
                "qk_head_dim": 16,
                "head_dim": 0,
            }
        }
    ),
    "granite4_vision": Row(
        config={
            "vision_config": {"hidden_size": 64, "intermediate_size": 64},
            "deepstack_layer_map": [[0, 0], [1, 1]],
            "spatial_target_layers": [0, 1],
            "downsample_rate": "1/2",
        },
        processor={"downsample_rate": "1/2"},
    ),
    "granite_docling": Row(
        config={"vision_config": {"scale_factor": 2, "image_size": 56}},
        processor={"image_seq_len": 4},
    ),
    "hunyuan_vl": Row(
        config={
            "text_config": {
                "head_dim": 16,
                "rope_parameters": {**_ROPE, "mrope_section": [2, 3, 3]},
            }
        },
        place="<|image_start_token|><|image_token|><|image_end_token|>",
    ),
    "inkling2": Row(image={"size": {"height": 28, "width": 28}, "patch_size": 28}),
    "instructblip": Row(template="plain"),
    "kosmos-2": Row(kind="Kosmos2Processor", image_kind="CLIPImageProcessor", template="plain"),
    "kosmos-2.5": Row(
        kind="Kosmos2_5Processor", image_kind="Kosmos2_5ImageProcessor", template="plain"
    ),
    "lighton_ocr": Row(image=_PIXTRAL),
    "mistral_large4": Row(image=_PIXTRAL, processor={"spatial_merge_size": 2}),
    "molmo2": Row(
        config=lambda words: {
            "image_patch_id": words.convert_tokens_to_ids("<im_patch>"),
            "adapter_config": {"vision_feature_layer": [1, 0]},
            "text_config": {"rope_scaling_layers": [0, 1]},
            "vision_config": {"num_position_embeddings": 16},
        },
        image={"overlap_margins": [1, 1]},
    ),
    "muse_glimmer": Row(
        config={
            "vision_config": {"layer_types": ["window_attention", "full_attention"]},
            "out_hidden_size": 128,
        }
    ),
    "nemotron_h_omni": Row(
        config={
            "vision_config": {"video_temporal_patch_size": 2},
            "text_config": {
                "layers_block_type": ["linear_attention", "full_attention"],
                "n_groups": 1,
            },
        },
        image=_HEARING,
    ),
    "paddleocr_vl": Row(config=_MIXED_AXES),
    "paligemma": Row(template="plain"),
    "perception_lm": Row(
        config={"vision_config": _PE, "projector_pooling_ratio": 1},
        image={"tile_size": 56, "max_num_tiles": 4},
        processor={"patch_size": 14, "pooling_ratio": 1},
    ),
    "pix2struct": Row(template="plain"),
    "pp_chart2table": Row(template="plain"),
    "pp_formulanet": Row(template="plain"),
    "qianfan_ocr": Row(
        place="<image>", processor={"image_seq_length": 4}, image={"max_patches": 4}
    ),
    "qwen2_5_omni": Row(
        config={"enable_audio_output": False, "thinker_config": _THINKER}, image=_HEARING
    ),
    "qwen2_5_omni_thinker": Row(
        config=_THINKER,
        kind="Qwen2_5OmniProcessor",
        image_kind="Qwen2VLImageProcessor",
        image=_HEARING,
    ),
    "qwen3_omni_moe": Row(
        config={"enable_audio_output": False, "thinker_config": _THINKER}, image=_HEARING
    ),
    "qwen3_omni_moe_thinker": Row(
        config=_THINKER,
        kind="Qwen3OmniMoeProcessor",
        image_kind="Qwen2VLImageProcessor",
        image=_HEARING,
    ),
    "qwen4_exp": Row(
        config={
            "text_config": {
                "indexer_n_heads": 2,
                "indexer_kv_heads": 1,
                "indexer_head_dim": 16,
                "indexer_budget": 64,
                "indexer_compress_ratio": 4,
                "ngram_vocab_size_base": 100,
            }
        }
    ),
    "t5gemma2": Row(
        config={"encoder": {"mm_tokens_per_image": 1}}, processor={"image_seq_length": 1}
    ),
    "video_llava": Row(
        image={"size": {"height": 56, "width": 56}, "crop_size": {"height": 56, "width": 56}}
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

HANDMADE: dict[str, Callable[[Path], None]] = {
    "aria": others.aria,
    "aya_vision": tiles.aya_vision,
    "blip-2": captioners.blip_2,
    "cohere2_vision": tiles.cohere2_vision,
    "deepseek_vl": deepseek.deepseek_vl,
    "florence2": captioners.florence2,
    "gemma3": gemma.gemma3,
    "glm4v": glm.glm4v,
    "glm4v_moe": glm.glm4v_moe,
    "idefics2": idefics.idefics2,
    "idefics3": idefics.idefics3,
    "instructblip": captioners.instruct_blip,
    "internvl": tiles.internvl3,
    "janus": deepseek.janus,
    "kimi_k25": others.kimi_k25,
    "lfm2_vl": others.lfm2_vl,
    "llama4": llama.llama4,
    "llava": llava.llava_1_5,
    "llava_next": llava.llava_next,
    "llava_onevision": llava.llava_onevision,
    "mistral3": mistral.mistral3,
    "mllama": llama.mllama,
    "ovis2": tiles.ovis2,
    "paligemma": gemma.paligemma,
    "phi4_multimodal": others.phi4_multimodal,
    "qwen2_5_vl": qwen.qwen2_5_vl,
    "qwen2_vl": qwen.qwen2_vl,
    "qwen3_5": qwen.qwen3_5,
    "qwen3_vl": qwen.qwen3_vl,
    "qwen3_vl_moe": qwen.qwen3_vl_moe,
    "smolvlm": idefics.smolvlm,
    "video_llama_3": others.video_llama_3,
    "vipllava": llava.vip_llava,
}
"""Architectures whose checkpoints are built with the files and templates of the real releases."""
