"""A checkpoint of another kind is refused in one sentence that says what it is, and what to do."""

from typing import Any

import pytest

from bench_resources.checkpoints.model_kinds import other_kind

_BLIND = "text_only = true"
_ENCODER = "[suites.journeybench.encoders]"


def config(model_type: str, architecture: str, **more: Any) -> dict[str, Any]:
    return {"model_type": model_type, "architectures": [architecture], **more}


@pytest.mark.parametrize(
    ("written", "says"),
    [
        pytest.param(config("llama", "LlamaForCausalLM"), _BLIND, id="a language model"),
        pytest.param(config("gemma3_text", "Gemma3ForCausalLM"), _BLIND, id="a half of a VLM"),
        pytest.param(config("clip", "CLIPModel"), _ENCODER, id="an encoder of both"),
        pytest.param(config("t5", "T5ForConditionalGeneration"), "text to text", id="T5"),
        pytest.param(
            config("whisper", "WhisperForConditionalGeneration"), "speech recognition", id="Whisper"
        ),
        pytest.param(
            config("qwen2_audio", "Qwen2AudioForConditionalGeneration", audio_config={}),
            "responds to audio and takes no images",
            id="it chats about sounds",
        ),
        pytest.param(
            config("videomae", "VideoMAEForVideoClassification"),
            "video classification",
            id="classes of videos",
        ),
        pytest.param(
            config("llama", "LlamaForSequenceClassification"),
            "sequence classification",
            id="a reward model",
        ),
        pytest.param(config("bark", "BarkModel"), "speech synthesis", id="it speaks"),
        pytest.param(config("sam", "SamModel"), "mask generation", id="it cuts out"),
        pytest.param(config("bert", "BertModel"), "text embeddings", id="a text encoder"),
        pytest.param(
            config("newvlm9", "NewVLM9"), "does not support model_type newvlm9", id="newer"
        ),
        pytest.param({"architecture": "resnet50"}, "no model_type", id="timm"),
        pytest.param(
            config("llava", "LlavaForConditionalGeneration", quantization={"bits": 4}),
            "mlx_vlm.server",
            id="weights of MLX",
        ),
    ],
)
def test_a_model_of_another_kind_is_refused_by_name(written: dict[str, Any], says: str) -> None:
    assert says in other_kind(written, text_only=False)


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(config("llava", "LlavaForConditionalGeneration"), id="images and texts"),
        pytest.param(config("git", "GitForCausalLM"), id="listed among language models, too"),
        pytest.param(
            config("qwen2_5_omni", "Qwen2_5OmniForConditionalGeneration", thinker_config={}),
            id="images, texts and sounds",
        ),
        pytest.param(
            config("phi4_multimodal", "Phi4MultimodalForCausalLM", vision_config={}),
            id="a language model that sees",
        ),
        pytest.param(config("llava", "OurLlava"), id="a class of one's own"),
        pytest.param(
            config("internvl_chat", "InternVLChatModel", auto_map={"AutoModel": "m.M"}),
            id="code of its own",
        ),
        pytest.param({"model_type": "llava"}, id="no class"),
    ],
)
def test_a_model_that_may_see_is_loaded(written: dict[str, Any]) -> None:
    assert other_kind(written, text_only=False) == ""


def test_a_language_model_without_images_is_loaded() -> None:
    assert other_kind(config("llama", "LlamaForCausalLM"), text_only=True) == ""
    reward = config("llama", "LlamaForSequenceClassification")
    assert "sequence classification" in other_kind(reward, text_only=True)
