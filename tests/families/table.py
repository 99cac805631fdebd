"""The families that the local engine is tried with; the README's table is read from here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

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

Need: TypeAlias = Literal["none", "several", "system", "system and image", "turns"]

_ONE_IMAGE: Mapping[Need, str] = {"several": "its processor takes one image a request"}
_A_IMAGE: Mapping[Need, str] = {"none": "it is never asked without an image"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of checkpoints."""

    name: str
    build: Callable[[Path], None]
    releases: str
    needs: Literal["", "vision"] = ""  # the extra without which it does not load
    template: Literal["own", "plain"] = "own"  # plain: the release has no chat template
    cannot: Mapping[Need, str] = field(default_factory=dict)  # what it is refused, and why
    short: bool = False  # asked in `make check` as well


FAMILIES = (
    Family(name="Qwen2-VL", build=qwen.qwen2_vl, releases="Qwen/Qwen2-VL-*-Instruct"),
    Family(
        name="Qwen2.5-VL",
        build=qwen.qwen2_5_vl,
        releases="Qwen/Qwen2.5-VL-*-Instruct",
    ),
    Family(name="Qwen3-VL", build=qwen.qwen3_vl, releases="Qwen/Qwen3-VL-*-Instruct"),
    Family(name="Qwen3-VL-MoE", build=qwen.qwen3_vl_moe, releases="Qwen/Qwen3-VL-30B-A3B-*"),
    Family(name="Qwen3.5", build=qwen.qwen3_5, releases="Qwen/Qwen3.5-*"),
    Family(name="LLaVA-1.5", build=llava.llava_1_5, releases="llava-hf/llava-1.5-*-hf", short=True),
    Family(
        name="LLaVA without BOS",
        build=llava.llava_without_bos,
        releases="checkpoints of one's own",
    ),
    Family(name="VipLLaVA", build=llava.vip_llava, releases="llava-hf/vip-llava-*-hf"),
    Family(name="LLaVA-NeXT", build=llava.llava_next, releases="llava-hf/llava-v1.6-*-hf"),
    Family(
        name="LLaVA-OneVision",
        build=llava.llava_onevision,
        releases="llava-hf/llava-onevision-qwen2-*-ov-hf",
    ),
    Family(name="InternVL", build=tiles.internvl3, releases="OpenGVLab/InternVL3*-hf"),
    Family(name="Ovis2", build=tiles.ovis2, releases="thisisiron/Ovis2-*-hf"),
    Family(name="Aya Vision", build=tiles.aya_vision, releases="CohereLabs/aya-vision-*"),
    Family(
        name="Cohere2 Vision",
        build=tiles.cohere2_vision,
        releases="CohereLabs/command-a-vision-*",
        needs="vision",
    ),
    Family(name="Idefics2", build=idefics.idefics2, releases="HuggingFaceM4/idefics2-8b*"),
    Family(
        name="Idefics3",
        build=idefics.idefics3,
        releases="HuggingFaceM4/Idefics3-8B-Llama3",
    ),
    Family(name="SmolVLM", build=idefics.smolvlm, releases="HuggingFaceTB/SmolVLM*", short=True),
    Family(name="Gemma 3", build=gemma.gemma3, releases="google/gemma-3-*-it"),
    Family(
        name="PaliGemma",
        build=gemma.paligemma,
        releases="google/paligemma-*, google/paligemma2-*",
        template="plain",
        cannot=_A_IMAGE,
    ),
    Family(
        name="Pixtral",
        build=mistral.pixtral,
        releases="mistral-community/pixtral-12b",
        needs="vision",
    ),
    Family(
        name="Mistral 3",
        build=mistral.mistral3,
        releases="mistralai/Mistral-Small-3.1-*",
        needs="vision",
    ),
    Family(
        name="Llama 3.2 Vision",
        build=llama.mllama,
        releases="meta-llama/Llama-3.2-*-Vision-Instruct",
        cannot={"system and image": "its template refuses a system prompt beside an image"},
    ),
    Family(name="Llama 4", build=llama.llama4, releases="meta-llama/Llama-4-*", needs="vision"),
    Family(
        name="DeepSeek-VL",
        build=deepseek.deepseek_vl,
        releases="deepseek-community/deepseek-vl-*",
    ),
    Family(name="Janus", build=deepseek.janus, releases="deepseek-community/Janus-Pro-*"),
    Family(name="GLM-4V", build=glm.glm4v, releases="zai-org/GLM-4.1V-9B-*"),
    Family(name="GLM-4.5V", build=glm.glm4v_moe, releases="zai-org/GLM-4.5V"),
    Family(name="Aria", build=others.aria, releases="rhymes-ai/Aria"),
    Family(name="VideoLLaMA 3", build=others.video_llama_3, releases="lkhl/VideoLLaMA3-*-Image-HF"),
    Family(name="LFM2-VL", build=others.lfm2_vl, releases="LiquidAI/LFM2-VL-*", needs="vision"),
    Family(
        name="Kimi-K2.5", build=others.kimi_k25, releases="moonshotai/Kimi-K2.5", needs="vision"
    ),
    Family(
        name="Phi-4-multimodal",
        build=others.phi4_multimodal,
        releases="microsoft/Phi-4-multimodal-instruct",
        needs="vision",
    ),
    Family(
        name="BLIP-2",
        build=captioners.blip_2,
        releases="Salesforce/blip2-opt-*",
        template="plain",
        cannot={**_ONE_IMAGE, **_A_IMAGE},
    ),
    Family(
        name="InstructBLIP",
        build=captioners.instruct_blip,
        releases="Salesforce/instructblip-*",
        template="plain",
        cannot={**_ONE_IMAGE, **_A_IMAGE},
    ),
    Family(
        name="Florence-2",
        build=captioners.florence2,
        releases="florence-community/Florence-2-*",
        template="plain",
        cannot=_ONE_IMAGE,
    ),
)
