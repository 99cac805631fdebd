"""A checkpoint of another kind is refused in one sentence that says what it is, and what to do."""

from typing import Any

import pytest

from bench_resources.checkpoints.model_kinds import other_kind
from tests.cases import read_cases


def config(model_type: str, architecture: str, **more: Any) -> dict[str, Any]:
    return {"model_type": model_type, "architectures": [architecture], **more}


@pytest.mark.parametrize(("written", "says"), read_cases(__file__, "other_kinds.jsonl"))
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
