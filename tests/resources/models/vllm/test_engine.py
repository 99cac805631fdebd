"""The vLLM engine, on a stand-in for vLLM: what it is told, and what becomes of its responses."""

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from tests.resources.models.transformers.tiny_engine import MIXED, responses_of, said
from tests.resources.models.vllm import fake_vllm
from tests.resources.models.vllm.asking import ask, engine_of


def test_every_prompt_gets_its_own_response(folder: Path) -> None:
    alone = [response for prompt in MIXED for response in ask(folder, prompt)]
    assert said(ask(folder, *MIXED)) == said(ask(folder, *MIXED, batch_size=3)) == said(alone)
    assert len({response.text for response in alone}) == len(MIXED)
    first = alone[0]
    assert first.finish_reason == "stop"
    assert first.text.startswith("<think>hm</think>")
    assert not first.text.endswith("<|end|>")
    assert first.completion_tokens is not None
    assert first.seconds is not None
    assert [response.image_tokens for response in alone[1:6]] == [(), (4,), (4,), (4,), (4, 4)]


def test_vllm_is_told_what_is_configured(folder: Path, vllm: list[fake_vllm.LLM]) -> None:
    more = {"extra": {"max_num_seqs": 4}, "processor_kwargs": {"do_resize": True}}
    ask(folder, MIXED[0], max_model_len=199, images_per_prompt=2, seed=7, **more)
    (llm,) = vllm
    assert llm.arguments == {
        "model": str(folder),
        "revision": None,
        "dtype": "bfloat16",
        "seed": 7,
        "tensor_parallel_size": 1,
        "enable_prefix_caching": True,
        "generation_config": "vllm",
        "limit_mm_per_prompt": {"image": 2},
        "max_model_len": 199,
        "max_num_seqs": 4,
        "mm_processor_kwargs": {"do_resize": True},
    }
    ((params,),) = llm.batches
    assert (params.temperature, params.top_p, params.max_tokens) == (0.0, 1.0, 64)
    assert (params.top_k, params.min_p, params.repetition_penalty) == (0, 0.0, 1.0)


def test_a_checkpoints_own_way_of_drawing_counts_only_by_name(
    folder: Path, tmp_path: Path, vllm: list[fake_vllm.LLM]
) -> None:
    careful = tmp_path / "careful"
    shutil.copytree(folder, careful)
    card = {"do_sample": True, "temperature": 0.5, "top_p": 0.9, "top_k": 20, "min_p": 0.1}
    written = json.dumps(card | {"repetition_penalty": 1.05})
    (careful / "generation_config.json").write_text(written)
    ask(careful, MIXED[0])
    ask(careful, MIXED[0], decoding="card")
    as_asked, as_recommended = (llm.batches[0][0] for llm in vllm)
    assert (as_asked.temperature, as_asked.repetition_penalty, as_asked.top_k) == (0.0, 1.0, 0)
    assert (as_recommended.temperature, as_recommended.top_p) == (0.5, 0.9)
    assert (as_recommended.top_k, as_recommended.min_p) == (20, 0.1)
    assert as_recommended.repetition_penalty == 1.05
    assert "repetition_penalty=1.05" in str(engine_of(careful, decoding="card").decoding)


def test_an_adapter_answers_every_request(
    folder: Path, tmp_path: Path, vllm: list[fake_vllm.LLM]
) -> None:
    import torch
    from safetensors.torch import save_file

    adapter = tmp_path / "adapter"
    adapter.mkdir()
    config = {"peft_type": "LORA", "r": 12, "base_model_name_or_path": str(folder)}
    (adapter / "adapter_config.json").write_text(json.dumps(config))
    save_file({"q_proj.lora_A.weight": torch.zeros(1)}, adapter / "adapter_model.safetensors")
    ask(adapter, *MIXED[:3], batch_size=1)
    (llm,) = vllm
    assert (llm.arguments["model"], llm.arguments["max_lora_rank"]) == (str(folder), 16)
    assert [lora and lora.lora_path for lora in llm.loras] == [str(adapter)] * 3
    assert engine_of(adapter).identity != engine_of(folder).identity


def test_a_processor_that_lies_elsewhere_is_found(
    folder: Path, tmp_path: Path, vllm: list[fake_vllm.LLM]
) -> None:
    weights, processor = tmp_path / "weights", tmp_path / "processor"
    is_weights = {"config.json", "model.safetensors", "generation_config.json"}
    for part in (weights, processor):
        part.mkdir()
    for file in folder.iterdir():
        shutil.copy(file, weights if file.name in is_weights else processor)
    expected = said(ask(folder, *MIXED))
    assert said(ask(weights, *MIXED, processor=str(processor))) == expected
    assert vllm[1].files == {file.name for file in folder.iterdir()}


def test_a_thought_that_the_chat_template_opened_gets_its_tag_back(
    folder: Path, tmp_path: Path
) -> None:
    template = tmp_path / "thinks.jinja"
    opens = "{% for part in messages[-1]['content'] %}{{ part['text'] }}{% endfor %}{{ start }}"
    template.write_text(opens)
    for start in ("<think>", ""):
        fields = {"chat_template": str(template), "chat_template_kwargs": {"start": start}}
        (response,) = ask(folder, Prompt.of("?"), **fields)
        assert response.text.startswith(start + "<think>hm</think>")


def test_special_tokens_go_but_those_around_a_thought(folder: Path, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    thinks = tmp_path / "thinks"
    shutil.copytree(folder, thinks)
    tokenizer = AutoTokenizer.from_pretrained(thinks)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<think>", "</think>"]})
    tokenizer.save_pretrained(thinks)
    (response,) = ask(thinks, MIXED[0])
    assert response.said.thought == "hm"
    assert len(response.said.answer) == 8


def test_vllm_can_write_the_prompts_itself(
    folder: Path, tmp_path: Path, vllm: list[fake_vllm.LLM]
) -> None:
    template = tmp_path / "own.jinja"
    template.write_text("mine")
    fields = {"chat_template": str(template), "chat_template_kwargs": {"a": 1}}
    responses = ask(folder, *MIXED, prompts="vllm", **fields)
    assert len(set(said(responses))) == len(MIXED)
    assert responses[2].text.startswith("<think><think>")  # the stand-in's template opens it
    (llm,) = vllm
    assert llm.chats[0] == {"template": "mine", "variables": {"a": 1}}
    assert llm.arguments["interleave_mm_strings"]
    assert not llm.prompts


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        pytest.param({"max_image_tokens": 9}, "max_image_tokens", id="tokens of an image"),
        pytest.param({"chat_template": "plain"}, 'chat_template = "plain"', id="no template"),
    ],
)
def test_what_only_a_processor_can_do_is_refused_where_vllm_writes_prompts(
    folder: Path, fields: dict[str, object], what: str
) -> None:
    with pytest.raises(ModelError, match=f'{what} needs prompts = "checkpoint"'):
        ask(folder, MIXED[0], prompts="vllm", **fields)


def test_without_a_processor_the_error_says_who_else_can_write_prompts(
    folder: Path, tmp_path: Path
) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(folder, bare, ignore=shutil.ignore_patterns("*processor*"))
    with pytest.raises(ModelError, match=r'its processor does not load.*prompts = "vllm"'):
        ask(bare, MIXED[0])
    assert said(ask(bare, MIXED[0], prompts="vllm"))


def test_the_identity_is_known_without_vllm_and_says_what_changes_responses(
    folder: Path, vllm: list[fake_vllm.LLM]
) -> None:
    plain = engine_of(folder).identity
    content, dtype, name = plain.split(",")
    assert content.startswith("sha256:")
    assert (dtype, name) == ("bfloat16", "vllm")
    changed = {
        engine_of(folder, dtype="float16").identity,
        engine_of(folder, max_image_pixels=99).identity,
        engine_of(folder, max_model_len=99).identity,
        engine_of(folder, tensor_parallel_size=2).identity,
        engine_of(folder, text_only=True).identity,
        engine_of(folder, extra={"quantization": "fp8"}).identity,
        engine_of(folder, prompts="vllm").identity,
        engine_of(folder, max_image_tokens=9).identity,
        engine_of(folder, chat_template="plain").identity,
    }
    assert len(changed | {plain}) == 10
    same = engine_of(folder, gpu_memory_utilization=0.5, batch_size=3, images_per_prompt=1)
    assert same.identity == plain
    assert not vllm


def test_closing_gives_the_memory_back_until_the_next_request(
    folder: Path, vllm: list[fake_vllm.LLM]
) -> None:
    with closing(engine_of(folder)) as engine:
        for _ in range(2):
            responses_of(engine, [Request(prompt=MIXED[0])])
        assert len(vllm) == 1
        engine.close()
        responses_of(engine, [Request(prompt=MIXED[0])])
        assert len(vllm) == 2
