"""What vLLM refuses, fails at or does not say: whose error it is, and that others are answered."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from tests.resources.models.transformers.tiny_engine import BLUE, MIXED, responses_of, said
from tests.resources.models.vllm.asking import ask, engine_of


def test_a_card_that_vllm_cannot_follow_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    beams = tmp_path / "beams"
    shutil.copytree(folder, beams)
    (beams / "generation_config.json").write_text('{"num_beams": 4, "no_repeat_ngram_size": 3}')
    engine = engine_of(beams, decoding="card")
    with pytest.raises(ModelError, match="does not support no_repeat_ngram_size, num_beams"):
        _ = engine.decoding
    with pytest.raises(ModelError, match="does not support"):
        responses_of(engine, [Request(prompt=MIXED[0])])


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        pytest.param(
            Prompt.of("a" * 500),
            "the prompt has {n} tokens, which with max_tokens = 64 exceed the context of 500 "
            "tokens",
            id="too long",
        ),
        pytest.param(Prompt.of("abort"), "vLLM ended the response (abort)", id="broken off"),
    ],
)
def test_a_request_that_fails_costs_only_itself(folder: Path, bad: Prompt, error: str) -> None:
    good = [Prompt.of(BLUE, "?"), Prompt.of("a"), Prompt.of("b")]
    responses = ask(folder, good[0], bad, *good[1:], max_model_len=500)
    (n,) = re.findall(r"has (\d+) tokens", responses[1].error) or [""]
    assert [response.error for response in responses] == ["", error.format(n=n), "", ""]
    assert said([responses[0], *responses[2:]]) == said(ask(folder, *good))


def test_what_vllm_refuses_is_an_error_of_the_request(folder: Path) -> None:
    good, bad = ask(folder, MIXED[0], Prompt.of("a" * 500), prompts="vllm", max_model_len=400)
    assert not good.error
    assert re.fullmatch(r"The prompt \(length \d+\) is too long", bad.error)


def test_when_vllm_dies_nothing_more_can_be_asked(folder: Path) -> None:
    with pytest.raises(ModelError, match="vLLM failed: EngineCore encountered an issue"):
        ask(folder, MIXED[0], Prompt.of("dies"))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        pytest.param({"gpu_memory_utilization": 1.0}, "Engine core init", id="no memory"),
        pytest.param({"extra": {"max_seqs": 4}}, "unexpected keyword argument 'max_seqs'", id="?"),
    ],
)
def test_a_checkpoint_that_does_not_load(
    folder: Path, fields: dict[str, object], says: str
) -> None:
    with pytest.raises(ModelError, match=f"vLLM does not load it: .*{says}"):
        ask(folder, MIXED[0], **fields)


def test_without_vllm_the_error_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModelError, match=r"needs pip install '\.\[vllm\]'"):
        ask(folder, MIXED[0])
