"""Options in vLLM, on a stand-in whose token t has the log-probability -t/8."""

from pathlib import Path
from typing import Literal

import pytest
from transformers import AutoTokenizer

from bench_assets.core.schema.chat import CONTEXT_FULL, Prompt, Request, Response
from bench_assets.core.schema.elicitation import OptionLikelihoods
from bench_assets.core.schema.errors import ModelError
from tests.resources.models.transformers.tiny_engine import BLUE, RED, responses_of
from tests.resources.models.vllm import fake_vllm
from tests.resources.models.vllm.asking import engine_of

OPTIONS = ("left", "right", "yes or no")
PROMPTS = [Prompt.of("Which?"), Prompt.of(RED, "or", BLUE, "which one?")]


def ask(
    folder: Path, method: Literal["likelihood", "constrained"], **fields: object
) -> list[Response]:
    requests = [Request(prompt=one, elicit=method, options=OPTIONS) for one in PROMPTS]
    return responses_of(engine_of(folder, **fields), requests)


def test_likelihoods_are_those_of_the_options_behind_the_prompt(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokens = [tokenizer(one, add_special_tokens=False)["input_ids"] for one in OPTIONS]
    for response in ask(folder, "likelihood"):
        assert response.error == ""
        found = OptionLikelihoods.from_json(response.text, 3)
        assert found.tokens == tuple(map(len, tokens))
        assert found.logprobs == pytest.approx([-sum(of) / 8 for of in tokens])


def test_nothing_is_generated_but_one_token(folder: Path, vllm: list[fake_vllm.LLM]) -> None:
    ask(folder, "likelihood")
    (llm,) = vllm
    drawn = [one for batch in llm.batches for one in batch]
    assert len(drawn) == len(PROMPTS) * len(OPTIONS)
    assert {(one.max_tokens, one.prompt_logprobs) for one in drawn} == {(1, 1)}


def test_likelihoods_need_room_for_the_options_and_not_for_a_response(folder: Path) -> None:
    fits, full = (
        ask(folder, "likelihood", max_tokens=500, max_model_len=limit) for limit in (200, 20)
    )
    assert [one.error for one in fits] == ["", ""]
    assert [one.refused for one in full] == [CONTEXT_FULL] * 2


def test_one_of_the_options_is_generated(folder: Path) -> None:
    assert [one.text for one in ask(folder, "constrained")] == ["yes or no"] * 2


def test_prompts_that_vllm_encodes_itself_have_no_likelihoods(folder: Path) -> None:
    with pytest.raises(ModelError, match="likelihoods need prompts"):
        ask(folder, "likelihood", prompts="vllm")
